import { beforeEach, describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, MoveId, PlanId, UnitId } from "../../domain/ids.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { aDecision, anObject, CLASS, WIDE } from "../../store/testing/builders.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { MoveRecord } from "../plan/record.ts";
import { reEvaluates } from "../plan/record.ts";
import { proposalOf } from "../plan/stored-plan.ts";
import { type PlannedFleet, plannedFleet } from "../testing/fleet.ts";
import { createPlanRequests, type PlanRequests } from "./carry-out-plan.ts";

const never = new AbortController().signal;

/** Something of the unit is deployed on its instance. */
async function acknowledgeApplication(
  store: MemoryStore,
  { applications }: Pick<PlannedFleet, "applications">,
  unitId: UnitId,
): Promise<void> {
  const { owner, epoch } = (await store.placements.readUnit(unitId, never))!.unit;
  await store.shards.acknowledge([anObject({ instanceId: owner!, subject: applications.get(unitId)!, epoch })], never);
}

describe("plan requests", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let fleet: PlannedFleet;
  let requests: PlanRequests;
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    fleet = await plannedFleet(store, clock);
    const parts = { store, clock, ids: createCountingIds(), log: silentLog };
    requests = createPlanRequests({ ...parts, moving: createMoveRequests(parts) });
  });

  const drain = () => requests.plan(CLASS, { kind: "drain", instance: fleet.full, subject: "standard-1", actor: "otto" }, never);
  const ownerOf = async (name: string) => (await store.placements.readUnit(fleet.units.get(name)!, never))?.unit.owner;

  it("store a plan with what each choice rests on, and say in the journal who asked", async () => {
    const plan = await drain();
    expect(plan).toMatchObject({ goal: "drain", subject: "standard-1", class: CLASS, expiresAt: clock.now() + 3_600_000 });
    expect(plan.moves).toHaveLength(18);
    const kept = await store.plans.read(plan.id, never);
    expect(kept).toEqual(plan);
    expect((plan.records as readonly MoveRecord[]).every(reEvaluates)).toBe(true);
    const [decision] = await store.decisions.list({ subject: plan.id }, 1, never);
    expect(decision).toMatchObject({ kind: "plan", verdict: "PROPOSED", rule: "DRAIN", details: { actor: "otto", moves: 18 } });
  });

  it("make the steps that are still valid, and say of the others why not", async () => {
    const plan = await drain();
    const deployed = fleet.units.get("shop-03")!;
    await acknowledgeApplication(store, fleet, deployed);
    const pinned = fleet.units.get("shop-05")!;
    const { workspaceId } = (await store.placements.readUnit(pinned, never))!.unit;
    const pin = { kind: "instance", instance: fleet.full.id, actor: "vera", reason: "stay", at: clock.now() } as const;
    const decision = { at: clock.now(), subject: workspaceId, kind: "directive", verdict: "PINNED", rule: "COMMAND", details: {} } as const;
    await store.directives.direct({ workspaceId, change: { pin }, decision }, never);
    const steps = await requests.apply(plan.id, { actor: "anna" }, never);
    const left = steps.filter(({ outcome }) => outcome !== "moved").sort((a, b) => (a.unit < b.unit ? -1 : 1));
    expect(left).toMatchObject([
      { unit: deployed, name: "shop-03", outcome: "asked", why: "" },
      { unit: pinned, name: "shop-05", outcome: "dropped", why: "standard-2: the workspace is pinned to standard-1" },
    ]);
    const [live, ...more] = await store.moves.list({ isLive: true }, 10, never);
    expect([live, more]).toMatchObject([
      { id: left[0]?.move, unitId: deployed, plan: plan.id, reason: "FORCED", kind: "drain", actor: "anna", phase: "WAITING" },
      [],
    ]);
    const [requested] = await store.decisions.list({ subject: deployed }, 1, never);
    expect(requested).toMatchObject({ verdict: "MOVE_REQUESTED", rule: "FORCED", details: { plan: plan.id, actor: "anna" } });
    expect(await store.plans.listSteps({ plan: plan.id }, never)).toEqual([...steps].sort((a, b) => (a.unit < b.unit ? -1 : 1)));
    expect([await ownerOf("shop-00"), await ownerOf("shop-03"), await ownerOf("shop-05")]).toEqual([
      fleet.roomy.id,
      fleet.full.id,
      fleet.full.id,
    ]);
    const [moved] = await store.decisions.list({ subject: fleet.units.get("shop-00")! }, 1, never);
    expect(moved).toMatchObject({ kind: "placement", verdict: "MOVED", rule: "FORCED", details: { plan: plan.id, actor: "anna" } });
    expect((await store.plans.read(plan.id, never))?.appliedAt).toBe(clock.now());
    const [applied] = await store.decisions.list({ subject: plan.id }, 1, never);
    expect(applied).toMatchObject({ verdict: "APPLIED", details: { actor: "anna", moved: 16, asked: 1, dropped: 1 } });
  });

  it("make nothing twice: carried out again, a plan gives the same outcome, and one entry in the journal", async () => {
    const plan = await drain();
    const first = await requests.apply(plan.id, { actor: "otto" }, never);
    expect(await requests.apply(plan.id, { actor: "otto" }, never)).toEqual(first);
    expect(await store.decisions.list({ subject: plan.id, verdict: "APPLIED" }, 10, never)).toHaveLength(1);
    expect((await store.plans.readFacts(CLASS, millis(0), never)).moves).toHaveLength(18);
  });

  it("keep to a live move while it goes on, and ask anew once it was given up", async () => {
    for (const unit of fleet.units.values()) await acknowledgeApplication(store, fleet, unit);
    const plan = await drain();
    const first = await requests.apply(plan.id, { actor: "otto" }, never);
    expect(first.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 18 }, () => "asked"));
    expect(await requests.apply(plan.id, { actor: "otto" }, never)).toEqual(first);
    const [step] = first;
    await store.moves.abort(step!.move!, { message: "enough", decision: aDecision() }, never);
    const again = await requests.apply(plan.id, { actor: "otto" }, never);
    expect(again.slice(1)).toEqual(first.slice(1));
    expect(again[0]).toMatchObject({ outcome: "asked", unit: step!.unit });
    expect(again[0]?.move).not.toBe(step!.move);
  });

  it("leave a unit that needs a live move and cannot have one, and say why", async () => {
    const [unit] = fleet.units.values();
    await acknowledgeApplication(store, fleet, unit!);
    const plan = await drain();
    const asked = {
      id: "by-hand" as MoveId,
      unitId: unit!,
      to: fleet.roomy.id,
      kind: "voluntary",
      reason: "FORCED",
      plan: undefined,
    } as const;
    const epoch = (await store.placements.readUnit(unit!, never))!.unit.epoch;
    const constraints = { ...asked, epoch, reverses: undefined, isFailOver: false, actor: "vera", ceiling: WIDE, decision: aDecision() };
    expect(await store.moves.request(constraints, never)).toEqual({ kind: "requested" });
    const steps = await requests.apply(plan.id, { actor: "otto" }, never);
    expect(steps.filter(({ outcome }) => outcome !== "moved")).toMatchObject([
      { unit, outcome: "dropped", why: "it is being moved to standard-2" },
    ]);
  });

  it("move with `only` what leaves that instance, and nothing else", async () => {
    const plan = await drain();
    expect(await requests.apply(plan.id, { actor: "otto", only: fleet.roomy.id }, never)).toEqual([]);
    expect((await store.fleet.countUnits(never)).get(fleet.full.id)).toBe(18);
  });

  it("fill no instance beyond its limit when two plans are carried out at once", async () => {
    const plans = [await drain(), await drain()];
    const steps = (await Promise.all(plans.map(({ id }) => requests.apply(id, { actor: "otto" }, never)))).flat();
    expect(steps.filter(({ outcome }) => outcome === "moved")).toHaveLength(18);
    const { instances } = await store.placements.readFleet(CLASS, never);
    expect(Math.max(...instances.map(({ load }) => load.applications))).toBeLessThanOrEqual(18_000);
  });

  it("refuse an unknown plan, one that has expired, and one about a fleet that is not there", async () => {
    await expect(requests.apply("nobody" as PlanId, { actor: "otto" }, never)).rejects.toMatchObject({ code: "plan.unknown" });
    const supposed = await requests.plan(CLASS, { kind: "remove", instance: fleet.full, subject: "standard-1", actor: "otto" }, never);
    await expect(requests.apply(supposed.id, { actor: "otto" }, never)).rejects.toMatchObject({ code: "plan.supposed" });
    const plan = await drain();
    await clock.advance(3_600_000);
    await expect(requests.apply(plan.id, { actor: "otto" }, never)).rejects.toMatchObject({ code: "plan.expired" });
    expect((await store.plans.readFacts(CLASS, millis(0), never)).moves).toEqual([]);
  });

  it("ask for the second half of an exchange once the first has changed its owner, and for nothing else that was left", async () => {
    const { world, full, roomy } = fleet;
    const draft = await requests.draft(CLASS, { kind: "rebalance", subject: "", actor: "otto" }, never);
    const applications = new Map(fleet.applications);
    const add = async (namespace: string, to: InstanceId): Promise<PlacementUnit> => {
      const { applicationId } = await world.record({ namespace });
      const { id } = await world.unit(applicationId);
      applications.set(id, applicationId);
      await world.place(id, to);
      return (await store.placements.readUnit(id, never))!.unit;
    };
    // One workspace in two hundred may be moved within an hour.
    const wide = await world.addInstance({ name: "standard-3", capacity: { ...full.capacity, applications: 1_000_000 } });
    for (let index = 0; index < 400; index += 1) await add(`wide-${index}`, wide.id);
    const held = await Promise.all(Array.from({ length: 17 }, (_, index) => add(`roomy-${index}`, roomy.id)));
    for (const instanceId of [full.id, roomy.id, wide.id]) {
      const total = { ...ZERO_LOAD, applications: 1000 };
      const sample = { instanceId, at: clock.now(), total, units: [], observation: undefined, cachedObjects: undefined };
      await store.loads.recordSample(sample, never);
    }
    const readUnit = async (name: string) => (await store.placements.readUnit(fleet.units.get(name)!, never))!.unit;
    const [out, gone, back] = [await readUnit("shop-00"), await readUnit("shop-01"), held[0]!];
    for (const { id } of [out, gone, back]) await acknowledgeApplication(store, { applications }, id);
    const swapOf = ({ id, epoch }: PlacementUnit, from: InstanceId, to: InstanceId) => ({
      unit: id,
      from,
      to,
      epoch,
      reason: "SWAP" as const,
    });
    const late = { unit: gone.id, from: full.id, to: wide.id, epoch: gone.epoch + 100, reason: "SHED" } as const;
    const moves = [swapOf(out, full.id, roomy.id), swapOf(back, roomy.id, full.id), late];
    const plan = { ...draft, id: "exchange" as PlanId, moves };
    await store.plans.record(plan, proposalOf(plan), never);
    const outcomes = async () =>
      new Map((await store.plans.listSteps({ plan: plan.id }, never)).map(({ unit, outcome, why }) => [unit, `${outcome} ${why}`]));

    await requests.followUp(CLASS, "scheduler", never);
    expect(await outcomes()).toEqual(new Map());
    const [first] = await requests.apply(plan.id, { actor: "otto" }, never);
    expect(await outcomes()).toEqual(
      new Map([
        [out.id, "asked "],
        [back.id, expect.stringContaining("dropped it follows when what changes places with it has left: standard-1")],
        [gone.id, expect.stringContaining("dropped it was moved since")],
      ]),
    );
    await requests.followUp(CLASS, "scheduler", never);
    expect((await outcomes()).get(back.id)).toContain("dropped");

    const id = first!.move!;
    await store.moves.begin(id, never);
    const phases = ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT"] as const;
    for (const [index, from] of phases.slice(0, -1).entries()) {
      await store.moves.advance(id, { from, to: phases[index + 1]!, message: "" }, never);
      await requests.followUp(CLASS, "scheduler", never);
      expect((await outcomes()).get(back.id)).toContain("dropped");
    }
    await store.moves.commit(id, aDecision(), never);
    await requests.followUp(CLASS, "scheduler", never);
    expect([(await outcomes()).get(back.id), (await outcomes()).get(gone.id)]).toEqual([
      "asked ",
      expect.stringContaining("dropped it was moved since"),
    ]);
    expect(await store.moves.list({ plan: plan.id, isLive: true }, 10, never)).toMatchObject([
      { unitId: back.id, to: full.id, reason: "SWAP", actor: "scheduler" },
      { unitId: out.id, to: roomy.id, reason: "SWAP", actor: "otto" },
    ]);
    const reported = () => store.decisions.list({ subject: plan.id, verdict: "APPLIED" }, 10, never);
    expect(await reported()).toMatchObject([{ rule: "EXCHANGE", details: { asked: 1, dropped: 0 } }, { rule: "COMMAND" }]);
    await requests.followUp(CLASS, "scheduler", never);
    expect(await reported()).toHaveLength(2);
  });
});
