import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../domain/clock.ts";
import { cordonedBy } from "../domain/cordon.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { InstanceObservation, Rollout } from "../domain/rollout.ts";
import { AT, anInstance, aRollout, aWaveInstance } from "../store/testing/builders.ts";
import { orderedChangeOf } from "./instance-order.ts";
import { nextRollout } from "./next-rollout.ts";
import { anObservation } from "./testing/facts.ts";
import { isBeingEmptied, isCordonedBy, versionOf } from "./waves.ts";

const OBSERVE_EVERY_MS = 5_000;
const ENOUGH = 400;
const wave = { bakeMs: 60_000, isExtended: false, isApproved: false };
const idOf = (index: number) => `i-${index}` as InstanceId;

/**
 * A fleet that follows its orders at once. With each step a few units leave an instance that is being emptied, for
 * one that has the release.
 */
function aDrainedFleet(units: readonly number[], over: (now: Millis, rollout: Rollout) => Partial<InstanceObservation> = () => ({})) {
  const rows = new Map<InstanceId, Instance>(
    units.map((_, index) => [idOf(index), anInstance({ id: idOf(index), name: `n-${index}`, version: "3.5.6", desiredVersion: "3.5.6" })]),
  );
  const held = new Map(units.map((count, index) => [idOf(index), count]));
  const instances = units.map((count, index) => aWaveInstance({ id: idOf(index), name: `n-${index}`, units: count }));
  const [spare, ...rest] = instances;
  let rollout = aRollout({
    ...{ mode: "drain", isUnattended: true },
    waves: [
      { name: "spare", instances: spare === undefined ? [] : [spare], ...wave },
      ...rest.map((one, index) => ({ name: `wave ${index}`, instances: [one], ...wave })),
    ],
  });
  let now: Millis = AT;
  const moved = new Map<InstanceId, number>();
  const upgradedUnder: number[] = [];
  const hand = (): void => {
    for (const one of rollout.waves.flatMap((each) => each.instances)) {
      const [count, host] = [
        held.get(one.id) ?? 0,
        [...rows.values()].find(({ version, state }) => version === "3.5.7" && state === "ACTIVE"),
      ];
      if (!isBeingEmptied(rollout, one) || count === 0 || host === undefined) continue;
      const some = Math.min(2, count);
      moved.set(one.id, (moved.get(one.id) ?? 0) + some);
      held.set(one.id, count - some);
      held.set(host.id, (held.get(host.id) ?? 0) + some);
    }
  };
  const observe = (): Rollout => {
    now = millis(now + OBSERVE_EVERY_MS);
    const observations = new Map(
      [...rows.values()].map(({ id, version }) => {
        const applications = held.get(id) ?? 0;
        return [id, anObservation(now, { runs: version, applications, fresh: applications, ...over(now, rollout) })] as const;
      }),
    );
    const facts = { now, rollout, instances: rows, observations, units: held, freeze: undefined, resyncMs: 20_000 };
    rollout = nextRollout(facts).rollout;
    for (const one of rollout.waves.flatMap((each) => each.instances)) {
      const row = rows.get(one.id);
      const change = row && orderedChangeOf(rollout, one, row, now);
      if (row === undefined || change === undefined) continue;
      const { state, reason, cause, desiredVersion = row.desiredVersion } = change.row;
      if (change.row.desiredVersion === "3.5.7") upgradedUnder.push(held.get(one.id) ?? 0);
      rows.set(one.id, { ...row, state, reason, cause, desiredVersion, version: desiredVersion });
    }
    hand();
    return rollout;
  };
  const run = (): Rollout => {
    for (let count = 0; count < ENOUGH && ["RUNNING", "ROLLING_BACK"].includes(rollout.state); count += 1) observe();
    return rollout;
  };
  return { observe, run, rows, held, moved, upgradedUnder };
}

describe("a rollout that empties instances first", () => {
  it("upgrades empty instances first and each other one once it is empty, and moves each unit once", () => {
    const sizes = fc.array(fc.nat(7), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(sizes, (units) => {
        const fleet = aDrainedFleet([0, ...units]);
        const done = fleet.run();
        expect(done).toMatchObject({ state: "DONE" });
        expect(fleet.upgradedUnder).toEqual(Array(units.length + 1).fill(0));
        expect([...fleet.rows.values()].map(({ version, state }) => [version, state])).toEqual(
          Array(units.length + 1).fill(["3.5.7", "ACTIVE"]),
        );
        expect([...fleet.held.values()].reduce((sum, count) => sum + count, 0)).toBe(units.reduce((sum, count) => sum + count, 0));
        units.forEach((count, index) => expect(fleet.moved.get(idOf(index + 1)) ?? 0).toBe(count));
      }),
    );
  });

  it("cordons an instance while it is being emptied, and no longer", () => {
    const fleet = aDrainedFleet([0, 3]);
    while (fleet.rows.get(idOf(1))?.state !== "CORDONED") fleet.observe();
    const row = fleet.rows.get(idOf(1));
    expect(row?.reason).toContain("emptied before it is given 3.5.7");
    expect(fleet.observe().note).toBe("wave 0: waiting until n-1 holds nothing");
    fleet.run();
    expect(fleet.rows.get(idOf(1))).toMatchObject({ state: "ACTIVE" });
  });

  it("P7: rolls back all instances that have the release when it fails under moved units, and moves no unit back", () => {
    const fleet = aDrainedFleet([0, 5, 5], (_now, { state, wave: at }) =>
      at === 1 && state === "RUNNING" ? { syncs: { done: 60, failed: 6 } } : {},
    );
    const failed = fleet.run();
    expect(failed).toMatchObject({ state: "FAILED", wave: 1, note: "6 of 60 syncs failed" });
    expect([...fleet.rows.values()].map(({ desiredVersion, state }) => [desiredVersion, state])).toEqual(
      Array(3).fill(["3.5.6", "ACTIVE"]),
    );
    expect(fleet.held.get(idOf(2))).toBe(5);
  });

  it("P7: moves no unit to a release that crashes on an empty instance", () => {
    const fleet = aDrainedFleet([0, 5], (_now, { state }) => (state === "RUNNING" ? { crashes: ["pod"] } : {}));
    expect(fleet.run()).toMatchObject({ state: "FAILED", wave: 0 });
    expect(fleet.moved.size).toBe(0);
  });

  it("leaves an instance alone that a person has cordoned", () => {
    const rollout = aRollout({ mode: "drain" });
    const cordoned = anInstance({ state: "CORDONED", ...cordonedBy("ada", "odd disk") });
    expect(isCordonedBy(rollout, cordoned)).toBe(false);
    const one = aWaveInstance({ id: cordoned.id, emptyingSince: AT });
    expect(orderedChangeOf({ ...rollout, waves: [{ name: "canary", instances: [one], ...wave }] }, one, cordoned, AT)).toBeUndefined();
    expect(versionOf(rollout, one)).toBeUndefined();
  });
});
