import { allowsClusterResources, type Environment } from "../domain/environment.ts";
import type { Application } from "../domain/workspace.ts";

/** An environment, and the namespaces there in which the unit's accounts are asked whether they may write, sorted. */
export interface Abroad {
  readonly environment: Environment;
  readonly namespaces: readonly string[];
}

interface Row {
  readonly application: Pick<Application, "spec">;
  readonly environment: Environment | undefined;
}

/** Where accounts are made, or one of ours may be left from when they were. */
export function abroadOf(environments: readonly Environment[], rows: readonly Row[]): readonly Abroad[] {
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
