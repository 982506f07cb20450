import type { UnitId } from "../../domain/ids.ts";
import type { LoadVector } from "../../domain/load.ts";
import { apportion } from "./apportion.ts";
import type { CpuWeights } from "./cpu-weights.ts";
import { isPlausible } from "./judge-metrics.ts";

/** What is known of one unit on an instance when its load is measured. Project and repositories are its own names for itself. */
export interface UnitSignals {
  readonly unit: UnitId;
  /** Its AppProject: the label by which the controller's metrics tell workspaces apart. */
  readonly project: string;
  readonly applications: number;
  readonly resources: number;
  /** Cluster entries made for it alone. */
  readonly clusterEntries: number;
  /** How many of its applications read each repository. */
  readonly repositories: Readonly<Record<string, number>>;
}

/** What an instance's metrics say, parsed and summed on arrival: no label of an application or resource survives that. */
export interface InstanceSignals {
  /** CPU of controller and repo-server, thousandths of a core. */
  readonly milliCpu: number;
  /** Calls to Kubernetes a minute, by project (`argocd_app_k8s_request_total`). */
  readonly requestsPerMinute: Readonly<Record<string, number>>;
  /** Thousandths of Git requests a minute, by repository (`argocd_git_request_total`). */
  readonly gitPerMinute: Readonly<Record<string, number>>;
}

/**
 * Deals an instance's measured load to the units it holds, in whole numbers that add up to what was measured.
 *
 * Counts are each unit's own. CPU beyond what an empty instance takes is dealt in proportion to what the fitted weights say
 * that a unit's requests, resources and applications cost. Git requests go to the units that read the repository, by their
 * number of applications. What cannot be measured, or belongs to nobody here, is dealt to nobody.
 */
export function attributeLoad(
  units: readonly UnitSignals[],
  signals: InstanceSignals,
  weights: CpuWeights,
): ReadonlyMap<UnitId, LoadVector> {
  const sorted = [...units].sort((a, b) => (a.unit < b.unit ? -1 : 1));
  const cpu = apportion(
    Math.max(0, measured(signals.milliCpu) - weights.base),
    sorted.map((unit) => cpuOf(unit, signals, weights)),
  );
  const git = gitOf(sorted, signals);
  return new Map(
    sorted.map((unit, index) => [
      unit.unit,
      {
        applications: measured(unit.applications) * 1_000,
        clusterEntries: measured(unit.clusterEntries),
        cachedResources: measured(unit.resources),
        milliCpu: cpu[index] as number,
        gitPerMinute: git[index] as number,
      },
    ]),
  );
}

function cpuOf({ project, resources, applications }: UnitSignals, { requestsPerMinute }: InstanceSignals, weights: CpuWeights): number {
  const requests = measured(requestsPerMinute[project] ?? 0);
  return requests * weights.request + measured(resources) * weights.resource + measured(applications) * weights.application;
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
