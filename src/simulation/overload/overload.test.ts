import process from "node:process";
import { describe, expect, it } from "vitest";
import { createSeededRng } from "../../runtime/rng.ts";
import { type OverloadOptions, runOverload, spansOf } from "./overload.ts";
import { OVERLOAD_MS } from "./overload-fleet.ts";

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
/** Thirty days take ten minutes of a core, on a machine that is shared several times as long. */
const DEADLINE_MS = 45 * 60_000;
const DAYS = process.env["ARGOSY_LONG"] === "1" ? 30 : 1;
/** How long canaries may wait, in s. */
const LONG_S = 1;
/** From a verdict to the plan that relieves its instance, in ms. */
const PLANNED_MS = 5_000;
/** The workspace that grows, on the first instance. */
const HOT = 0;
/** Demand of an instance's workspaces together, of the 20 comparisons a second that it can carry out. */
const USUAL_PER_S = 8.8;

/** Its demand is as usual for ten minutes, then grows for ten, by 13 comparisons a second. */
const growth = (elapsedMs: number): number => 13 * Math.min(1, Math.max(0, (elapsedMs - 10 * MINUTE_MS) / (10 * MINUTE_MS)));

interface Fleet {
  readonly instances: number;
  readonly workspaces: number;
  /** Comparisons a second. */
  readonly usual: (workspace: number) => number;
}
/** Five of an instance's hundred workspaces take more than half of what all take. */
const UNEQUAL: Fleet = { instances: 4, workspaces: 400, usual: (workspace) => (workspace < 20 ? 1 : (USUAL_PER_S - 5) / 95) };
/** All of an instance's twenty take the same, and none of them much. */
const EQUAL: Fleet = { instances: 2, workspaces: 40, usual: () => USUAL_PER_S / 20 };

const hotTenant = ({ usual, ...fleet }: Fleet, over: Partial<OverloadOptions> = {}) =>
  runOverload({
    ...{ ...fleet, periodMs: 15_000, lastsMs: 60 * MINUTE_MS, relieves: true },
    demandOf: (workspace, elapsedMs) => usual(workspace) + (workspace === HOT ? growth(elapsedMs) : 0),
    ...over,
  });

describe("a workspace that grows until its instance is overloaded", () => {
  it.each([
    ["large ones among many", UNEQUAL],
    ["few that are all alike", EQUAL],
  ])("is reported within a minute after its persistence, and relieved within five, beside %s", async (_beside, fleet) => {
    const story = await hotTenant(fleet);
    const [span, ...others] = spansOf(story, 0, LONG_S);
    const reported = story.verdicts.find(({ state }) => state === "overloaded");
    expect(reported?.instance).toBe(0);
    expect(span).toBeDefined();
    const [from, until] = span ?? [0];
    expect((reported?.atMs ?? 0) - from).toBeLessThanOrEqual(OVERLOAD_MS + MINUTE_MS);
    expect(until).toBeDefined();
    expect((until ?? 0) - (reported?.atMs ?? 0)).toBeLessThanOrEqual(5 * MINUTE_MS);
    expect(others).toEqual([]);
    // The verdict notifies the planner, which does not wait for its next cycle.
    const [plan] = story.plans;
    expect(plan?.instance).toBe(0);
    expect((plan?.atMs ?? 0) - (reported?.atMs ?? 0)).toBeGreaterThanOrEqual(0);
    expect((plan?.atMs ?? Number.POSITIVE_INFINITY) - (reported?.atMs ?? 0)).toBeLessThan(PLANNED_MS);
    expect(story.verdicts.filter(({ instance }) => instance === 0).at(-1)?.state).toBe("healthy");
    // Units left it after the verdict, once each, and no other instance was disturbed or overloaded.
    expect(story.moves.length).toBeGreaterThan(0);
    expect(story.moves.every(({ from: left, atMs }) => left === 0 && atMs > (reported?.atMs ?? 0))).toBe(true);
    expect(new Set(story.moves.map(({ workspace }) => workspace)).size).toBe(story.moves.length);
    expect(story.verdicts.filter(({ instance, state }) => instance !== 0 && state !== "healthy")).toEqual([]);
  });

  it("stays overloaded, with a verdict that says so, while nobody relieves it", async () => {
    const story = await hotTenant(EQUAL, { relieves: false });
    expect(spansOf(story, 0, LONG_S).at(-1)?.[1]).toBeUndefined();
    expect(story.verdicts.at(-1)).toMatchObject({ instance: 0, state: "overloaded" });
    expect(story.moves).toEqual([]);
  });
});

describe("a fleet that is busy by day", () => {
  const [instances, workspaces] = [4, 40];

  it(
    `has at most one false overload in an instance's month, and one move for a hundred workspaces a day, in ${DAYS} days`,
    async () => {
      const rng = createSeededRng("days");
      const bursts = Array.from({ length: DAYS * 6 }, () => ({
        at: rng.next() * DAYS * DAY_MS,
        workspace: Math.floor(rng.next() * workspaces),
      }));
      /** Of each instance in each minute. */
      const noise = Array.from({ length: DAYS * 24 * 60 * instances }, () => 0.85 + 0.3 * rng.next());
      const story = await runOverload({
        ...{ instances, workspaces, periodMs: 60_000, lastsMs: DAYS * DAY_MS, relieves: true },
        demandOf(workspace, elapsedMs) {
          const day = 1 + 0.6 * Math.sin((2 * Math.PI * elapsedMs) / DAY_MS);
          const isBurst = bursts.some(
            (burst) => burst.workspace === workspace && elapsedMs >= burst.at && elapsedMs < burst.at + 2 * MINUTE_MS,
          );
          const usual = (USUAL_PER_S * instances) / workspaces;
          return usual * day * (noise[Math.floor(elapsedMs / MINUTE_MS) * instances + (workspace % instances)] ?? 1) + (isBurst ? 12 : 0);
        },
      });
      const months = (instances * DAYS) / 30;
      expect(story.verdicts.filter(({ state }) => state === "overloaded").length).toBeLessThanOrEqual(Math.floor(months));
      expect(story.moves.length).toBeLessThanOrEqual((workspaces / 100) * DAYS);
      expect(story.verdicts.filter(({ state }) => ["stalled", "failed", "unknown"].includes(state))).toEqual([]);
      // There were bursts: comparisons waited.
      expect(story.waits.some(({ waitS }) => waitS > 1)).toBe(true);
    },
    DEADLINE_MS,
  );
});
