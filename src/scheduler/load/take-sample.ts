import { type Millis, millis } from "../../domain/clock.ts";
import type { EnvironmentId, UnitId } from "../../domain/ids.ts";
import { addLoad, type LoadVector, ZERO_LOAD } from "../../domain/load.ts";
import { attributeLoad, type DestinationSignals, type ReconcileTime } from "./attribute-load.ts";
import type { CpuObservation, CpuWeights } from "./cpu-weights.ts";
import { firstLoad, nextLoad, type UnitLoad, wholeLoad } from "./planning-load.ts";
import type { Rates } from "./rates.ts";

/** A unit with what can be counted of it, and what was known of its load. */
export interface Counted {
  readonly unitId: UnitId;
  readonly epoch: number;
  readonly project: string;
  readonly destinations: readonly DestinationSignals[];
  readonly known: UnitLoad | undefined;
}

export interface Measurement {
  readonly at: Millis;
  readonly units: readonly Counted[];
  /** Absent: only counts could be taken. */
  readonly rates: Rates | undefined;
  /** The environment a server was made the address of; `undefined` for any other server. */
  readonly environmentOf: (server: string) => EnvironmentId | undefined;
  readonly weights: CpuWeights;
}

export interface Taken {
  readonly units: readonly { readonly unitId: UnitId; readonly epoch: number; readonly load: UnitLoad; readonly whole: LoadVector }[];
  /** Sum of what was measured now; CPU that was not is as it was known. */
  readonly total: LoadVector;
  readonly observation: Omit<CpuObservation, "instance"> | undefined;
}

/** How long ago a unit nobody knew is taken to have been as its number of applications lets expect. */
const UNKNOWN_MS = 300_000;

/**
 * What one look at an instance makes of the load of its units. Counts are as they are; CPU is dealt by weights where the page
 * told it and left as it was where it did not; Git requests are not measured yet, and follow from the number of applications.
 */
export function takeSample({ at, units, rates, environmentOf, weights }: Measurement): Taken {
  const signals = units.map((unit) => ({ ...unit, unit: unit.unitId, repositories: {} }));
  const reconcileMs = reconcileTimeOf(rates, environmentOf);
  const dealt = attributeLoad(signals, { milliCpu: 0, requestsPerMinute: {}, ...rates, reconcileMs, gitPerMinute: {} }, weights);
  let total = ZERO_LOAD;
  const taken = units.map((unit) => {
    const { milliCpu, ...counts } = dealt.get(unit.unitId) ?? ZERO_LOAD;
    const guess = firstLoad(counts.applications / 1_000, counts.clusterEntries);
    const known = unit.known ?? { planning: guess, recent: guess, at: millis(at - UNKNOWN_MS) };
    const sample = { ...counts, gitPerMinute: guess.gitPerMinute, ...(rates === undefined ? {} : { milliCpu }) };
    const load = nextLoad(known, { at, load: sample });
    total = addLoad(total, { ...sample, milliCpu: rates === undefined ? Math.ceil(load.planning.milliCpu) : milliCpu });
    return { unitId: unit.unitId, epoch: unit.epoch, load, whole: wholeLoad(load.planning) };
  });
  const { applications, cachedResources } = total;
  const requests = Object.values(rates?.requestsPerMinute ?? {}).reduce((sum, rate) => sum + rate, 0);
  const observation = rates && { milliCpu: rates.milliCpu, requests, resources: cachedResources, applications: applications / 1000 };
  return { units: taken, total, observation };
}

/** Environments have a server each; through all others goes what is shared. */
function reconcileTimeOf(rates: Rates | undefined, environmentOf: Measurement["environmentOf"]): ReconcileTime {
  const environments = new Map<EnvironmentId, number>();
  let shared = 0;
  for (const [server, time] of Object.entries(rates?.reconcileMs ?? {})) {
    const environment = environmentOf(server);
    if (environment === undefined) shared += time;
    else environments.set(environment, (environments.get(environment) ?? 0) + time);
  }
  return { shared, environments };
}
