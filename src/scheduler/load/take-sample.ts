import { type Millis, millis } from "../../domain/clock.ts";
import type { EnvironmentId, UnitId } from "../../domain/ids.ts";
import { addLoad, asLoadVector, documentAmount, type LoadVector, ZERO_LOAD } from "../../domain/load.ts";
import { attributeLoad, type ComparisonRate, type InstanceSignals, type UnitSignals } from "./attribute-load.ts";
import type { CpuObservation, CpuWeights } from "./cpu-weights.ts";
import { firstLoad, nextLoad, type UnitLoad, wholeLoad } from "./planning-load.ts";
import type { Rates } from "./rates.ts";

/** A unit with what can be counted of it, and what was known of its load. */
export interface CountedLoad extends Omit<UnitSignals, "unit"> {
  readonly unitId: UnitId;
  readonly epoch: number;
  readonly known: UnitLoad | undefined;
}

export interface Measurement {
  readonly at: Millis;
  readonly units: readonly CountedLoad[];
  /** Absent: only counts could be taken. */
  readonly rates: Rates | undefined;
  /** The environment whose cluster entry has this server; `undefined` for any other server. */
  readonly environmentOf: (server: string) => EnvironmentId | undefined;
  readonly weights: CpuWeights;
}

export interface SampledLoads {
  readonly units: readonly { readonly unitId: UnitId; readonly epoch: number; readonly load: UnitLoad; readonly whole: LoadVector }[];
  /** Sum of what was measured now; CPU that was not is as it was known. */
  readonly total: LoadVector;
  readonly observation: Omit<CpuObservation, "instance"> | undefined;
}

/** A unit of which no load is known is taken to have had the usual load of so many applications this long ago, in ms. */
const UNKNOWN_MS = 300_000;

/**
 * The load of an instance's units after one more sample. Counts are taken as they are. CPU is dealt by weights if the page had it, else
 * left as it was. Git requests are derived from the number of applications: they can be measured only where pods can be reached, and a
 * load that is measured only sometimes would jump.
 */
export function takeSample({ at, units, rates, environmentOf, weights }: Measurement): SampledLoads {
  const signals = units.map((unit) => ({ ...unit, unit: unit.unitId }));
  const dealt = attributeLoad(signals, signalsOf(rates, environmentOf), weights);
  let total = ZERO_LOAD;
  const taken = units.map((unit) => {
    const { milliCpu, ...counts } = dealt.get(unit.unitId) ?? { applications: 0, clusterEntries: 0, cachedResources: 0, milliCpu: 0 };
    const guess = firstLoad(documentAmount(counts.applications, "applications"), counts.clusterEntries);
    const known = unit.known ?? { planning: guess, recent: guess, at: millis(at - UNKNOWN_MS) };
    const sample = { ...counts, gitPerMinute: guess.gitPerMinute, ...(rates === undefined ? {} : { milliCpu }) };
    const load = nextLoad(known, { at, load: sample });
    total = addLoad(total, asLoadVector({ ...sample, milliCpu: rates === undefined ? Math.ceil(load.planning.milliCpu) : milliCpu }));
    return { unitId: unit.unitId, epoch: unit.epoch, load, whole: wholeLoad(load.planning) };
  });
  const { applications, cachedResources } = total;
  const requests = Object.values(rates?.requestsPerMinute ?? {}).reduce((sum, rate) => sum + rate, 0);
  const observation = rates && {
    milliCpu: rates.milliCpu,
    requests,
    resources: cachedResources,
    applications: documentAmount(applications, "applications"),
  };
  return { units: taken, total, observation };
}

const NOTHING: Rates = { milliCpu: 0, requestsPerMinute: {}, reconcileMs: {}, reconciliations: {}, git: undefined };

/** Each environment has a server of its own; all others belong to the entry that units share. */
export function signalsOf(rates: Rates = NOTHING, environmentOf: Measurement["environmentOf"]): InstanceSignals {
  const environments = new Map<EnvironmentId, ComparisonRate>();
  let shared: ComparisonRate = { count: 0, ms: 0 };
  for (const [server, ms] of Object.entries(rates.reconcileMs)) {
    const environment = environmentOf(server);
    const more = (to: ComparisonRate | undefined) => ({
      count: (to?.count ?? 0) + (rates.reconciliations[server] ?? 0),
      ms: (to?.ms ?? 0) + ms,
    });
    if (environment === undefined) shared = more(shared);
    else environments.set(environment, more(environments.get(environment)));
  }
  const { milliCpu, requestsPerMinute, git } = rates;
  return { milliCpu, requestsPerMinute, shared, environments, git };
}
