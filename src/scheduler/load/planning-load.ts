import type { Millis } from "../../domain/clock.ts";
import { asLoadVector, type LoadAmounts, type LoadDimension, type LoadVector, loadVector } from "../../domain/load.ts";
import { isPlausible } from "./judge-metrics.ts";

/**
 * What is known of a unit's load: what plans are made with, and what it does now. With fractions, because a sample changes a
 * mean over 24 hours by a three-hundredth of its difference: in whole thousandths of a core most units would stand still for
 * ever. `wholeLoad` makes a plan's numbers of it.
 */
export interface UnitLoad {
  readonly planning: LoadVector;
  /** Rises with a sample and falls over ten minutes: what counts on an instance that is overloaded. */
  readonly recent: LoadVector;
  /** When it was last measured. */
  readonly at: Millis;
}

/** One measurement; a dimension that is absent was not measured. */
export interface PlanningSample {
  readonly at: Millis;
  readonly load: Partial<LoadAmounts>;
}

const MINUTE_MS = 60_000;
const PLANNING_MS = 24 * 60 * MINUTE_MS;
const RECENT_MS = 10 * MINUTE_MS;

/** Counted, not measured: taken as they are, because a mean would be wrong for a day. */
export const COUNTED: readonly LoadDimension[] = ["applications", "clusterEntries", "cachedResources"];

/**
 * A unit's load after one more sample. For planning, CPU and Git requests are exponential means over 24 hours, weighted by the
 * time since the last sample: noise and peaks of an hour move nobody, a lasting change does within a day. Counts are taken as
 * they are. The present load is the sample while it rises, for a mean of ten minutes shows a tenth of a flood after one.
 *
 * A value that cannot be a load, or was not measured, leaves its dimension as it was: load ages, it does not vanish with its
 * sample. A sample that is no newer than the last one changes nothing.
 */
export function nextLoad(known: UnitLoad, sample: PlanningSample): UnitLoad {
  const elapsedMs = sample.at - known.at;
  if (!(elapsedMs > 0)) return known;
  const follow = (was: LoadVector, next: (was: number, value: number) => number): LoadVector =>
    loadVector((dimension) => {
      const value = sample.load[dimension];
      if (value === undefined || !isPlausible(value)) return was[dimension];
      return COUNTED.includes(dimension) ? value : next(was[dimension], value);
    });
  return {
    planning: follow(known.planning, (was, value) => ewma(was, value, elapsedMs / PLANNING_MS)),
    recent: follow(known.recent, (was, value) => presentLoad(was, value, elapsedMs)),
    at: sample.at,
  };
}

/** What a unit does now: at once what it was measured to do, and down again over ten minutes. */
export function presentLoad(was: number, sample: number, elapsedMs: number): number {
  return sample >= was ? sample : ewma(was, sample, elapsedMs / RECENT_MS);
}

/** Exponential mean after one more sample; `elapsed` is the time since the last one in units of the mean's own time. */
export function ewma(was: number, sample: number, elapsed: number): number {
  return was + (sample - was) * (1 - Math.exp(-elapsed));
}

/** A load as plans are made with it: whole numbers, rounded up. */
export function wholeLoad(load: LoadVector): LoadVector {
  return loadVector((dimension) => Math.ceil(load[dimension]));
}

/**
 * Load of a unit nobody has measured yet, by its number of applications. Per application: a dozen cached resources, a quarter
 * of a per cent of a core and a Git request in two minutes, which is what a small application on the default settings of Argo CD
 * 3.5 costs when it is compared every two to three minutes.
 */
export function firstLoad(applications: number, clusterEntries: number): LoadVector {
  const count = Math.max(0, Math.floor(applications));
  return asLoadVector({
    applications: count * 1_000,
    clusterEntries,
    cachedResources: count * 12,
    milliCpu: Math.ceil(count * 2.5),
    gitPerMinute: count * 500,
  });
}
