import { beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../../store/adapters/memory/memory-store.ts";
import type { PlanFacts } from "../../store/plan/port.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { buildRingInTurns } from "../hash-ring.ts";
import { aFacts, aRow, unitRows } from "../testing/facts.ts";
import { NOON } from "../testing/snapshots.ts";
import { createPlanRequests } from "./carry-out-plan.ts";
import { createDrainRequests } from "./empty-instance.ts";
import { refreshPlan } from "./refresh-plan.ts";

const never = new AbortController().signal;
const CLASS = "eu/shared/public";
const UNITS = 4_000;

describe("planning for a class of thousands of units", () => {
  let turns: number;
  let facts: PlanFacts;
  beforeEach(() => {
    const instances = Array.from({ length: 20 }, (_, index) => aRow(`i${String(index).padStart(2, "0")}`));
    const units = instances.flatMap(({ name }) => unitRows(name, UNITS / instances.length, 1));
    facts = { ...aFacts(instances, units), rebalancing: undefined, scaled: [], raisable: [] } as unknown as PlanFacts;
    turns = 0;
  });

  /** Everything that plans, on a clock on which a millisecond passes whenever it is asked, so that a turn is due after ten pauses. */
  const planning = () => {
    let at = 0;
    const clock: Clock = { ...createVirtualClock(NOON), monotonicMs: () => (at += 1) };
    const memory = createMemoryStore({ clock });
    const store = { ...memory, plans: { ...memory.plans, readFacts: () => Promise.resolve(facts) } };
    const parts = { store, clock, ids: createCountingIds(), log: silentLog };
    const moving = createMoveRequests(parts);
    const requests = createPlanRequests({ ...parts, moving });
    const draining = createDrainRequests({ ...parts, planning: requests, moving });
    const counter = noMetrics.counter("plans", "None.", []);
    const deps = { ...parts, moving, planning: requests, draining, relieves: true, proposed: counter, promised: counter };
    return { requests, cycle: () => refreshPlan(deps, CLASS, buildRingInTurns, never) };
  };

  /** Counts how often others have a turn of the event loop while some work goes on. */
  const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
    let isOver = false;
    const other = (): void => {
      if (isOver) return;
      turns += 1;
      setImmediate(other);
    };
    setImmediate(other);
    await work;
    isOver = true;
    return turns;
  };
  const drained = (): Instance => facts.instances.find(({ id }) => id === ("i-i03" as InstanceId)) as Instance;

  it.each<readonly [string, () => Promise<unknown>]>([
    ["a cycle", () => planning().cycle()],
    ["a plan that somebody asks for", () => planning().requests.draft(CLASS, { kind: "rebalance", subject: "", actor: "otto" }, never)],
    ["what if", () => planning().requests.whatIf(CLASS, [{ kind: "instances", pool: "standard", by: -1 }], never)],
    [
      "carrying a plan out",
      async () => {
        const { requests } = planning();
        const plan = await requests.plan(CLASS, { kind: "drain", instance: drained(), subject: "i03", actor: "otto" }, never);
        turns = 0;
        await requests.apply(plan.id, { actor: "otto" }, never);
      },
    ],
  ])("lets others have their turns: %s", async (_name, work) => {
    // Nothing that the work waits for takes a turn: the store answers from memory.
    expect(await turnsDuring(work())).toBeGreaterThan(0);
  });
});
