import { beforeEach, describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { PlanId } from "../../domain/ids.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { anObject, CLASS } from "../../store/testing/builders.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { MoveRecord } from "../plan/record.ts";
import { reEvaluates } from "../plan/record.ts";
import { type PlannedFleet, plannedFleet } from "../testing/fleet.ts";
import { createPlanningDesk, type PlanningDesk } from "./controller.ts";

const never = new AbortController().signal;

describe("the planning desk", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let fleet: PlannedFleet;
  let desk: PlanningDesk;
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    fleet = await plannedFleet(store, clock);
    desk = createPlanningDesk({ store, clock, ids: createCountingIds(), log: silentLog });
  });

  const drain = () => desk.plan(CLASS, { kind: "drain", instance: fleet.full, subject: "standard-1", actor: "otto" }, never);
  const ownerOf = async (name: string) => (await store.placements.readUnit(fleet.units.get(name)!, never))?.unit.owner;

  it("keeps a plan with what each choice rests on, and says in the journal who asked", async () => {
    const plan = await drain();
    expect(plan).toMatchObject({ goal: "drain", subject: "standard-1", class: CLASS, expiresAt: clock.now() + 3_600_000 });
    expect(plan.moves).toHaveLength(18);
    const kept = await store.plans.read(plan.id, never);
    expect(kept).toEqual(plan);
    expect((plan.records as readonly MoveRecord[]).every(reEvaluates)).toBe(true);
    const [decision] = await store.decisions.list({ subject: plan.id }, 1, never);
    expect(decision).toMatchObject({ kind: "plan", verdict: "PROPOSED", rule: "DRAIN", details: { actor: "otto", moves: 18 } });
  });

  it("makes the moves that still hold, and says of the others why not", async () => {
    const plan = await drain();
    const deployed = fleet.units.get("shop-03")!;
    const { owner: instanceId, epoch } = (await store.placements.readUnit(deployed, never))!.unit;
    const { applications } = await store.shards.listLagging(instanceId!, 100, never);
    const [application] = await store.shards
      .readApplications(applications, never)
      .then((rows) => rows.filter(({ unit }) => unit.id === deployed));
    await store.shards.acknowledge([anObject({ instanceId: instanceId!, subject: application!.application.id, epoch })], never);
    const pinned = fleet.units.get("shop-05")!;
    const { workspaceId } = (await store.placements.readUnit(pinned, never))!.unit;
    const pin = { kind: "instance", instance: fleet.full.id, actor: "vera", reason: "stay", at: clock.now() } as const;
    const decision = { at: clock.now(), subject: workspaceId, kind: "directive", verdict: "PINNED", rule: "COMMAND", details: {} } as const;
    await store.directives.direct({ workspaceId, change: { pin }, decision }, never);
    const steps = await desk.apply(plan.id, "anna", never);
    const left = steps.filter(({ outcome }) => outcome !== "moved").sort((a, b) => (a.move.unit < b.move.unit ? -1 : 1));
    expect(left).toMatchObject([
      { move: { unit: deployed }, outcome: "live-move-needed", why: expect.stringContaining("takes a live move") },
      { move: { unit: pinned }, outcome: "dropped", why: "standard-2: the workspace is pinned to standard-1" },
    ]);
    expect([await ownerOf("shop-00"), await ownerOf("shop-03"), await ownerOf("shop-05")]).toEqual([
      fleet.roomy.id,
      fleet.full.id,
      fleet.full.id,
    ]);
    const [moved] = await store.decisions.list({ subject: fleet.units.get("shop-00")! }, 1, never);
    expect(moved).toMatchObject({ kind: "placement", verdict: "MOVED", rule: "FORCED", details: { plan: plan.id, actor: "anna" } });
    expect((await store.plans.read(plan.id, never))?.appliedAt).toBe(clock.now());
    const [applied] = await store.decisions.list({ subject: plan.id }, 1, never);
    expect(applied).toMatchObject({ verdict: "APPLIED", details: { actor: "anna", moved: 16, liveMoveNeeded: 1, dropped: 1 } });
  });

  it("makes nothing twice: what was moved is dropped when the plan is carried out again", async () => {
    const plan = await drain();
    await desk.apply(plan.id, "otto", never);
    const again = await desk.apply(plan.id, "otto", never);
    expect(new Set(again.map(({ why }) => why.replace(/\d+$/, "N")))).toEqual(new Set(["it was moved since, and has epoch N"]));
  });

  it("fills nothing beyond its limit when two carry out plans at once", async () => {
    const plans = [await drain(), await drain()];
    const steps = (await Promise.all(plans.map(({ id }) => desk.apply(id, "otto", never)))).flat();
    expect(steps.filter(({ outcome }) => outcome === "moved")).toHaveLength(18);
    const { instances } = await store.placements.readFleet(CLASS, never);
    expect(Math.max(...instances.map(({ load }) => load.applications))).toBeLessThanOrEqual(18_000);
  });

  it("refuses a plan nobody knows, one that has expired, and one about a fleet that is not there", async () => {
    await expect(desk.apply("nobody" as PlanId, "otto", never)).rejects.toMatchObject({ code: "plan.unknown" });
    const supposed = await desk.plan(CLASS, { kind: "remove", instance: fleet.full, subject: "standard-1", actor: "otto" }, never);
    await expect(desk.apply(supposed.id, "otto", never)).rejects.toMatchObject({ code: "plan.supposed" });
    const plan = await drain();
    await clock.advance(3_600_000);
    await expect(desk.apply(plan.id, "otto", never)).rejects.toMatchObject({ code: "plan.expired" });
    expect((await store.plans.readFacts(CLASS, millis(0), never)).moves).toEqual([]);
  });
});
