import type { DemandHistory } from "../../domain/capacity.ts";
import { type Millis, millis } from "../../domain/clock.ts";
import { type LOAD_DIMENSIONS, type LoadAmounts, type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { PeakWindow } from "../../domain/peaks.ts";
import { COUNTED } from "../load/planning-load.ts";

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const WEEK_HOURS = 7 * DAY_HOURS;
/** How far back hours are known that a forecast takes as an example, in ms: those of a day ahead, a week before. */
export const KNOWN_MS = (WEEK_HOURS + 2) * HOUR_MS;
/** An hour of the day or week before counts for so long after its end. */
const LATE_MS = 2 * HOUR_MS;

const hourOf = (at: number): number => Math.floor(at / HOUR_MS);
const slotOf = (hour: number): string => String(hour % WEEK_HOURS);
const larger = (a: LoadAmounts, b: LoadAmounts): LoadVector => loadVector((dimension) => Math.max(a[dimension], b[dimension]));

/** The history after one more measurement of the whole class. */
export function nextDemand(known: DemandHistory | undefined, load: LoadAmounts, at: Millis): DemandHistory {
  const hour = hourOf(at);
  const slot = slotOf(hour);
  const was = known?.hours[slot];
  const isSameHour = was !== undefined && hourOf(was.at) === hour;
  const isWeekAgo = was !== undefined && hourOf(was.at) === hour - WEEK_HOURS;
  const next = {
    at: millis(hour * HOUR_MS),
    load: isSameHour ? larger(was.load, load) : load,
    before: isSameHour ? was.before : isWeekAgo ? was.load : undefined,
  };
  return { hours: { ...known?.hours, [slot]: next } };
}

/** How much more than a week ago the class takes on the whole: at least nine tenths, at most half as much again. */
const GROWTH = { least: 0.9, most: 1.5, hours: 12 } as const;
/** How much more than expected the present may be for what is to come to be expected larger by as much, and how long that is expected to last, in ms. */
const SURGE = { most: 2, lastsMs: 6 * HOUR_MS } as const;

export interface Outlook {
  readonly at: Millis;
  readonly untilMs: number;
  /** What the class takes at this hour. A mean of a day is no measure for that: it is above every night, as if each night were a launch. */
  readonly present: LoadAmounts;
  /** All declared peaks that hold from {@link KNOWN_MS} ago until `untilMs` from now; absent: none. */
  readonly peaks?: readonly PeakWindow[];
}

/**
 * The most that the class is expected to take from now until `untilMs` later, in each dimension. An hour is expected to be what it was one week ago,
 * or one day ago where nothing older is known, larger by what the last day has grown since the week before; and for hours by what the
 * present is above what was expected of it. `least` is the least that is expected. Without any history that is all.
 *
 * Within a declared peak at least its factor of what is measured without one: of the most that the day to come takes by those hours that had no peak, and of the
 * least. What is counted does not change by itself, and is expected as it is. Of peaks that hold at once the largest counts.
 */
export function forecastPeak(
  history: DemandHistory | undefined,
  least: LoadAmounts,
  { at, untilMs, present, peaks = [] }: Outlook,
): LoadVector {
  const growth = growthOf(history, at);
  const expected = (hour: number): Example | undefined => weekly(history, hour, growth) ?? known(history, hour - DAY_HOURS);
  const factorNow = factorWithin(peaks, at, at);
  const usual = usualOf(expected, peaks, at);
  const ofNow = larger(expected(hourOf(at))?.load ?? ZERO_LOAD, times(usual, factorNow > 1 ? factorNow : 0));
  const surge = loadVector((dimension) => {
    const was = ofNow[dimension];
    return was === 0 ? 1 : Math.min(SURGE.most, Math.max(1, present[dimension] / was));
  });
  let peak = loadVector((dimension) => least[dimension]);
  for (let hour = hourOf(at); hour <= hourOf(at + untilMs); hour += 1) {
    const next = expected(hour)?.load;
    const isSurging = hour <= hourOf(at + SURGE.lastsMs);
    if (next !== undefined)
      peak = larger(
        peak,
        loadVector((dimension) => next[dimension] * (isSurging ? surge[dimension] : 1)),
      );
  }
  const without = (by: LoadAmounts): LoadVector =>
    loadVector((dimension) => Math.max(least[dimension] / factorNow, usual[dimension] * by[dimension]));
  const within = (untilLater: number, by: LoadAmounts): LoadVector => {
    const factor = factorWithin(peaks, at, at + untilLater);
    return factor > 1 ? times(without(by), factor) : ZERO_LOAD;
  };
  const declared = larger(within(Math.min(untilMs, SURGE.lastsMs), surge), within(untilMs, ONCE));
  return loadVector((dimension) => Math.ceil(Math.max(peak[dimension], declared[dimension])));
}

const ONCE = loadVector(() => 1);

/**
 * What the class takes at this time of every week, by the week before and what it has grown: in this hour, and in the next, because the most of an hour does not
 * show that it fell. Empty until a week is known.
 */
export function usualLoads(history: DemandHistory | undefined, at: Millis): readonly LoadVector[] {
  const growth = growthOf(history, at);
  return [0, 1].flatMap((later) => weekly(history, hourOf(at) + later, growth)?.load ?? []);
}

/** The history with hours that were measured beside it, and were not believed then. */
export function withDemand(known: DemandHistory | undefined, doubted: DemandHistory | undefined): DemandHistory | undefined {
  const hours = Object.values(doubted?.hours ?? {}).toSorted((a, b) => a.at - b.at);
  return hours.reduce<DemandHistory | undefined>((history, { load, at }) => nextDemand(history, load, at), known);
}

/** An hour that was measured, counted from the epoch, and what the class took then. */
interface Example {
  readonly hour: number;
  readonly load: LoadVector;
}

/** An hour as it was a week ago, larger by what the class has grown. */
function weekly(history: DemandHistory | undefined, hour: number, growth: LoadVector): Example | undefined {
  const week = known(history, hour - WEEK_HOURS);
  return week && { hour: week.hour, load: loadVector((dimension) => week.load[dimension] * growth[dimension]) };
}

/** The most that a day to come takes by examples that no peak touched. */
function usualOf(expected: (hour: number) => Example | undefined, peaks: readonly PeakWindow[], at: Millis): LoadVector {
  let usual = ZERO_LOAD;
  for (let hour = hourOf(at); hour <= hourOf(at) + DAY_HOURS; hour += 1) {
    const example = expected(hour);
    if (example === undefined) continue;
    const [from, until] = [example.hour * HOUR_MS, (example.hour + 1) * HOUR_MS - 1];
    if (factorWithin(peaks, from, until) === 1) usual = larger(usual, example.load);
  }
  return usual;
}

/** The largest factor of peaks that hold at any time from `from` to `until`; 1 where none does. */
function factorWithin(peaks: readonly PeakWindow[], from: number, until: number): number {
  return Math.max(1, ...peaks.filter((one) => one.from <= until && one.until > from).map(({ peak }) => peak.factor ?? 1));
}

/** So many times what is measured. What is counted is nothing then. */
function times(load: LoadVector, factor: number): LoadVector {
  return loadVector((dimension) => (COUNTED.includes(dimension) ? 0 : load[dimension] * factor));
}

/** What was measured in this very hour; the hour before stands in for one that was missed. */
function known(history: DemandHistory | undefined, hour: number): Example | undefined {
  for (const each of [hour, hour - 1]) {
    const found = history?.hours[slotOf(each)];
    if (found === undefined) continue;
    if (hourOf(found.at) === each) return { hour: each, load: loadVector((dimension) => found.load[dimension]) };
    // It was measured again since.
    if (hourOf(found.at) === each + WEEK_HOURS && found.before !== undefined) return { hour: each, load: found.before as LoadVector };
  }
  return undefined;
}

/** The last day beside the same hours of the week before, in each dimension; 1 where too few of them are known. */
function growthOf(history: DemandHistory | undefined, at: Millis): LoadVector {
  const since = at - DAY_HOURS * HOUR_MS - LATE_MS;
  const pairs = Object.values(history?.hours ?? {}).flatMap((hour) =>
    hour.at >= since && hour.before !== undefined ? [[hour.load, hour.before] as const] : [],
  );
  if (pairs.length < GROWTH.hours) return loadVector(() => 1);
  const sum = (side: 0 | 1, dimension: (typeof LOAD_DIMENSIONS)[number]): number =>
    pairs.reduce((total, pair) => total + pair[side][dimension], 0);
  return loadVector((dimension) => {
    const before = sum(1, dimension);
    return before === 0 ? 1 : Math.min(GROWTH.most, Math.max(GROWTH.least, sum(0, dimension) / before));
  });
}
