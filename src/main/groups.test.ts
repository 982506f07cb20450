import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clashesOf, type WorkspaceGroups } from "../domain/groups.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../domain/ids.ts";
import type { MovePhase } from "../domain/move.ts";
import { createMoveRequests } from "../mover/request-moves.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { placeFirst } from "../scheduler/find-instance.ts";
import { refreshPlan } from "../scheduler/plan-cycle/refresh-plan.ts";
import { requestGroupMove } from "../scheduler/request-group-move.ts";
import { createRingMemo } from "../scheduler/ring-memo.ts";
import { aPlanCycle } from "../scheduler/testing/plan-cycle.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision, aFleet, anInstance, anIntent, CLASS } from "../store/testing/builders.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";

const never = new AbortController().signal;
const CUSTOMER = "class.argosy.dev/customer";
const SITE = "class.argosy.dev/site";
const PHASES: readonly MovePhase[] = ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT"];
const ENDING: readonly MovePhase[] = ["GRANT", "ACTIVATE", "VERIFY", "CLEANUP", "DONE"];

/** A fleet on which the scheduler's own steps are taken one by one, and moves are carried out when the test says so. */
async function aGroupedFleet(instances: number) {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const world = createWorld(store);
  const { parts, planning, draining, cycle } = aPlanCycle(store, clock);
  const ringsOf = createRingMemo();
  const counter = noMetrics.counter("none", "", []);
  const moving = createMoveRequests(parts);
  const deps = { store, clock, log: silentLog, ringsOf, moving };
  await store.fleet.applyFleet(aFleet({ rebalancing: [{ class: CLASS, mode: "auto", movesPerHour: 50, movesPerDay: 500 }] }), "ada", never);
  const ids: InstanceId[] = [];
  for (let index = 0; index < instances; index += 1)
    ids.push((await world.addInstance(anInstance({ name: `i${index}`, namespace: `n${index}` }))).id);
  const units = new Map<UnitId, WorkspaceId>();
  const groupsOf = (customer: number | undefined, site: number | undefined): WorkspaceGroups => ({
    apart: customer === undefined ? {} : { [CUSTOMER]: `c${customer}` },
    ...(site === undefined ? {} : { together: `${SITE}=s${site}` }),
  });
  return {
    store,
    ids,
    groupsOf,
    async add(groups: WorkspaceGroups): Promise<void> {
      const namespace = `team-${units.size}`;
      const workspace = { ...anIntent({ namespace }).workspace, groups };
      const { id, workspaceId } = await world.unit((await world.record({ namespace, workspace })).applicationId);
      units.set(id, workspaceId);
    },
    /** Another label on the namespace of one of the workspaces. */
    async relabel(index: number, groups: WorkspaceGroups): Promise<void> {
      const workspaceId = [...units.values()][index % Math.max(1, units.size)];
      if (workspaceId === undefined) return;
      await store.intents.assignGroups({ workspaceId, groups, decision: aDecision({ subject: workspaceId }) }, never);
    },
    /** What the scheduler's loop does for each unit that it has to do something for. */
    async settle(): Promise<void> {
      for (const id of await store.placements.listUnsettled({ limit: 1_000, after: "" }, never)) {
        const found = await store.placements.readUnit(id, never);
        if (found === undefined) continue;
        if (found.unit.owner === undefined) await placeFirst(deps, found, never);
        else if (found.unit.isRegrouped === true) await requestGroupMove(deps, found, never);
      }
    },
    plan: () =>
      refreshPlan(
        { ...parts, moving, planning, draining, relieves: true, proposed: counter, promised: counter },
        CLASS,
        ringsOf(CLASS),
        never,
      ),
    drain: async (index: number): Promise<void> => {
      const instance = await store.fleet.readInstance(ids[index % ids.length] as InstanceId, never);
      if (instance?.state === "ACTIVE") await draining.begin(instance, { actor: "otto", reason: "test" }, never).catch(() => undefined);
    },
    /** Carries one live move one step further. */
    async moveOn(which: number, isGivenUp: boolean): Promise<void> {
      const live = await store.moves.list({ isLive: true }, 1_000, never);
      const move = live[which % Math.max(1, live.length)];
      if (move === undefined) return;
      if (isGivenUp && (await store.moves.abort(move.id, { message: "", decision: aDecision() } as never, never))) {
        await store.moves.advance(move.id, { from: "ABORT", to: "ABORTED", message: "" }, never);
        return;
      }
      if (move.phase === "WAITING") return void (await store.moves.begin(move.id, never));
      if (move.phase === "COMMIT")
        return void (await store.moves.commit(move.id, aDecision({ subject: move.unitId, verdict: "MOVED" }), never));
      const order = [...PHASES, ...ENDING];
      const next = order[order.indexOf(move.phase) + 1];
      if (next !== undefined) await store.moves.advance(move.id, { from: move.phase, to: next, message: "" }, never);
    },
    /** Pairs that share an instance and must not, by unit; `isSettled`: neither of the two is known to have to leave. */
    async sharing(): Promise<readonly { readonly units: readonly [UnitId, UnitId]; readonly isSettled: boolean }[]> {
      const all = await Promise.all([...units.keys()].map((id) => store.placements.readUnit(id, never)));
      const rows = all.flatMap((found) => (found?.unit.owner === undefined ? [] : [found]));
      return rows.flatMap((one, index) =>
        rows.slice(index + 1).flatMap((other) => {
          const clash = one.unit.owner === other.unit.owner && clashesOf(one.workspace.groups, other.workspace.groups).length > 0;
          const isSettled = one.unit.isRegrouped !== true && other.unit.isRegrouped !== true;
          return clash ? [{ units: [one.unit.id, other.unit.id] as const, isSettled }] : [];
        }),
      );
    },
    stop: () => cycle.stop(),
  };
}

