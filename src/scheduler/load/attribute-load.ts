import type { EnvironmentId, UnitId } from "../../domain/ids.ts";
import type { LoadAmounts } from "../../domain/load.ts";
import { apportion } from "./apportion.ts";
import type { CpuWeights } from "./cpu-weights.ts";
import { dealComparisons } from "./deal-comparisons.ts";
import { isPlausible } from "./judge-metrics.ts";
import type { GitRates, PerMinute } from "./rates.ts";

/** What a unit deploys to one destination. */
export interface DestinationSignals {
  /** Its own namespace, through the cluster entry all units share. */
  readonly isOwn: boolean;
  /** Environments whose cluster entries lead there, if it is not its own namespace. */
  readonly environments: readonly EnvironmentId[];
  readonly applications: number;
  readonly resources: number;
}

/** What is known of one unit on an instance when its load is measured. Projects and repositories are named as in the instance's metrics. */
export interface UnitSignals {
  readonly unit: UnitId;
  /** Its AppProjects: the label by which the controller's metrics tell workspaces apart. */
  readonly projects: readonly string[];
  readonly destinations: readonly DestinationSignals[];
  /** How many of its applications read each repository. */
  readonly repositories: Readonly<Record<string, number>>;
}

/** What an instance's metrics say, parsed and summed on arrival: no label of an application or resource survives that. */
export interface InstanceSignals {
  /** CPU of the controller, thousandths of a core. */
  readonly milliCpu: number;
  /** Calls to Kubernetes a minute, by project (`argocd_app_k8s_request_total`). */
  readonly requestsPerMinute: PerMinute;
  /** Comparisons (`argocd_app_reconcile`) through the cluster entry that all units share, and through those of environments. */
  readonly shared: ComparisonRate;
  readonly environments: ReadonlyMap<EnvironmentId, ComparisonRate>;
  /** How often repositories were asked (`argocd_git_request_total`); absent: not known. */
  readonly git: GitRates | undefined;
}

/** How often in a minute, and how many ms that took. */
export interface ComparisonRate {
  readonly count: number;
  readonly ms: number;
}

/** Comparisons of an application per minute that the weights assume: one in two to three minutes. */
const USUAL_PACE = 0.4;

/**
 * Deals an instance's measured load to the units it holds, in whole numbers that add up to what was measured.
 *
 * Counts are each unit's own. CPU beyond what an empty instance takes is dealt in proportion to the time that was spent on comparing
 * each unit's applications. For the cluster entry of an environment this time is known. Of the time of the entry that all units share,
 * what Git took goes to the units whose repositories were asked. The rest is dealt by how often each unit was compared (see
 * `dealComparisons`), and by what a comparison of its applications and resources, and its requests, cost by the fitted weights. So is
 * all CPU if no time was measured. What cannot be measured, or belongs to no unit here, is dealt to nobody.
 */
export function attributeLoad(
  units: readonly UnitSignals[],
  signals: InstanceSignals,
  weights: CpuWeights,
): ReadonlyMap<UnitId, Omit<LoadAmounts, "gitPerMinute">> {
  const sorted = [...units].sort((a, b) => (a.unit < b.unit ? -1 : 1));
  const cpu = apportion(Math.max(0, measured(signals.milliCpu) - weights.base), workOf(sorted, signals, weights));
  return new Map(
    sorted.map(({ unit, destinations }, index) => [
      unit,
      {
        applications: sumOf(destinations, "applications") * 1_000,
        clusterEntries: destinations.filter(({ isOwn }) => !isOwn).length,
        cachedResources: sumOf(destinations, "resources"),
        milliCpu: cpu[index] as number,
      },
    ]),
  );
}

/** How much work each unit's comparisons were, in a measure of no meaning; after the last unit, the work that belongs to no unit here. */
export function workOf(units: readonly UnitSignals[], signals: InstanceSignals, weights: CpuWeights): readonly number[] {
  const work = new Array<number>(units.length + 1).fill(0);
  const give = (index: number, amount: number): void => {
    work[index] = (work[index] as number) + amount;
  };
  const parts = partsOf(units, signals);
  for (const { rate, isThrough } of entriesOf(signals)) {
    const through = parts.filter((part) => isThrough(part));
    const dealt = workThrough(through, rate, weights);
    for (const [place, { index }] of through.entries()) give(index, dealt[place] as number);
    if (dealt.every((amount) => amount === 0)) give(units.length, rate.ms);
  }
  return work;
}

