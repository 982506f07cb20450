import { expect, it } from "vitest";
import { AT } from "../../store/testing/builders.ts";
import { aCount, anObservation } from "../testing/facts.ts";
import type { Upgraded } from "./gates.ts";
import { readGates } from "./readings.ts";

const upgraded = (over: Partial<Upgraded> = {}): Upgraded => ({
  ...{
    name: "one",
    askedMsAgo: 70_000,
    readyMsAgo: 60_000,
    baseline: aCount({ faulty: 1 }),
    observation: anObservation(AT, { resynced: 2 }),
  },
  ...over,
});
const read = (all: readonly Upgraded[], done = 200) =>
  Object.fromEntries(readGates({ upgraded: all, syncs: { done, failed: 1 } }).map(({ gate, text }) => [gate, text]));

it("gives the numbers by which each gate decides", () => {
  const slow = upgraded({ name: "two", readyMsAgo: 40_000, observation: anObservation(AT, { crashes: ["pod"], canaryLatencyMs: 400 }) });
  expect(read([upgraded(), slow])).toEqual({
    ...{ CRASHING: "1 pods", OUT_OF_MEMORY: "0 pods", NOT_READY: "30.0 s", CANARY_SLOW: "0.4 s", FROZEN: "1.0 s since a comparison" },
    ...{ PRUNED: "0 applications", CANNOT_COMPARE: "0 of 200, before 2 of 200", STRAYED: "2 of 200, before 0 of 200" },
    ...{ FEWER_COMPARISONS: "200 of 200, before 200 of 200 in time", SYNCS: "1 of 200 syncs failed: as good releases' do" },
  });
});

it("says where something was not measured", () => {
  expect(read([upgraded({ observation: undefined, readyMsAgo: undefined })], 3)).toMatchObject({
    ...{ NOT_READY: "not measured", CANARY_SLOW: "not measured", FROZEN: "not measured", SYNCS: "1 of 3 syncs failed: too few to tell" },
  });
});
