import { NO_DIRECTIVE } from "../../src/domain/directive.ts";
import { loadVector } from "../../src/domain/load.ts";
import { createMoveRequests } from "../../src/mover/request-moves.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createCountingIds } from "../../src/runtime/ids.ts";
import { createPlanRequests } from "../../src/scheduler/plan-cycle/carry-out-plan.ts";
import { createDrainRequests } from "../../src/scheduler/plan-cycle/empty-instance.ts";
import { refreshPlan } from "../../src/scheduler/plan-cycle/refresh-plan.ts";
import { createRingMemo } from "../../src/scheduler/ring-memo.ts";
import { createMemoryStore } from "../../src/store/adapters/memory/memory-store.ts";
import type { PlanFacts } from "../../src/store/plan/port.ts";
import type { Store } from "../../src/store/port.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { noMetrics } from "../../src/telemetry/metrics.ts";
import { START } from "../placement/fleets.ts";
import { CLASS, instanceOf, waitingUnit } from "./fleet.ts";

const never = new AbortController().signal;
const HOUR_MS = 3_600_000;

/** What a fleet goes through while one cycle is measured. */
export const SITUATIONS: Readonly<Record<string, (quiet: PlanFacts) => PlanFacts>> = {
  "nothing to do": (quiet) => quiet,
  "a tenth of the instances long too full": (quiet) => ({ ...quiet, ...tooFull(quiet) }),
  "a new instance": (quiet) => {
    const [like] = quiet.instances;
    const fresh = instanceOf("new", { ...like, id: "new" as never, name: "new", stateSince: (START - 1_000) as never });
    return { ...quiet, instances: [...quiet.instances, fresh].toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
  },
  "an instance gone": (quiet) => ({ ...quiet, instances: quiet.instances.slice(1) }),
  "1,000 units wait, nothing has room": (quiet) => ({
    ...quiet,
    instances: quiet.instances.map((one) => ({ ...one, capacity: loadVector((dimension) => Math.floor(one.capacity[dimension] * 0.6)) })),
    units: [...quiet.units, ...Array.from({ length: 1_000 }, (_, index) => waitingFacts(index))].toSorted((a, b) =>
      a.unit.id < b.unit.id ? -1 : 1,
    ),
  }),
};

function waitingFacts(index: number): PlanFacts["units"][number] {
  const { unit } = waitingUnit(
    index,
    loadVector(() => 50_000),
  );
  const row = { namespace: unit.workspaceId, trustClass: "public", known: undefined, directive: NO_DIRECTIVE, clusters: [] };
  return { ...row, unit, movingTo: undefined, movedAt: undefined, isDeployed: false };
}

/** Every tenth instance has long had half as much again on it. */
function tooFull({ instances, units }: PlanFacts): Pick<PlanFacts, "units" | "state"> {
  const full = new Set<string>(instances.filter((_, index) => index % 10 === 0).map(({ id }) => id));
  const since = (START - 13 * HOUR_MS) as typeof START;
  return {
    state: { aboveSince: Object.fromEntries([...full].map((id) => [id, since])), overloadedSince: {} },
    units: units.map((row) => {
      const { unit } = row;
      if (unit.owner === undefined || !full.has(unit.owner)) return row;
      return { ...row, unit: { ...unit, load: loadVector((dimension) => Math.floor(unit.load[dimension] * 1.5)) } };
    }),
  };
}

/** A store that knows one class, as the facts have it, and nothing else. */
function storeOf(facts: PlanFacts): Store {
  const store = createMemoryStore({ clock: systemClock });
  const plans = { ...store.plans, readFacts: () => Promise.resolve(facts), listClasses: () => Promise.resolve([facts.class]) };
  return { ...store, plans };
}

const clock = { ...systemClock, now: () => START };

/** Prepares planning for a class with these facts. The first cycle builds the ring, which the others keep. */
export function planningOf(facts: PlanFacts) {
  const parts = { store: storeOf(facts), clock, ids: createCountingIds(), log: silentLog };
  const moving = createMoveRequests(parts);
  const planning = createPlanRequests({ ...parts, moving });
  const draining = createDrainRequests({ ...parts, planning, moving });
  const counter = noMetrics.counter("bench", "None.", []);
  const deps = { ...parts, moving, planning, draining, relieves: true, approval: undefined, proposed: counter, promised: counter };
  const ringOf = createRingMemo()(CLASS);
  return {
    cycle: () => refreshPlan(deps, CLASS, ringOf, never),
    whatIf: (by: number) => planning.whatIf(CLASS, [{ kind: "instances", pool: "standard", by }], never),
  };
}
