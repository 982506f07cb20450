import type { WorkspaceId } from "../../domain/ids.ts";
import type { ObservedNamespace } from "../../domain/user-resource.ts";
import type { WorkspacePolicy } from "../workspace-policy.ts";
import type { KnownWorkspaceRow } from "./plan-sweep.ts";

/** A workspace with the labels that are recorded of it. */
export interface LabelledWorkspace extends KnownWorkspaceRow {
  readonly labels?: Readonly<Record<string, string>>;
}

export interface LabelFacts {
  readonly policy: Pick<WorkspacePolicy, "recordedLabels">;
  /** The namespace of that name as it was seen last. */
  readonly namespaceOf: (name: string) => ObservedNamespace | undefined;
  readonly isMine: (namespace: string) => boolean;
}

/** Labels that are to be recorded instead of those that are. */
export interface PlannedLabels {
  readonly workspaceId: WorkspaceId;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Which workspaces have other labels than are recorded of them, as far as the fleet wants them recorded. Those of a namespace that is gone, or on
 * its way out, stay as they are: what was taken is asked for when it has ended, too.
 */
export function planLabels(
  known: readonly LabelledWorkspace[],
  { policy: { recordedLabels }, namespaceOf, isMine }: LabelFacts,
): readonly PlannedLabels[] {
  if (recordedLabels.length === 0) return [];
  return known.flatMap(({ workspaceId, namespace: name, namespaceUid, labels }) => {
    const namespace = namespaceOf(name);
    if (namespace?.uid !== namespaceUid || namespace.isDeleting || !isMine(name)) return [];
    const wanted = recordedLabels.flatMap((key) =>
      Object.hasOwn(namespace.labels, key) ? [[key, String(namespace.labels[key])] as const] : [],
    );
    const isSame = wanted.length === Object.keys(labels ?? {}).length && wanted.every(([key, value]) => labels?.[key] === value);
    return isSame && labels !== undefined ? [] : [{ workspaceId, labels: Object.fromEntries(wanted) }];
  });
}
