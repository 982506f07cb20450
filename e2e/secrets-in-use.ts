import { inject } from "vitest";
import { callHarness } from "./harness-client.ts";

/** Says that a test made a secret, which from then on may be read nowhere; returns it. */
export async function keepSecret(what: string, value: string): Promise<string> {
  await callHarness(inject("harness"), "keepSecret", { what, value });
  return value;
}
