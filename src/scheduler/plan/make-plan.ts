import type { Millis } from "../../domain/clock.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { PlanGoal } from "../../domain/plan.ts";
import { complete, filterInTurns, type Resumable } from "../../domain/resumable.ts";
import { instanceTraits } from "../instance-traits.ts";
import type { RingSource } from "../ring-memo.ts";
import { assembleSnapshotInTurns, type PlanningFacts } from "./assemble.ts";
import { type Plan, planMovesInTurns } from "./plan-moves.ts";
import { type ApprovalLimits, DEFAULT_PLANNER_POLICY, type PlannerPolicy, policyInTurns } from "./planner-policy.ts";
import type { PlanDocument } from "./report.ts";
import type { PlanSnapshot } from "./snapshot.ts";

export interface Goal {
  readonly kind: PlanGoal;
  /** The instance to drain or remove, or one like the instance to add. */
  readonly instance?: Instance | undefined;
  /** Only instances that run this release take what is drained. */
  readonly release?: string | undefined;
}

export interface MadePlan {
  readonly snapshot: PlanSnapshot;
  readonly plan: Plan;
  readonly document: PlanDocument;
}

/** Id of an instance that a plan supposes to be there. */
const SUPPOSED = "(one more)" as InstanceId;

const { budgets } = DEFAULT_PLANNER_POLICY;
const ANY = Number.MAX_SAFE_INTEGER;
/** For what would be in the end, over however many plans: the budgets of a single plan do not limit that. */
export const UNHURRIED: PlannerPolicy = {
  ...DEFAULT_PLANNER_POLICY,
  budgets: { ...budgets, movesPerPlan: ANY, movesPerHour: ANY, movesPerInstance: ANY, movesPerCluster: ANY, workspaces: 1_000_000 },
};

interface PlanOptions {
  readonly at: Millis;
  readonly ringOf?: RingSource;
  /** Absent: the default. */
  readonly approval?: ApprovalLimits | undefined;
}

/** Makes the plan a goal asks for from rows as they were at one moment. */
export function makePlan(facts: PlanningFacts, goal: Goal, options: PlanOptions): MadePlan {
  return complete(makePlanInTurns(facts, goal, options));
}

/** The same, with pauses. */
export function* makePlanInTurns(facts: PlanningFacts, goal: Goal, options: PlanOptions): Resumable<MadePlan> {
  const snapshot = snapshotFor(withoutOtherReleases(yield* assembleSnapshotInTurns(facts, options.at), facts, goal), goal);
  const { approval = DEFAULT_PLANNER_POLICY.approval } = options;
  const policy = goal.kind === "add" ? { ...UNHURRIED, approval } : yield* policyInTurns(facts, approval);
  const plan = yield* planMovesInTurns(snapshot, options.ringOf === undefined ? { policy } : { policy, ringOf: options.ringOf });
  const moved = new Set(plan.moves.map(({ unit }) => unit));
  const { left, unplaceable, withoutCandidate } = plan.report;
  const named = new Set<string>([
    ...moved,
    ...left.shown.map(({ unit }) => unit),
    ...[...unplaceable, ...withoutCandidate].flatMap(({ units }) => units),
  ]);
  const rows = yield* filterInTurns(facts.units, ({ unit }) => named.has(unit.id));
  const document = {
    ...plan.report,
    // Of all rows: a plan for a fleet without an instance names that one too.
    names: {
      units: Object.fromEntries(namesOfUnits(rows)),
      instances: Object.fromEntries([...facts.instances, ...snapshot.candidates].map(({ id, name }) => [id, name])),
    },
    deployed: rows.filter(({ unit, isDeployed }) => isDeployed && moved.has(unit.id)).map(({ unit }) => unit.id),
  };
  return { snapshot, plan, document };
}

/** What people call units. */
export function namesOfUnits(units: PlanningFacts["units"]): ReadonlyMap<UnitId, string> {
  return new Map(units.map(({ unit: { id, bucket }, namespace }) => [id, bucket === 0 ? namespace : `${namespace} (part ${bucket})`]));
}

/** Cordons the instances that do not run the release to which drained units should go, or are about to leave it. */
function withoutOtherReleases(snapshot: PlanSnapshot, { instances }: PlanningFacts, { release }: Goal): PlanSnapshot {
  if (release === undefined) return snapshot;
  const hosts = new Set(instances.filter((one) => one.version === release && one.desiredVersion === release).map(({ id }) => id));
  const candidates = snapshot.candidates.map((candidate) =>
    hosts.has(candidate.id) || candidate.state !== "ACTIVE" ? candidate : { ...candidate, state: "CORDONED" as const },
  );
  return { ...snapshot, candidates };
}

/** The fleet as the goal supposes it to be. */
function snapshotFor(snapshot: PlanSnapshot, { kind, instance }: Goal): PlanSnapshot {
  if (kind === "rebalance" || instance === undefined) return snapshot;
  const { candidates } = snapshot;
  switch (kind) {
    case "drain":
      return {
        ...snapshot,
        candidates: candidates.map((candidate) =>
          candidate.id === instance.id ? { ...candidate, state: "DRAINING", isOverloaded: false } : candidate,
        ),
      };
    case "remove":
      return { ...snapshot, candidates: candidates.filter(({ id }) => id !== instance.id) };
    case "add": {
      const { capacity, weight, pool } = instance;
      const more = {
        id: SUPPOSED,
        name: `one more of ${pool}`,
        state: "ACTIVE",
        capacity,
        weight,
        traits: instanceTraits(instance, undefined),
        isOverloaded: false,
        isFilling: true,
      } as const;
      return { ...snapshot, candidates: [...candidates, more] };
    }
  }
}
