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
  readonly generation: number;
  readonly refresh?: string;
  readonly specHash?: string;
}

/** Rows whose resource cannot be seen. A cache may be behind: each has to be asked for before it counts as gone. */
export function suspectRows(
  rows: readonly SweptRow[],
  { isPresent, isMine }: { readonly isPresent: (row: SweptRow) => boolean; readonly isMine: (namespace: string) => boolean },
): readonly SweptRow[] {
  return rows.filter((row) => row.deletedAt === undefined && !isPresent(row) && isMine(row.namespace));
}

export interface ResourceFacts {
  readonly cluster: string;
  readonly resources: readonly ObservedDeployment[];
  /** Uids of all rows, as they were listed. */
  readonly withRow: ReadonlySet<string>;
  readonly isMine: (namespace: string) => boolean;
  /** Whether exactly what the resource asks for was recorded. */
  readonly isRecorded: (resource: ObservedDeployment) => boolean;
}

/** Keys of resources to reconcile again: those on their way out, and those whose request is not recorded yet. */
export function unsettledKeys({ cluster, resources, withRow, isMine, isRecorded }: ResourceFacts): readonly string[] {
  return resources
    .filter((resource) => (resource.isDeleting || !withRow.has(resource.uid) || !isRecorded(resource)) && isMine(resource.namespace))
    .map((resource) => resourceKey(cluster, resource));
}

export interface KnownWorkspaceRow {
  readonly workspaceId: WorkspaceId;
  readonly namespace: string;
  readonly namespaceUid: string;
  readonly state: "active" | "deleting";
}

/** Workspaces whose namespace cannot be seen, or is another one under the same name; each has to be asked for like {@link suspectRows}. */
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
