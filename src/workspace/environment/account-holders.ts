import { type AccountHolder, allowsClusterResources, type Environment } from "../../domain/environment.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { accountMark } from "./account-objects.ts";

/** Who needs an account for a unit: its owner, if it has one. */
export function holderOf({ id: unitId, owner: instanceId, epoch }: PlacementUnit): readonly AccountHolder[] {
  return instanceId === undefined ? [] : [{ unitId, instanceId, epoch }];
}

/** Whoever read these knows of nothing newer. */
export function newestOf(units: readonly PlacementUnit[]): number {
  return Math.max(0, ...units.map(({ epoch }) => epoch));
}

/** By what everything of ours for an environment is found on its cluster. */
export function tracesOf(environment: Pick<Environment, "id" | "namespaces" | "clusterResources">) {
  return { mark: accountMark(environment.id), namespaces: allowsClusterResources(environment) ? [] : environment.namespaces };
}