/** How often each unit's applications were compared in a minute; after the last unit, comparisons of no unit here. All zero where that is not known. */
export function comparisonsOf(units: readonly UnitSignals[], signals: InstanceSignals): readonly number[] {
  const sums = new Array<number>(units.length + 1).fill(0);
  const parts = partsOf(units, signals);
  for (const { rate, isThrough } of entriesOf(signals)) {
    const through = parts.filter((part) => isThrough(part));
    const dealt = dealComparisons(rate.count, through);
    for (const [place, { index }] of through.entries()) sums[index] = (sums[index] as number) + (dealt[place] as number);
    if (dealt.every((count) => count === 0)) sums[units.length] = (sums[units.length] as number) + rate.count;
  }
  return sums;
}

/** A unit's share of what was measured, for one of its destinations. */
interface Part extends DestinationSignals {
  /** Index of the unit. */
  readonly index: number;
  readonly requests: number;
  readonly repositories: number;
  readonly gitRequests: number;
  readonly gitMs: number;
}

function partsOf(units: readonly UnitSignals[], { requestsPerMinute, git }: InstanceSignals): readonly Part[] {
  const [gitRequests, gitMs] = [byReader(units, git?.requests ?? {}), byReader(units, git?.ms ?? {})];
  return units.flatMap(({ projects, destinations, repositories }, index) => {
    const requests = projects.reduce((sum, project) => sum + possible(requestsPerMinute[project] ?? 0), 0);
    const all = Math.max(1, sumOf(destinations, "applications"));
    return destinations.map((destination) => {
      const share = measured(destination.applications) / all;
      return {
        ...{ ...destination, applications: measured(destination.applications), resources: measured(destination.resources), index },
        requests: requests * share,
        repositories: Object.keys(repositories).length * share,
        gitRequests: (gitRequests[index] as number) * share,
        gitMs: (gitMs[index] as number) * share,
      };
    });
  });
}

/** Deals what was measured for each repository to the units, by how many of their applications read it. */
function byReader(units: readonly UnitSignals[], rates: PerMinute): readonly number[] {
  const sums = units.map(() => 0);
  for (const [repository, rate] of Object.entries(rates)) {
    const readers = units.map(({ repositories }) => measured(repositories[repository] ?? 0));
    const all = readers.reduce((a, b) => a + b, 0);
    if (all > 0) for (const [index, own] of readers.entries()) sums[index] = (sums[index] as number) + (possible(rate) * own) / all;
  }
  return sums;
}

interface Entry {
  readonly rate: ComparisonRate;
  readonly isThrough: (destination: DestinationSignals) => boolean;
}

/** Cluster entries with the time spent through each; all as one if no time was measured. */
function entriesOf({ shared, environments }: InstanceSignals): readonly Entry[] {
  const possibly = ({ count, ms }: ComparisonRate): ComparisonRate => ({ count: possible(count), ms: possible(ms) });
  const entries: readonly Entry[] = [
    { rate: possibly(shared), isThrough: ({ isOwn }) => isOwn },
    ...[...environments].map(([id, rate]) => ({
      rate: possibly(rate),
      isThrough: (destination: DestinationSignals) => destination.environments.includes(id),
    })),
  ];
  return entries.some(({ rate }) => rate.ms > 0) ? entries : [{ rate: { count: 0, ms: 1 }, isThrough: () => true }];
}

/** Deals the time spent through one entry to what went through it; nothing where nothing weighs anything. */
function workThrough(parts: readonly Part[], { count, ms }: ComparisonRate, weights: CpuWeights): readonly number[] {
  const comparisons = dealComparisons(count, parts);
  const costs = parts.map(({ applications, resources, requests }, place) => {
    const pace = count > 0 && applications > 0 ? (comparisons[place] as number) / (applications * USUAL_PACE) : 1;
    return (applications * weights.application + resources * weights.resource) * pace + requests * weights.request;
  });
  const cost = costs.reduce((a, b) => a + b, 0);
  if (cost <= 0) return parts.map(() => 0);
  const gitMs = parts.reduce((sum, part) => sum + part.gitMs, 0);
  const ofGit = gitMs > ms ? ms / gitMs : 1;
  const rest = ms - gitMs * ofGit;
  return parts.map((part, place) => part.gitMs * ofGit + (rest * (costs[place] as number)) / cost);
}

export function sumOf(destinations: readonly DestinationSignals[], of: "applications" | "resources"): number {
  return destinations.reduce((sum, destination) => sum + measured(destination[of]), 0);
}

/** A whole number that can be a load; anything else counts as not measured. */
export function measured(value: number): number {
  return isPlausible(Math.round(value)) ? Math.round(value) : 0;
}

/** A rate with its fraction; anything that cannot be a rate counts as not measured. */
function possible(rate: number): number {
  return isPlausible(Math.floor(rate)) ? rate : 0;
}
