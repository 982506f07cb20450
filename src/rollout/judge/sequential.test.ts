import { describe, expect, it } from "vitest";
import { createSeededRng } from "../../runtime/rng.ts";
import { evidenceAgainst, failureLine, judgeSyncs } from "./sequential.ts";

const HORIZON = 300;
const ROLLOUTS = 10_000;

/** The share of rollouts that are stopped within so many syncs, each of which fails with this probability. Computed exactly. */
function shareStopped(chance: number, syncs: number): number {
  let alive = new Map([[0, 1]]);
  let stopped = 0;
  for (let done = 1; done <= syncs; done += 1) {
    const next = new Map<number, number>();
    for (const [failed, share] of alive)
      for (const [count, part] of [
        [failed, share * (1 - chance)],
        [failed + 1, share * chance],
      ] as const)
        if (count >= failureLine(done)) stopped += part;
        else next.set(count, (next.get(count) ?? 0) + part);
    alive = next;
  }
  return stopped;
}

/** The sync after which a rollout is stopped, where it is judged after each sync. `undefined`: it is not stopped. */
function stoppedAt(next: () => number, chance: number): number | undefined {
  let failed = 0;
  for (let done = 1; done <= HORIZON; done += 1) {
    failed += next() < chance ? 1 : 0;
    if (judgeSyncs({ done, failed }) === "fail") return done;
  }
  return undefined;
}

describe("judging a release by its syncs", () => {
  it("stops at most 1 of 100 good releases and at least 95 of 100 bad ones within 300 syncs, in 10,000 rollouts", () => {
    const rng = createSeededRng("10,000 rollouts");
    const share = (chance: number, name: string): number => {
      const { next } = rng.fork(name);
      let stopped = 0;
      for (let index = 0; index < ROLLOUTS; index += 1) if (stoppedAt(next, chance) !== undefined) stopped += 1;
      return stopped / ROLLOUTS;
    };
    expect(share(0.01, "good")).toBeLessThanOrEqual(0.01);
    expect(share(0.05, "bad")).toBeGreaterThanOrEqual(0.95);
  });

  it("keeps these promises exactly, and stops less than 1 of 100 good releases however long they run", () => {
    expect(shareStopped(0.01, HORIZON)).toBeCloseTo(0.0061, 4);
    expect(shareStopped(0.05, HORIZON)).toBeCloseTo(0.9711, 4);
    expect(shareStopped(0.01, 3_000)).toBeLessThan(0.01);
  });

  it("is open while there are too few syncs", () => {
    expect(judgeSyncs({ done: 0, failed: 0 })).toBe("open");
    expect(evidenceAgainst({ done: 0, failed: 0 })).toBe(0);
    expect(judgeSyncs({ done: 5, failed: 5 })).toBe("open");
  });

  it.each([
    [111, 0, "open"],
    [112, 0, "pass"],
    [6, 6, "fail"],
    [60, 6, "fail"],
    [100, 6, "open"],
    [300, 9, "fail"],
    [300, 4, "pass"],
    [2_000, 20, "pass"],
  ] as const)("says of %i syncs of which %i failed: %s", (done, failed, judgement) => {
    expect(judgeSyncs({ done, failed })).toBe(judgement);
  });
});
