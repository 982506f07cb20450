import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RebalancingSpec } from "../../domain/fleet.ts";
import type { InstanceId, PlanId } from "../../domain/ids.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { aFleet, CLASS } from "../../store/testing/builders.ts";
import type { ApprovalLimits } from "../plan/planner-policy.ts";
import { type PlannedFleet, plannedFleet } from "../testing/fleet.ts";
import { aPlanCycle } from "../testing/plan-cycle.ts";
import type { PlanCycle } from "./controller.ts";

const never = new AbortController().signal;
const CYCLE_MS = 120_000;
const CYCLES_OF_AN_HOUR = 30;
/** Longer than an instance has to be too full before anything leaves it. */
const HALF_A_DAY = 13 * CYCLES_OF_AN_HOUR;

describe("a class whose mode is", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let fleet: PlannedFleet;
  let cycle: PlanCycle | undefined;
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    fleet = await plannedFleet(store, clock);
    cycle = undefined;
  });
  afterEach(() => cycle?.stop());

  const begin = async (mode: RebalancingSpec["mode"], over: Partial<RebalancingSpec> = {}, approval?: ApprovalLimits): Promise<void> => {
    const rebalancing = [{ class: CLASS, mode, movesPerHour: 50, movesPerDay: 200, ...over }];
    await store.fleet.applyFleet(aFleet({ rebalancing }), "ada", never);
    ({ cycle } = aPlanCycle(store, clock, approval));
    cycle.start(never);
    await cycle.idle();
  };
  const held = async (id: InstanceId): Promise<number> => (await store.fleet.countUnits(never)).get(id) ?? 0;
  /** What instances report is what they hold, or what they held at first. */
  const pass = async (cycles: number, isHonest = true): Promise<void> => {
    for (let index = 0; index < cycles; index += 1) {
      for (const [{ id }, first] of [
        [fleet.full, 18],
        [fleet.roomy, 0],
      ] as const) {
        const applications = (isHonest ? await held(id) : first) * 1_000;
        const sample = { instanceId: id, at: clock.now(), total: { ...ZERO_LOAD, applications }, units: [] };
        await store.loads.recordSample({ ...sample, observation: undefined, cachedObjects: undefined }, never);
      }
      await clock.advance(CYCLE_MS);
      await vi.waitFor(() => cycle?.idle());
    }
  };
  const verdicts = async () => (await store.decisions.list({ kind: "plan" }, 100, never)).map(({ verdict }) => verdict);
  const state = () => store.loads.readState(CLASS, never);

  it("off has no plan, and moves nothing away from an overloaded instance either", async () => {
    await begin("off");
    await pass(HALF_A_DAY);
    const at = clock.now();
    const verdict = { instanceId: fleet.full.id, state: "overloaded", cause: "queue", text: "", evidence: [], at, since: at } as const;
    await store.health.record(
      [{ sample: { at, signals: {} }, verdict: { ...verdict, component: undefined, baseline: undefined }, keepSince: at }],
      never,
    );
    await pass(3);
    expect(await store.plans.list({}, 10, never)).toEqual([]);
    expect(await held(fleet.full.id)).toBe(18);
  });

  it("propose has plans that wait for a person", async () => {
    await begin("propose");
    await pass(HALF_A_DAY);
    expect(new Set(await verdicts())).toEqual(new Set(["PROPOSED"]));
    expect(await held(fleet.full.id)).toBe(18);
  });

  it("auto has them carried out, and measured after they had time to show", async () => {
    await begin("auto");
    await pass(HALF_A_DAY);
    const plan = (await store.plans.list({}, 10, never)).find(({ appliedAt }) => appliedAt !== undefined);
    expect(plan).toMatchObject({ actor: "scheduler" });
    const left = 18 - (await held(fleet.full.id));
    expect(left).toBeGreaterThan(0);
    expect((await state()).promises).toMatchObject([{ plan: plan?.id, instance: fleet.full.id, before: 1_000_000 }]);
    expect(await verdicts()).not.toContain("KEPT");
    await pass(2 * CYCLES_OF_AN_HOUR);
    const entries = await store.decisions.list({ kind: "plan", verdict: "KEPT" }, 10, never);
    expect(entries).toMatchObject([{ subject: plan?.id, details: { from: fleet.full.id, moves: left } }]);
    expect(await state()).toMatchObject({ measured: [{ isKept: true }] });
  });

  it("auto moves as many workspaces within an hour as the class's declaration allows, where the planner's own share would be one", async () => {
    await begin("auto");
    await pass(HALF_A_DAY);
    expect(await held(fleet.full.id)).toBeLessThan(17);
    const [plan] = (await store.plans.list({}, 10, never)).filter(({ appliedAt }) => appliedAt !== undefined);
    const steps = await store.plans.listSteps({ plan: plan?.id as PlanId }, never);
    expect(steps.map(({ outcome, why }) => [outcome, why])).toEqual(plan?.moves.map(() => ["moved", ""]));
  });

  it("auto carries out nothing of a plan that needs an approver", async () => {
    await begin("auto", {}, { loadShare: 0, applications: 0, workspaceShare: 0, workspaces: 0 });
    await pass(HALF_A_DAY);
    expect(await verdicts()).toContain("PROPOSED");
    expect(await held(fleet.full.id)).toBe(18);
  });

  it("auto moves no more within a day than may be", async () => {
    await begin("auto", { movesPerDay: 2 });
    await pass(HALF_A_DAY + 5 * CYCLES_OF_AN_HOUR);
    expect(await held(fleet.full.id)).toBe(16);
    await pass(24 * CYCLES_OF_AN_HOUR);
    expect(await held(fleet.full.id)).toBe(14);
  });

  it("auto only proposes for a day once three of the last five promises were broken, and is tried again then", async () => {
    await begin("auto", { movesPerDay: 1 });
    // One move a day, of which the measured load shows nothing.
    await pass(HALF_A_DAY + 3 * 24 * CYCLES_OF_AN_HOUR, false);
    const broken = await store.decisions.list({ kind: "plan", verdict: "BROKEN" }, 10, never);
    expect(broken).toHaveLength(3);
    expect(broken[0]?.details).toMatchObject({ from: fleet.full.id, moves: 1, fallsBackUntil: expect.any(String) });
    expect(broken[1]?.details).not.toHaveProperty("fallsBackUntil");
    expect(await held(fleet.full.id)).toBe(15);
    await pass(16 * CYCLES_OF_AN_HOUR, false);
    expect(await held(fleet.full.id)).toBe(14);
  });
});
