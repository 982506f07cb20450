import { type Millis, millis } from "./clock.ts";
import type { RebalancingMode, RebalancingSpec } from "./fleet.ts";
import type { InstanceId, PlanId, UnitId } from "./ids.ts";
import type { LoadAmounts, LoadDimension } from "./load.ts";

/** What each instance was measured to have, by id, as a mean over half an hour; with fractions, in the units of a `LoadVector`. */
export type MeanLoads = Readonly<Record<string, { readonly load: LoadAmounts; readonly at: Millis }>>;

/**
 * What the steps of plans that the scheduler carried out by itself are to take from one instance. Shares are ppm of the load of the whole class, so
 * that the hours of a day, which everybody has in common, count neither for nor against a promise.
 */
export interface ReliefPromise {
  /** The newest of the plans. */
  readonly plan: PlanId;
  readonly instance: InstanceId;
  /** The one that the plan evens out. */
  readonly dimension: LoadDimension;
  /** When it was made, and when a plan added to it last. */
  readonly since: Millis;
  readonly at: Millis;
  /** What each unit takes away from it; less than nothing: brings. */
  readonly units: readonly { readonly unit: UnitId; readonly share: number }[];
  /** What the instance was measured to have before. */
  readonly before: number;
}

/** A promise that was measured. */
export interface MeasuredPromise {
  readonly at: Millis;
  readonly isKept: boolean;
}

/** How many of the last promises count, and how many broken ones of them are too many. */
export const TRUST = { ofLast: 5, broken: 3 } as const;
/** How long a class that broke too many only proposes, in ms. Afterwards it is tried again: one more broken promise is one day more. */
const FALLEN_BACK_MS = 24 * 3_600_000;

/**
 * Until when a class only proposes because its last plans did not do what they promised; `undefined`: it does not. `measured`: newest first.
 * A promise that is kept ends it, for then plans hold again.
 */
export function fallsBackUntil(measured: readonly MeasuredPromise[]): Millis | undefined {
  const [newest] = measured;
  const broken = measured.slice(0, TRUST.ofLast).filter(({ isKept }) => !isKept).length;
  return newest === undefined || newest.isKept || broken < TRUST.broken ? undefined : millis(newest.at + FALLEN_BACK_MS);
}

/** The mode that a class has now: the declared one, or `propose` where nothing is declared or it has fallen back. */
export function modeInForce(
  declared: Pick<RebalancingSpec, "mode"> | undefined,
  measured: readonly MeasuredPromise[],
  at: Millis,
): RebalancingMode {
  const mode = declared?.mode ?? "propose";
  const until = fallsBackUntil(measured);
  return mode === "auto" && until !== undefined && until > at ? "propose" : mode;
}
