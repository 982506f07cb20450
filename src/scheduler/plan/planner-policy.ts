import type { RebalancingSpec } from "../../domain/fleet.ts";
import type { WorkspaceId } from "../../domain/ids.ts";
import { type Resumable, visitInTurns } from "../../domain/resumable.ts";
import { DEFAULT_POLICY, type PlacementPolicy, WHOLE } from "../policy.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How much voluntary moves may disturb. Forced moves are limited only where they are carried out. */
export interface Budgets {
  readonly movesPerPlan: number;
  readonly movesPerHour: number;
  /** Absent: nothing limits them. */
  readonly movesPerDay?: number;
  /** To or from one instance within an hour. */
  readonly movesPerInstance: number;
  /** Of units that deploy to one managed cluster within an hour. */
  readonly movesPerCluster: number;
  /** Largest share of the class's workspaces that is moved within an hour, ppm; so many may always be. */
  readonly workspaces: number;
  readonly leastWorkspaces: number;
  /** Every number above is multiplied by this for an instance that is overloaded now. */
  readonly hotFactor: number;
  /** This many workspaces may leave overloaded instances within an hour, however few the class has. */
  readonly hotWorkspaces: number;
  /** Voluntary moves stop while this many of the last `ofLast` moves failed. */
  readonly failures: number;
  readonly ofLast: number;
}

export interface PlannerPolicy {
  readonly placement: PlacementPolicy;
  /** What one move costs besides its load, ppm of the mean unit's load: the higher it is, the fewer and larger the moves. */
  readonly moveCost: number;
  /** Instances that shed in one plan may move this much more than the fewest units that suffice, ppm, and one move more always. */
  readonly spareMoves: number;
  /** Bounds for the instances that take what another one sheds, ppm of the mean: tried in turn, before `shedTo`. */
  readonly shedInto: readonly number[];
  /** A new instance is filled to this much below the mean, ppm. */
  readonly fillShort: number;
  /** How long an instance must be above the bound before it sheds units, and how long if it is beyond the hard limit too. */
  readonly persistMs: number;
  readonly persistFullMs: number;
  readonly coolDownMs: number;
  /** Doubles with each failure in a row, up to `coolDownMs`. */
  readonly failedCoolDownMs: number;
  /** Forced units of at least this share of a mean instance are placed before all others, largest first; ppm. */
  readonly bigUnit: number;
  /** The share of an overloaded instance's load that leaves at least, even if planning load shows no excess; ppm. */
  readonly hotRelief: number;
  /** How many of the least loaded instances an exchange is tried with. */
  readonly swapTargets: number;
  readonly budgets: Budgets;
  readonly approval: ApprovalLimits;
}

/** A plan that moves more than a share, and also more than the number next to it, needs a person's approval. */
export interface ApprovalLimits {
  /** Of the load, ppm, and applications. */
  readonly loadShare: number;
  readonly applications: number;
  /** Of the workspaces, ppm, and workspaces. */
  readonly workspaceShare: number;
  readonly workspaces: number;
}

/**
 * Measured over a simulated month of drift (`bench/placement`, docs/adr/0018). Three things keep moves rare: the gap between the bound
 * that triggers shedding and the one that is shed to, half a day's persistence, and targets with room to spare. The fixed cost of a move
 * decides between few large ones and many small ones; a day's cool-down keeps a unit from being moved twice. The budgets of one instance
 * and of one managed cluster rest on judgement. `hotWorkspaces` is what `src/simulation/overload` needs where no workspace is large: four
 * times the one workspace that the share allows would leave an instance of twenty workspaces overloaded.
 */
export const DEFAULT_PLANNER_POLICY: PlannerPolicy = {
  placement: DEFAULT_POLICY,
  moveCost: 1_000_000,
  spareMoves: 200_000,
  shedInto: [950_000, WHOLE],
  fillShort: 50_000,
  persistMs: 12 * HOUR_MS,
  persistFullMs: HOUR_MS,
  coolDownMs: 24 * HOUR_MS,
  failedCoolDownMs: 6 * HOUR_MS,
  bigUnit: 20_000,
  hotRelief: 150_000,
  swapTargets: 12,
  budgets: {
    movesPerPlan: 20,
    movesPerHour: 50,
    movesPerInstance: 25,
    movesPerCluster: 10,
    workspaces: 5_000,
    leastWorkspaces: 1,
    hotFactor: 4,
    hotWorkspaces: 10,
    failures: 3,
    ofLast: 20,
  },
  approval: { loadShare: 50_000, applications: 50, workspaceShare: 100_000, workspaces: 5 },
};

interface DeclaredBudgets {
  readonly rebalancing?: Pick<RebalancingSpec, "movesPerHour" | "movesPerDay"> | undefined;
  readonly units: readonly { readonly unit: { readonly workspaceId: WorkspaceId } }[];
}

/**
 * What plans of a class are made and carried out by: the moves that its declaration allows. As many workspaces may move within an hour as one plan may without an
 * approver: by the share of the planner's own budgets that is one of a small class, and a new instance of a large one takes days to get its share.
 */
export function* policyInTurns(
  { rebalancing, units }: DeclaredBudgets,
  approval: ApprovalLimits = DEFAULT_PLANNER_POLICY.approval,
): Resumable<PlannerPolicy> {
  const policy = { ...DEFAULT_PLANNER_POLICY, approval };
  if (rebalancing === undefined) return policy;
  const { movesPerHour, movesPerDay } = rebalancing;
  const known = new Set<WorkspaceId>();
  yield* visitInTurns(units, ({ unit }) => known.add(unit.workspaceId));
  const workspaces = known.size;
  const unapproved = Math.max(approval.workspaces, Math.floor((workspaces * approval.workspaceShare) / WHOLE));
  const leastWorkspaces = Math.max(1, Math.min(movesPerHour, unapproved));
  return { ...policy, budgets: { ...policy.budgets, movesPerHour, movesPerDay, leastWorkspaces } };
}
