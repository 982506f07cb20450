import type { BoundReading, Calibration, CalibrationBound, CalibrationFacts } from "../../domain/calibration.ts";
import type { HealthSample, SignalName } from "../../domain/health.ts";
import { type LoadDimension, type LoadVector, leastInDocuments, loadVector } from "../../domain/load.ts";
import { fitLine } from "./fit-line.ts";

/** The signal that shows how much of a bound is used, and up to where that may go. */
const BOUNDS: Readonly<Record<CalibrationBound, { readonly signal: SignalName; readonly limit: number }>> = {
  // Beyond it waits grow faster than load does: at 0.7 a comparison waits about twice as long as it takes.
  workers: { signal: "utilisation", limit: 0.7 },
  // A controller that restarts takes 1.35 times what it takes later, which has to fit too (default-capacity.ts).
  memory: { signal: "controllerMemory", limit: 1 / 1.35 },
};
/** The bounds that each dimension uses up. */
const TAKES: Readonly<Record<LoadDimension, readonly CalibrationBound[]>> = {
  applications: ["workers", "memory"],
  clusterEntries: ["memory"],
  cachedResources: ["memory"],
  milliCpu: ["workers"],
  gitPerMinute: ["workers"],
};

/** Five minutes of samples: two resyncs of Argo CD, each with its wave of comparisons. */
export const LEAST_OBSERVATIONS = 20;
/** A line is believed up to three times as far as there are samples. */
const LEAST_SHARE = 1 / 3;
const LEAST_FIT = 0.5;
/** Comparisons that wait this long are too many, in s: more load would not show in the workers any more. */
const SATURATED_S = 10;
/** A burst that is over within fewer samples says little about what the instance bears. */
const OVERLOADED_SAMPLES = 3;

/**
 * Learns what an instance bears from samples under load. It fits a line to how much of its workers' time and of its controller's memory
 * the applications took, and finds how many like them there may be until the first of the two bounds is reached. Other dimensions grow
 * in proportion to their bound. A dimension of which there was nothing keeps its declared capacity, and CPU is never more than was given.
 */
export function calibrate({ samples, load, capacity, isRaised }: CalibrationFacts): Calibration {
  const readings = (Object.keys(BOUNDS) as CalibrationBound[]).flatMap((bound) => readBound(bound, samples) ?? []);
  const first = readings.toSorted((a, b) => a.bears - b.bears)[0];
  const applications = samples.findLast(({ signals }) => signals.applications !== undefined)?.signals.applications ?? 0;
  const fitted = first === undefined || applications === 0 ? undefined : fittedCapacity({ load, capacity, readings, applications });
  return {
    ...{ from: samples[0]?.at, until: samples.at(-1)?.at, readings, binding: first?.bound, applications, declared: capacity, fitted },
    doubts: [...doubtsOf(samples, first), ...(isRaised ? [RAISED] : [])],
  };
}

/** What it bears says nothing of the others of its pool. */
const RAISED = "it was given more resources than its pool declares, so that it bears more than others do: load another one";

function readBound(bound: CalibrationBound, samples: readonly HealthSample[]): BoundReading | undefined {
  const { signal, limit } = BOUNDS[bound];
  const points = samples.flatMap(({ signals }) => {
    const [x, y] = [signals.applications, signals[signal]];
    return x === undefined || y === undefined || x === 0 || isSaturated(signals) ? [] : [{ x, y }];
  });
  const line = fitLine(points);
  if (line === undefined || line.slope === 0) return undefined;
  const among = points.map(({ x }) => x);
  return {
    ...{ bound, limit, observations: points.length, highest: Math.max(...points.map(({ y }) => y)) },
    applications: [Math.min(...among), Math.max(...among)],
    ...{ base: line.base, perApplication: line.slope, fit: line.fit, bears: Math.max(0, Math.floor((limit - line.base) / line.slope)) },
  };
}

function isSaturated(signals: HealthSample["signals"]): boolean {
  return signals.isChanging === 1 || isOverloaded(signals);
}

/** A wait while parts of the instance restart does not show that its applications are too many. */
function isOverloaded({ queueWaitS = 0, isChanging }: HealthSample["signals"]): boolean {
  return queueWaitS > SATURATED_S && isChanging !== 1;
}

interface Fitting extends Pick<CalibrationFacts, "load" | "capacity"> {
  readonly readings: readonly BoundReading[];
  readonly applications: number;
}

function fittedCapacity({ load, capacity, readings, applications }: Fitting): LoadVector {
  return loadVector((dimension) => {
    const bears = readings.flatMap((reading) => (TAKES[dimension].includes(reading.bound) ? [reading.bears] : []));
    if (bears.length === 0 || (load[dimension] === 0 && dimension !== "applications")) return capacity[dimension];
    const unit = leastInDocuments(dimension);
    const held = dimension === "applications" ? applications * unit : load[dimension];
    // A capacity is never 0: nothing would ever fit there.
    const whole = Math.max(1, Math.floor((held * Math.min(...bears)) / applications / unit)) * unit;
    return dimension === "milliCpu" ? Math.min(whole, capacity.milliCpu) : whole;
  });
}

function doubtsOf(samples: readonly HealthSample[], first: BoundReading | undefined): readonly string[] {
  if (first === undefined)
    return ["no sample shows both how many applications there were and what they took: is the health role on, and is the instance loaded?"];
  const { bound, observations, highest, limit, base, fit, bears } = first;
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const tooMany = samples.flatMap(({ signals }) => (isOverloaded(signals) ? (signals.applications ?? []) : []));
  const fewestTooMany = Math.min(...tooMany);
  const saturated = samples.filter(({ signals }) => isSaturated(signals)).length;
  return [
    bears < 1 &&
      `without any application ${percent(base)} of its ${bound} would be in use, and ${percent(limit)} is the most: give it more`,
    observations < LEAST_OBSERVATIONS && `${observations} samples are too few: wait until there are ${LEAST_OBSERVATIONS}`,
    highest < limit * LEAST_SHARE &&
      `${bound} were seen at ${percent(highest)} at most, of ${percent(limit)}: load it to ${percent(limit * LEAST_SHARE)} at least`,
    fit !== undefined && fit < LEAST_FIT && `applications explain ${percent(fit)} of how ${bound} varied: something else took them`,
    bound === "workers" && highest > 1 && "its workers were all busy: what was seen is beyond what it bears",
    tooMany.length >= OVERLOADED_SAMPLES &&
      fewestTooMany < bears &&
      `${fewestTooMany} applications were more than it can bear in ${tooMany.length} samples: what they do varies more than how many there are`,
    saturated > samples.length / 2 &&
      `in ${saturated} of ${samples.length} samples it was being changed, or overloaded, which shows nothing`,
  ].filter((doubt) => doubt !== false);
}
