import { describe, expect, it } from "vitest";
import type { Instance } from "../domain/instance.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createAtRest } from "./keep-at-rest.ts";
import type { Scene } from "./observe-instance.ts";
import type { EngineClusterPort } from "./port.ts";

const MINUTE_MS = 60_000;
const anInstance = (more: Partial<Instance> = {}) =>
  ({ id: "i-1", state: "ACTIVE", revision: 3, engineCluster: "eu-1", ...more }) as Instance;

function open() {
  const clock = createVirtualClock();
  const state = { cluster: { name: "eu-1" } as EngineClusterPort | undefined, isAway: false };
  const get = async () => {
    if (state.isAway) throw new Error("it cannot be reached");
    return state.cluster;
  };
  const atRest = createAtRest({ clusters: { get }, clock, rng: createSeededRng(1) });
  const remember = (instance = anInstance()) =>
    atRest.remember({ facts: { instance }, fleetRevision: 7, cluster: state.cluster } as unknown as Scene);
  return { clock, state, atRest, remember };
}

describe("an instance that was found as declared", () => {
  it("is left out by sweeps for some minutes, and no longer", async () => {
    const { clock, atRest, remember } = open();
    expect(await atRest.isStill(anInstance(), 7)).toBe(false);
    remember();
    expect(await atRest.isStill(anInstance(), 7)).toBe(true);
    await clock.advance(5 * MINUTE_MS - 1);
    expect(await atRest.isStill(anInstance(), 7)).toBe(true);
    await clock.advance(5 * MINUTE_MS + 1);
    expect(await atRest.isStill(anInstance(), 7)).toBe(false);
  });

  it.each<[string, (world: ReturnType<typeof open>) => Parameters<ReturnType<typeof open>["atRest"]["isStill"]>]>([
    ["its row has changed", () => [anInstance({ revision: 4 }), 7]],
    ["another fleet is declared", () => [anInstance(), 8]],
    ["no fleet is declared any more", () => [anInstance(), undefined]],
    [
      "its cluster is entered anew",
      ({ state }) => {
        state.cluster = { name: "eu-1" } as EngineClusterPort;
        return [anInstance(), 7];
      },
    ],
    [
      "its cluster is declared no more",
      ({ state }) => {
        state.cluster = undefined;
        return [anInstance(), 7];
      },
    ],
    [
      "nobody knows how to reach its cluster",
      ({ state }) => {
        state.isAway = true;
        return [anInstance(), 7];
      },
    ],
    [
      "it is somebody else's",
      ({ atRest }) => {
        atRest.forget(anInstance().id);
        return [anInstance(), 7];
      },
    ],
  ])("is reconciled where %s", async (_why, change) => {
    const world = open();
    world.remember();
    const asked = change(world);
    expect(await world.atRest.isStill(...asked)).toBe(false);
    // What was true once and is again says nothing of what happened between.
    world.state.isAway = false;
    expect(await world.atRest.isStill(anInstance(), 7)).toBe(false);
  });

  it("is not remembered in a state that passes with time", async () => {
    const { atRest, remember } = open();
    for (const state of ["WARMING", "DRAINING", "FAILED"] as const) {
      remember(anInstance({ state }));
      expect(await atRest.isStill(anInstance({ state }), 7)).toBe(false);
    }
  });
});
