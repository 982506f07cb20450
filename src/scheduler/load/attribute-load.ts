import type { EnvironmentId, UnitId } from "../../domain/ids.ts";
import type { LoadVector } from "../../domain/load.ts";
import { apportion } from "./apportion.ts";
import type { CpuWeights } from "./cpu-weights.ts";
import { isPlausible } from "./judge-metrics.ts";

/** What of a unit goes to one destination. */
export interface DestinationSignals {
  /** Its own namespace, through the cluster entry all units share. */
  readonly isOwn: boolean;
  /** Environments whose cluster entries lead there, if it is another. */
  readonly environments: readonly EnvironmentId[];
  readonly applications: number;
  readonly resources: number;
}

/** What is known of one unit on an instance when its load is measured. Project and repositories are its own names for itself. */
export interface UnitSignals {
  readonly unit: UnitId;
  /** Its AppProject: the label by which the controller's metrics tell workspaces apart. */
  readonly project: string;
  readonly destinations: readonly DestinationSignals[];
  /** How many of its applications read each repository. */
  readonly repositories: Readonly<Record<string, number>>;
}

/** What an instance's metrics say, parsed and summed on arrival: no label of an application or resource survives that. */
export interface InstanceSignals {
  /** CPU of controller and repo-server, thousandths of a core. */
  readonly milliCpu: number;
  /** Calls to Kubernetes a minute, by project (`argocd_app_k8s_request_total`). */
  readonly requestsPerMinute: Readonly<Record<string, number>>;
  /** Thousandths of a second spent on comparisons a minute (`argocd_app_reconcile`), through the entry all share and those of environments. */
  readonly reconcileMs: ReconcileTime;
  /** Thousandths of Git requests a minute, by repository (`argocd_git_request_total`). */
  readonly gitPerMinute: Readonly<Record<string, number>>;
}

export interface ReconcileTime {
  readonly shared: number;
  readonly environments: ReadonlyMap<EnvironmentId, number>;
}

/**
 * Deals an instance's measured load to the units it holds, in whole numbers that add up to what was measured.
 *
 * Counts are each unit's own. CPU beyond what an empty instance takes is dealt in proportion to the time that was spent on comparing
 * a unit's applications. An environment's entry tells its time exactly. The time of the entry that all share is dealt in proportion to
 * what the fitted weights say that a unit's requests, resources and applications there cost; so is CPU where no time was measured. Git
 * requests go to the units that read the repository, by their number of applications. What cannot be measured, or belongs to nobody
 * here, is dealt to nobody.
 */
export function attributeLoad(
  units: readonly UnitSignals[],
  signals: InstanceSignals,
  weights: CpuWeights,
): ReadonlyMap<UnitId, LoadVector> {
  const sorted = [...units].sort((a, b) => (a.unit < b.unit ? -1 : 1));
  const cpu = apportion(Math.max(0, measured(signals.milliCpu) - weights.base), workOf(sorted, signals, weights));
  const git = gitOf(sorted, signals);
  return new Map(
    sorted.map(({ unit, destinations }, index) => [
      unit,
      {
        applications: sumOf(destinations, "applications") * 1_000,
        clusterEntries: destinations.filter(({ isOwn }) => !isOwn).length,
        cachedResources: sumOf(destinations, "resources"),
        milliCpu: cpu[index] as number,
        gitPerMinute: git[index] as number,
      },
    ]),
  );
}

/** What each unit's comparisons took, in any measure, and behind the last unit what was nobody's here. */
function workOf(units: readonly UnitSignals[], signals: InstanceSignals, weights: CpuWeights): readonly number[] {
  const work = new Array<number>(units.length + 1).fill(0);
  const parts = units.flatMap((unit, index) =>
    unit.destinations.map((destination) => ({ index, destination, weight: weightOf(unit, destination, { signals, weights }) })),
  );
  for (const { time, isThrough } of entriesOf(signals.reconcileMs)) {
    const through = parts.filter(({ destination }) => isThrough(destination));
    const sum = through.reduce((total, { weight }) => total + weight, 0);
    if (sum <= 0) work[units.length] = (work[units.length] as number) + time;
    else for (const { index, weight } of through) work[index] = (work[index] as number) + (time * weight) / sum;
  }
  return work;
}

interface Entry {
  readonly time: number;
  readonly isThrough: (destination: DestinationSignals) => boolean;
}

/** Cluster entries with the time spent through each; all as one where no time was measured. */
function entriesOf({ shared, environments }: ReconcileTime): readonly Entry[] {
  const entries: readonly Entry[] = [
    { time: measured(shared), isThrough: ({ isOwn }) => isOwn },
    ...[...environments].map(([id, time]) => ({
      time: measured(time),
      isThrough: (destination: DestinationSignals) => destination.environments.includes(id),
    })),
  ];
  return entries.some(({ time }) => time > 0) ? entries : [{ time: 1, isThrough: () => true }];
}

function weightOf(
  { project, destinations }: UnitSignals,
  { resources, applications }: DestinationSignals,
  { signals, weights }: { readonly signals: InstanceSignals; readonly weights: CpuWeights },
): number {
  const all = sumOf(destinations, "applications");
  const requests = all === 0 ? 0 : (measured(signals.requestsPerMinute[project] ?? 0) * measured(applications)) / all;
  return requests * weights.request + measured(resources) * weights.resource + measured(applications) * weights.application;
}

function sumOf(destinations: readonly DestinationSignals[], of: "applications" | "resources"): number {
  return destinations.reduce((sum, destination) => sum + measured(destination[of]), 0);
}

function gitOf(units: readonly UnitSignals[], { gitPerMinute }: InstanceSignals): readonly number[] {
  const dealt = Object.entries(gitPerMinute).map(([repository, total]) =>
    apportion(
      measured(total),
      units.map(({ repositories }) => measured(repositories[repository] ?? 0)),
    ),
  );
  return units.map((_, index) => dealt.reduce((sum, shares) => sum + (shares[index] as number), 0));
}

/** A number that can be a load; anything else was not measured. */
function measured(value: number): number {
  return isPlausible(Math.round(value)) ? Math.round(value) : 0;
}