const group = fc.option(fc.nat({ max: 2 }), { nil: undefined });
const event = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), customer: group, site: group }),
  fc.record({ kind: fc.constant("relabel" as const), which: fc.nat(30), customer: group, site: group }),
  fc.record({ kind: fc.constant("settle" as const) }),
  fc.record({ kind: fc.constant("plan" as const) }),
  fc.record({ kind: fc.constant("drain" as const), which: fc.nat(5) }),
  fc.record({ kind: fc.constant("move" as const), which: fc.nat(30), isGivenUp: fc.boolean() }),
  fc.record({ kind: fc.constant("move" as const), which: fc.nat(30), isGivenUp: fc.constant(false) }),
);

describe("workspaces that must be apart", () => {
  it("never come to share an instance, whatever is placed, planned, drained, moved and given up, and part where a label makes them", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 10, maxLength: 60 }), async (events) => {
        const fleet = await aGroupedFleet(5);
        let before = new Set<string>();
        for (const each of events) {
          if (each.kind === "add") await fleet.add(fleet.groupsOf(each.customer, each.site));
          if (each.kind === "relabel") await fleet.relabel(each.which, fleet.groupsOf(each.customer, each.site));
          if (each.kind === "settle") await fleet.settle();
          if (each.kind === "plan") await fleet.plan();
          if (each.kind === "drain") await fleet.drain(each.which);
          if (each.kind === "move") await fleet.moveOn(each.which, each.isGivenUp);
          const sharing = await fleet.sharing();
          // A label alone brings two together where they are, or where a move takes one, and then the scheduler knows of it.
          expect(sharing.filter(({ isSettled }) => isSettled)).toEqual([]);
          const now = new Set(sharing.map(({ units }) => units.join(" ")));
          if (each.kind !== "relabel" && each.kind !== "move") expect([...now].filter((pair) => !before.has(pair))).toEqual([]);
          before = now;
        }
        await fleet.stop();
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  it("are apart again, a few steps after a label made them share an instance", async () => {
    const rng = createSeededRng("groups");
    const fleet = await aGroupedFleet(5);
    for (let index = 0; index < 12; index += 1) await fleet.add(fleet.groupsOf(index % 3, undefined));
    await fleet.settle();
    for (let index = 0; index < 4; index += 1) await fleet.relabel(index, fleet.groupsOf((index + 1) % 3, undefined));
    expect((await fleet.sharing()).length).toBeGreaterThan(0);
    for (let step = 0; step < 300; step += 1) {
      await fleet.settle();
      await fleet.moveOn(Math.floor(rng.next() * 30), false);
    }
    expect(await fleet.sharing()).toEqual([]);
    expect(await fleet.store.placements.listUnsettled({ limit: 10, after: "" }, never)).toEqual([]);
    await fleet.stop();
  });

  it("live with the others of their group where that is possible, and elsewhere where it is not", async () => {
    const fleet = await aGroupedFleet(4);
    for (const customer of [0, 0, 1, undefined]) {
      await fleet.add(fleet.groupsOf(customer, 0));
      await fleet.settle();
    }
    const { units } = await fleet.store.plans.readFacts(CLASS, 0 as never, never);
    const owners = units.map(({ unit }) => unit.owner);
    expect(owners[1]).toBe(owners[0]);
    expect(owners[2]).not.toBe(owners[0]);
    expect(owners[3]).toBe(owners[0]);
    await fleet.stop();
  });
});
