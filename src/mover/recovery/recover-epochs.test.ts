import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { InstanceState } from "../../domain/instance.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { accountName, ownerBindingName } from "../../shard/names.ts";
import type { ObservedOwnerBinding } from "../../shard/parse-observation.ts";
import { createMemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { createWorld, soon } from "../../store/testing/world.ts";
import { epochsAbove, isOlder, judgeOwner, ownerBindingKey, type RestoredUnit, recoveryDecision } from "./judge-owner.ts";
import { planRecovery, recover } from "./recover-epochs.ts";

const UNIT: RestoredUnit = { id: "unit-1" as UnitId, namespace: "team", bucket: 0, owner: "a" as InstanceId, epoch: 5 };

function ownerBinding(
  subjects: readonly string[],
  over: { readonly namespace?: string; readonly bucket?: number } = {},
): ObservedOwnerBinding {
  const at = { namespace: over.namespace ?? "team", name: ownerBindingName(over.bucket ?? 0) };
  return {
    ...{ at, uid: "uid", resourceVersion: "7", labels: {}, annotations: {}, epoch: 900, revision: 1, contentHash: "", fixedHash: "" },
    ...{ isDeleting: false, subjects, finalizers: [], lastWrite: undefined },
  };
}
const keyed = (...all: readonly ObservedOwnerBinding[]) => new Map(all.map((each) => [ownerBindingKey(each.at), each]));
const accountOf = (instance: string, unit: string = UNIT.id): string => accountName(unit as UnitId, instance as InstanceId);
const instances = (states: Readonly<Record<string, InstanceState>> = { a: "ACTIVE", b: "CORDONED" }) =>
  Object.entries(states).map(([id, state]) => ({ id: id as InstanceId, state }));

describe("the owner of a unit of a restored database", () => {
  it.each([
    ["the row's owner, whom the owner binding names", [accountOf("a")], "a", "KEPT"],
    ["the row's owner where the owner binding names nobody", [], "a", "KEPT"],
    ["another instance that the owner binding names", [accountOf("b")], "b", "MOVED"],
    ["the row's where the owner binding names somebody unknown", ["u-unknown"], "a", "STRANGER"],
    ["the row's where the owner binding names an account of another unit", [accountOf("b", "unit-2")], "a", "STRANGER"],
    ["the row's where the owner binding names two", [accountOf("b"), accountOf("a")], "a", "STRANGER"],
  ])("is %s", (_what, subjects, owner, rule) => {
    const found = ownerBinding(subjects);
    expect(judgeOwner(UNIT, keyed(found), instances())).toEqual({ owner, rule, ownerBinding: found });
  });

  it("is the row's where there is no owner binding, and of several parts each has its own", () => {
    expect(judgeOwner(UNIT, keyed(ownerBinding([accountOf("b")], { namespace: "other" })), instances())).toMatchObject({ rule: "KEPT" });
    const both = keyed(ownerBinding([accountOf("a")]), ownerBinding([accountOf("b")], { bucket: 3 }));
    expect(judgeOwner(UNIT, both, instances())).toMatchObject({ owner: "a" });
    expect(judgeOwner({ ...UNIT, bucket: 3 }, both, instances())).toMatchObject({ owner: "b" });
  });

  it("is no instance that is retired", () => {
    expect(judgeOwner(UNIT, keyed(ownerBinding([accountOf("b")])), instances({ a: "ACTIVE", b: "RETIRED" }))).toMatchObject({
      rule: "STRANGER",
    });
  });

  it("is journaled with both epochs", () => {
    const verdict = judgeOwner(UNIT, keyed(ownerBinding([accountOf("b")])), instances());
    expect(recoveryDecision(UNIT, verdict, millis(3))).toEqual({
      ...{ at: 3, subject: "unit-1", kind: "placement", verdict: "RECOVERED", rule: "MOVED" },
      details: { from: "a", to: "b", restoredEpoch: 5, seenEpoch: 900 },
    });
  });

  it("comes with epochs beyond whatever was given", () => {
    expect(epochsAbove(10, 2_000)).toBeGreaterThan(1_000_000);
    expect(epochsAbove(3_000_000, 2)).toBeGreaterThan(4_000_000 - 1);
    expect([isOlder(10, 10), isOlder(10, 11), isOlder(11, 10)]).toEqual([false, true, false]);
  });
});

describe("recovering", () => {
  async function restored() {
    const clock = createVirtualClock();
    const store = createMemoryStore({ clock });
    const world = createWorld(store);
    const [stays, left, held] = [
      await world.deploy({ namespace: "a" }),
      await world.deploy({ namespace: "b" }),
      await world.deploy({ namespace: "c" }),
    ];
    const { id: elsewhere } = await world.addInstance();
    const ownerBindings = [
      ownerBinding([accountName(stays.unitId, stays.instanceId)], { namespace: "a" }),
      ownerBinding([accountName(left.unitId, elsewhere)], { namespace: "b" }),
      ownerBinding(["u-unknown"], { namespace: "c" }),
      // Of a part that was cut off since, and of one that has nothing to lose; the last is no owner binding.
      ownerBinding([accountName("cut" as UnitId, left.instanceId)], { namespace: "b", bucket: 1 }),
      ownerBinding([], { namespace: "b", bucket: 2 }),
      { ...ownerBinding(["u-reader"], { namespace: "b" }), at: { namespace: "b", name: `${ownerBindingName(0)}-reader` } },
    ];
    const order: string[] = [];
    const standing = {
      newestEpoch: async () => 500,
      listOwnerBindings: async () => ownerBindings,
      revoke: async ({ at }: ObservedOwnerBinding) => void order.push(`revoke ${at.namespace} at ${clock.now() - startedAt}`),
    };
    const startedAt = clock.now();
    const recordOwner: typeof store.recovery.recordOwner = async (change, signal) => {
      order.push(`record owner of ${change.unit.namespace} at ${clock.now() - startedAt}`);
      return store.recovery.recordOwner(change, signal);
    };
    const deps = { store: { ...store, recovery: { ...store.recovery, recordOwner } }, standing, clock, fenceMs: 2_000 };
    return { ...{ world, store, clock, deps, order, elsewhere, stays, left, held } };
  }

  it("says what it would do and writes nothing", async () => {
    const { deps, store, elsewhere, order } = await restored();
    const plan = await planRecovery(deps, soon());
    expect(plan).toMatchObject({ lastEpoch: 3, newestSeen: 500, isOlder: true });
    expect(plan.units.map(({ unit, rule }) => [unit.namespace, rule])).toEqual([
      ["a", "KEPT"],
      ["b", "MOVED"],
      ["c", "STRANGER"],
    ]);
    expect(plan.units[1]?.owner).toBe(elsewhere);
    expect(plan.unknown).toEqual([{ namespace: "b", name: ownerBindingName(1) }]);
    expect(order).toEqual([]);
    expect(await store.recovery.readLastEpoch(soon())).toBe(3);
  });

  it("gives each unit the owner it has under a newer epoch than any that stands, after strangers had time to end", async () => {
    const { deps, world, clock, order, elsewhere, stays, left, held } = await restored();
    const reported: string[] = [];
    const running = recover(deps, (done, of) => reported.push(`${done}/${of}`), soon());
    await clock.advance(10_000);
    expect(await running).toMatchObject({ recovered: 3 });
    expect(reported).toEqual(["3/3"]);
    expect(order.slice(0, 2)).toEqual(["revoke c at 0", "revoke b at 0"]);
    expect(order.slice(2).sort()).toEqual(["record owner of a at 2000", "record owner of b at 2000", "record owner of c at 2000"]);
    const owners = await Promise.all([stays, left, held].map(async ({ applicationId }) => world.unit(applicationId)));
    expect(owners.map(({ owner }) => owner)).toEqual([stays.instanceId, elsewhere, held.instanceId]);
    for (const { epoch, phase } of owners) expect([epoch > 500, phase]).toEqual([true, "IDLE"]);
    // It is as new as what stands now.
    expect(isOlder(await deps.store.recovery.readLastEpoch(soon()), 500)).toBe(false);
  });
});
