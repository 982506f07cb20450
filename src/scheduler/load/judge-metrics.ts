import { type Millis, millis } from "../../domain/clock.ts";
import { LOAD_DIMENSIONS, type LoadDimension, type LoadVector, loadVector } from "../../domain/load.ts";
import { WHOLE } from "../policy.ts";

/** Whether measured load may move anybody. Distrust stops what is voluntary, says why, and is never an error. */
export type MetricsVerdict =
  | { readonly kind: "trusted" }
  | { readonly kind: "distrusted"; readonly rule: "NONE" }
  /** A load that cannot be: negative, not a number, beyond all reason. */
  | { readonly kind: "distrusted"; readonly rule: "IMPLAUSIBLE"; readonly subject: string; readonly dimension: LoadDimension }
  | { readonly kind: "distrusted"; readonly rule: "STALE"; readonly newest: Millis; readonly ageMs: number; readonly limitMs: number }
  | { readonly kind: "distrusted"; readonly rule: "PARTIAL"; readonly reporting: number; readonly of: number; readonly limit: number }
  /** The fleet's total changed more than fleets do. Shares are ppm of the total that was last trusted. */
  | {
      readonly kind: "distrusted";
      readonly rule: "JUMP";
      readonly dimension: LoadDimension;
      readonly was: number;
      readonly is: number;
      readonly limit: number;
    };

/** What one instance last reported of its units' load. */
export interface InstanceReport {
  readonly instance: string;
  /** Absent: it never reported. */
  readonly at?: Millis | undefined;
  readonly total: LoadVector;
}

export interface MetricsQuestion {
  readonly now: Millis;
  readonly reports: readonly InstanceReport[];
  /** The totals that were last trusted; absent before the first plan. */
  readonly reference?: LoadVector | undefined;
}

export const METRICS_LIMITS = {
  staleMs: 600_000,
  /** Least share of instances with a fresh report, ppm. */
  reporting: 950_000,
  /** Largest change of the fleet's total between two plans, up or down, ppm. */
  jump: 300_000,
  /** A thousand million thousandths of an application: nothing real is beyond it. */
  largest: 1_000_000_000,
};

const TRUSTED: MetricsVerdict = { kind: "trusted" };

/**
 * Decides whether the loads may move anybody who need not be moved. Rules, first that bites: a value that cannot be; nothing
 * reported, or the newest report older than ten minutes; fewer than 95 % of the instances with a fresh report; a total that
 * differs by more than 30 % from the one last trusted (all zero and ten times as much are such).
 */
export function judgeMetrics({ now, reports, reference }: MetricsQuestion): MetricsVerdict {
  if (reports.length === 0) return { kind: "distrusted", rule: "NONE" };
  return implausible(reports) ?? stale(now, reports) ?? partial(now, reports) ?? jump(totalOf(reports), reference) ?? TRUSTED;
}

/** Whether a number can be a load: a whole number from zero to what is far beyond any instance. */
export function isPlausible(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= METRICS_LIMITS.largest;
}

/** Sum of what the instances reported. */
export function totalOf(reports: readonly InstanceReport[]): LoadVector {
  return loadVector((dimension) => reports.reduce((sum, { total }) => sum + total[dimension], 0));
}

function implausible(reports: readonly InstanceReport[]): MetricsVerdict | undefined {
  for (const { instance: subject, total } of byInstance(reports))
    for (const dimension of LOAD_DIMENSIONS)
      if (!isPlausible(total[dimension])) return { kind: "distrusted", rule: "IMPLAUSIBLE", subject, dimension };
  return undefined;
}

function byInstance(reports: readonly InstanceReport[]): readonly InstanceReport[] {
  return [...reports].sort((a, b) => (a.instance < b.instance ? -1 : 1));
}

function isFresh(now: Millis, { at }: InstanceReport): boolean {
  // A report from the future is a clock that is wrong, and tells nothing about how old it is.
  return at !== undefined && Math.abs(now - at) <= METRICS_LIMITS.staleMs;
}

function stale(now: Millis, reports: readonly InstanceReport[]): MetricsVerdict | undefined {
  const times = reports.flatMap(({ at }) => at ?? []);
  if (times.length === 0) return { kind: "distrusted", rule: "NONE" };
  if (reports.some((report) => isFresh(now, report))) return undefined;
  const newest = millis(Math.max(...times));
  return { kind: "distrusted", rule: "STALE", newest, ageMs: now - newest, limitMs: METRICS_LIMITS.staleMs };
}

function partial(now: Millis, reports: readonly InstanceReport[]): MetricsVerdict | undefined {
  const reporting = reports.filter((report) => isFresh(now, report)).length;
  const { reporting: limit } = METRICS_LIMITS;
  if (reporting * WHOLE >= reports.length * limit) return undefined;
  return { kind: "distrusted", rule: "PARTIAL", reporting, of: reports.length, limit };
}

function jump(total: LoadVector, reference: LoadVector | undefined): MetricsVerdict | undefined {
  if (reference === undefined) return undefined;
  const { jump: limit } = METRICS_LIMITS;
  for (const dimension of LOAD_DIMENSIONS) {
    const [was, is] = [reference[dimension], total[dimension]];
    // What was nothing yet may become anything: a first application is no jump.
    if (was > 0 && Math.abs(is - was) * WHOLE > was * limit) return { kind: "distrusted", rule: "JUMP", dimension, was, is, limit };
  }
  return undefined;
}
