import { readFileSync } from "node:fs";
import process from "node:process";
import { expectSecrecy } from "./expect-secrecy.ts";
import { createSecretInventory } from "./secrets.ts";

/** What a run passes on standard input. */
export interface Question {
  readonly traces: Parameters<typeof expectSecrecy>[0];
  /** What tests registered, as name and value. */
  readonly kept: readonly (readonly [what: string, value: string])[];
}

const { traces, kept } = JSON.parse(readFileSync(0, "utf8")) as Question;
const inventory = createSecretInventory();
for (const [what, value] of kept) inventory.keep(what, value);
process.stdout.write(`${await expectSecrecy(traces, inventory)}\n`);
