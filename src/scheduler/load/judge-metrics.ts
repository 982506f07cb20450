import { type Millis, millis } from "../../domain/clock.ts";
import { LOAD_DIMENSIONS, type LoadDimension, type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { WHOLE } from "../policy.ts";

/** Whether measured load may move units. Distrust stops voluntary moves, says why, and is never an error. */
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
      /** When it is believed if it stays near what it is; absent in plans that were made before this was recorded. */
      readonly until?: Millis | undefined;
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
  /** A total that was not believed, and since when every total has been near it. */
  readonly rival?: { readonly total: LoadVector; readonly since: Millis } | undefined;
  /** What the class takes at this time of every week: to come near any of these is no jump. */
  readonly usual?: readonly LoadVector[];
  /** A change of up to this much is no jump, however small the total was; absent: zero. */
  readonly negligible?: LoadVector | undefined;
}

export const METRICS_LIMITS = {
  staleMs: 600_000,
  /** Least share of instances with a fresh report, ppm. */
  reporting: 950_000,
  /** Largest change of the fleet's total between two plans, up or down, ppm. */
  jump: 300_000,
  /** A change of up to this share of what one instance bears is no jump, ppm. */
  negligible: 250_000,
  /** After this long a level that was not believed is what the fleet now carries. */
  believedAfterMs: 24 * 60 * 60_000,
  /** A thousand million thousandths of an application: nothing real is beyond it. */
  largest: 1_000_000_000,
};

const TRUSTED: MetricsVerdict = { kind: "trusted" };

/** Counted in Argosy's own rows, not measured. More of it is what users made, and is believed; less of it may be missing rows. */
const COUNTED: readonly LoadDimension[] = ["applications", "clusterEntries", "gitPerMinute"];

/**
 * Decides whether the loads may move units that need not be moved. The first of these rules that applies: an impossible value; nothing
 * reported, or the newest report older than ten minutes; fewer than 95 % of the instances with a fresh report; a total that
 * differs by more than 30 %, and by more than is negligible, from the one last trusted (such as all zero, or ten times as much), and from what is
 * usual at this time of the week.
 */
export function judgeMetrics(question: MetricsQuestion): MetricsVerdict {
  const { now, reports } = question;
  if (reports.length === 0) return { kind: "distrusted", rule: "NONE" };
  return implausible(reports) ?? stale(now, reports) ?? partial(now, reports) ?? jump(question, totalOf(reports)) ?? TRUSTED;
}

/**
 * The change that is negligible for instances with these capacities: a quarter of what one of them bears on average. In a new fleet a few
 * applications are many times the total, and no voluntary move follows from so few. In a fleet in use this is less than 30 % anyway.
 */
export function negligibleFor(capacities: readonly LoadVector[]): LoadVector {
  if (capacities.length === 0) return ZERO_LOAD;
  return loadVector((dimension) => {
    const all = capacities.reduce((sum, capacity) => sum + capacity[dimension], 0);
    return Math.floor((all / capacities.length) * (METRICS_LIMITS.negligible / WHOLE));
  });
}

/** The first dimension in which one total is far from another: by more than 30 %, and by more than is negligible. */
export function farFrom(was: LoadVector, is: LoadVector, negligible: LoadVector = ZERO_LOAD): LoadDimension | undefined {
  return LOAD_DIMENSIONS.find((dimension) => {
    const change = Math.abs(is[dimension] - was[dimension]);
    return change > negligible[dimension] && change * WHOLE > was[dimension] * METRICS_LIMITS.jump;
  });
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
  // A report from the future comes from a wrong clock, and does not show how old it is.
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

function jump({ now, reference, rival, usual = [], negligible }: MetricsQuestion, total: LoadVector): MetricsVerdict | undefined {
  if (reference === undefined) return undefined;
  const jumped = (from: LoadVector): LoadDimension | undefined => farFrom(from, believedAfter(from, total), negligible);
  const dimension = jumped(reference);
  if (dimension === undefined || usual.some((each) => jumped(each) === undefined)) return undefined;
  const since = rival !== undefined && farFrom(rival.total, total, negligible) === undefined ? rival.since : now;
  const { jump: limit, believedAfterMs } = METRICS_LIMITS;
  const change = { was: reference[dimension], is: total[dimension], limit, until: millis(since + believedAfterMs) };
  return { kind: "distrusted", rule: "JUMP", dimension, ...change };
}

/** The total without the changes that are always believed. From zero every one is: a first application is no jump. */
function believedAfter(from: LoadVector, total: LoadVector): LoadVector {
  return loadVector((dimension) => {
    const [was, is] = [from[dimension], total[dimension]];
    return was === 0 || (is > was && COUNTED.includes(dimension)) ? was : is;
  });
}
