import type { Millis } from "../../domain/clock.ts";
import type { ApplicationId, WorkspaceId } from "../../domain/ids.ts";
import type { ObservedDeployment } from "../../domain/user-resource.ts";
import { resourceKey } from "../keys.ts";

export interface SweptRow {
  readonly applicationId: ApplicationId;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly deletedAt: Millis | undefined;
}

export interface SweepFacts {
  readonly cluster: string;
  readonly rows: readonly SweptRow[];
  readonly resources: readonly ObservedDeployment[];
  readonly isMine: (namespace: string) => boolean;
  /** Whether exactly what the resource asks for was recorded. */
  readonly isRecorded: (resource: ObservedDeployment) => boolean;
}

export interface SweepPlan {
  /** Rows whose resource cannot be seen. A cache may be behind: each has to be asked for before it counts as gone. */
  readonly suspects: readonly SweptRow[];
  /** Keys of resources to reconcile again: deletions in progress, and requests not recorded yet. */
  readonly keys: readonly string[];
}

/** Compares all rows of an API cluster with all resources. */
export function planSweep({ cluster, rows, resources, isMine, isRecorded }: SweepFacts): SweepPlan {
  const present = new Set(resources.map(({ uid }) => uid));
  const withRow = new Set(rows.map(({ uid }) => uid));
  return {
    suspects: rows.filter((row) => row.deletedAt === undefined && !present.has(row.uid) && isMine(row.namespace)),
    keys: resources
      .filter((resource) => isMine(resource.namespace) && (resource.isDeleting || !withRow.has(resource.uid) || !isRecorded(resource)))
      .map((resource) => resourceKey(cluster, resource)),
  };
}

export interface KnownWorkspaceRow {
  readonly workspaceId: WorkspaceId;
  readonly namespace: string;
  readonly namespaceUid: string;
  readonly state: "active" | "deleting";
}

/** Workspaces whose namespace cannot be seen, or is another one under the same name; each has to be asked for like {@link SweepPlan.suspects}. */
export function suspectWorkspaces<Row extends KnownWorkspaceRow>(
  known: readonly Row[],
  uidOf: (namespace: string) => string | undefined,
): readonly Row[] {
  return known.filter(({ state, namespace, namespaceUid }) => state === "active" && uidOf(namespace) !== namespaceUid);
}

/** What a resource asks for, in short: equal as long as nothing new has to be recorded. */
export function requestOf({ generation, refreshedAt }: Pick<ObservedDeployment, "generation" | "refreshedAt">): string {
  return `${generation}/${refreshedAt}`;
}
