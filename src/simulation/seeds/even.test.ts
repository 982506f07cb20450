import process from "node:process";
import { expect, it } from "vitest";
import { renderTally, runSeeds, seedsOfShare } from "./run-seeds.ts";

it("holds every property under every seed of a commit, or that there is time for in a long run, even ones", {
  timeout: 90 * 60_000,
}, async () => {
  const share = seedsOfShare(0, 2, process.env["ARGOSY_LONG"] === "1");
  const tally = await runSeeds(share);
  process.stdout.write(`${renderTally(share, tally)}\n`);
  expect(tally.failed.map(({ scenario, seed, violations }) => ({ scenario, seed, violations }))).toEqual([]);
});
