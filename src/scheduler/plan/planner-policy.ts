import { DEFAULT_POLICY, type PlacementPolicy } from "../policy.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How much voluntary moves may disturb. Forced moves are bounded by the executor alone. */
export interface Brakes {
  readonly movesPerPlan: number;
  readonly movesPerHour: number;
  /** To or from one instance within an hour. */
  readonly movesPerInstance: number;
  /** Of units that deploy to one managed cluster within an hour. */
  readonly movesPerCluster: number;
  /** Largest share of the class's workspaces that is moved within an hour, ppm; one may always be. */
  readonly workspaces: number;
  /** Every number above is multiplied by this for an instance that is overloaded now. */
  readonly hotFactor: number;
  /** Voluntary moves stop while this many of the last `ofLast` moves failed. */
  readonly failures: number;
  readonly ofLast: number;
}

export interface PlannerPolicy {
  readonly placement: PlacementPolicy;
  /** What one move costs beside its load, as ppm of the mean unit's load: makes few large moves dearer than none. */
  readonly moveCost: number;
  /** An instance that is filled is filled up to this much short of the mean, ppm. */
  readonly fillShort: number;
  /** How long an instance must be above the bound before anybody leaves for it. */
  readonly persistMs: number;
  readonly coolDownMs: number;
  /** Doubles with each failure in a row, up to `coolDownMs`. */
  readonly failedCoolDownMs: number;
  /** Forced units of at least this share of a mean instance are placed before all others, largest first; ppm. */
  readonly bigUnit: number;
  /** How much of what an overloaded instance carries has to leave at least, although planning load sees no excess; ppm. */
  readonly hotRelief: number;
  /** With how many of the least loaded instances an exchange is tried. */
  readonly swapTargets: number;
  readonly brakes: Brakes;
  /** A plan that moves more load, or more workspaces, than this needs a person's approval; ppm. */
  readonly approval: { readonly load: number; readonly workspaces: number };
}

/**
 * Measured over a simulated month of drift (`bench/placement`): the fixed cost of a move and the gap between the bound that
 * triggers and the one that is shed to are what keeps moves rare; an hour's persistence and a day's cool-down are what keeps
 * a unit from being moved twice. The budgets of one instance and one managed cluster rest on judgement.
 */
export const DEFAULT_PLANNER_POLICY: PlannerPolicy = {
  placement: DEFAULT_POLICY,
  moveCost: 2_000_000,
  fillShort: 50_000,
  persistMs: HOUR_MS,
  coolDownMs: 24 * HOUR_MS,
  failedCoolDownMs: 6 * HOUR_MS,
  bigUnit: 20_000,
  hotRelief: 150_000,
  swapTargets: 12,
  brakes: {
    movesPerPlan: 20,
    movesPerHour: 50,
    movesPerInstance: 25,
    movesPerCluster: 10,
    workspaces: 5_000,
    hotFactor: 4,
    failures: 3,
    ofLast: 20,
  },
  approval: { load: 50_000, workspaces: 100_000 },
};
