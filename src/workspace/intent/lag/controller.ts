import type { ResourceAt, UserResources } from "../../port.ts";
import type { RowIndex } from "../../row-index.ts";
import type { RecordedIntent } from "../plan-intent.ts";

export interface LagDeps {
  readonly resources: Pick<UserResources, "deployment" | "namespace" | "readNamespaceUid">;
  readonly rows: Pick<RowIndex, "hasRow" | "uidsOf">;
}

/** The watch of namespaces may be behind that of deployments: where that would decide something, the API server is asked. */
export function createLagCheck({ resources, rows }: LagDeps) {
  return {
    /** Only a namespace that is gone takes along what was deployed into it, and this one is there, though it is not kept here. */
    async isUnseen({ namespace, name }: ResourceAt, key: string, signal: AbortSignal): Promise<boolean> {
      const isGone = resources.namespace(namespace) === undefined && resources.deployment({ namespace, name }) === undefined;
      return isGone && rows.uidsOf(key).length > 0 && (await resources.readNamespaceUid(namespace, signal)) !== undefined;
    },
    /**
     * A row stays with its workspace: before the first one of a resource is made, its namespace has to be the one that has the
     * name now, as the resource may have come with one that was made anew.
     */
    async isElsewhere({ uid, workspace }: RecordedIntent, signal: AbortSignal): Promise<boolean> {
      return !rows.hasRow(uid) && (await resources.readNamespaceUid(workspace.namespace, signal)) !== workspace.namespaceUid;
    },
  };
}
