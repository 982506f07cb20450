import process from "node:process";
import { inject } from "vitest";
import type { HarnessAddress } from "./harness-client.ts";

/**
 * The world of this test file. The setup starts one for each worker, whose numbers Vitest counts from 1: files that run at the same time
 * have different ones, and those after them find what earlier ones left.
 */
export function ownHarness(): HarnessAddress {
  const worlds = inject("harnesses");
  const number = Number(process.env["VITEST_POOL_ID"]);
  const own = worlds[number - 1];
  if (own === undefined) throw new Error(`worker ${number} has no world: the setup started ${worlds.length}`);
  return own;
}
