import { allowsClusterResources, type Environment } from "../../domain/environment.ts";
import type { Application } from "../../domain/workspace.ts";
import { DONE, FENCED, type ObjectStep, wait } from "./object-step.ts";

/** An environment with an owner binding of the unit, and the namespaces there in which accounts are asked whether they may write, sorted. */
export interface RemoteCluster {
  readonly environment: Environment;
  readonly namespaces: readonly string[];
}

interface Row {
  readonly application: Pick<Application, "spec">;
  readonly environment: Environment | undefined;
}

/** The environments in which accounts of ours are made, or may be left from when they were. */
export function remoteClustersOf(environments: readonly Environment[], rows: readonly Row[]): readonly RemoteCluster[] {
  return environments
    .filter(({ createsAccount, hasAccount }) => createsAccount || hasAccount)
    .map((environment) => {
      const deployedTo = rows.flatMap(({ application: { spec }, environment: named }) => {
        return named?.id === environment.id && spec.destination.namespace !== undefined ? [spec.destination.namespace] : [];
      });
      const namespaces = allowsClusterResources(environment) ? deployedTo : environment.namespaces;
      return { environment, namespaces: [...new Set(namespaces)].sort() };
    });
}

/** How a phase's work in an environment ended. `away`: nothing could be done there, and why, for people. */
export type VisitOutcome = { readonly kind: "done" | "waiting" | "fenced" } | { readonly kind: "away"; readonly why: string };

/** An environment, and how the work of this phase ended there. */
export interface Visited {
  readonly environment: string;
  readonly outcome: VisitOutcome;
}

/** What all visits of a phase come to. An environment that nobody can reach is waited for, unless the move may go on without (`mayBeAway`). */
export function judgeVisits(visits: readonly Visited[], mayBeAway: boolean): ObjectStep {
  if (visits.some(({ outcome }) => outcome.kind === "fenced")) return FENCED;
  const unreachable = mayBeAway ? undefined : unreachableOf(visits);
  if (unreachable !== undefined) return wait(`for ${unreachable}`);
  const waiting = visits.find(({ outcome }) => outcome.kind === "waiting");
  return waiting === undefined ? DONE : wait(`for the account in environment ${waiting.environment}`);
}

/** The first environment that could not be reached, and why, for people. */
export function unreachableOf(visits: readonly Visited[]): string | undefined {
  for (const { environment, outcome } of visits) if (outcome.kind === "away") return `environment ${environment}: ${outcome.why}`;
  return undefined;
}
