import type { ObservedQuota } from "../../../domain/engine.ts";
import { contentHash } from "../../../domain/hash.ts";
import type { InstanceId } from "../../../domain/ids.ts";
import { LABEL_INSTANCE } from "../../../domain/names.ts";
import type { KubeObject } from "../../../runtime/kube/resource.ts";
import { QUOTAS } from "./types.ts";

/** What is kept of an object: enough to see that somebody changed it, and whether a workload runs what it says. */
export interface SeenObject {
  readonly instanceId: InstanceId | undefined;
  readonly fingerprint: string;
  readonly isDeleting: boolean;
  readonly readiness: Readiness;
  /** A workload that is to have no pods. */
  readonly isStopped: boolean;
  /** Of what limits a namespace, once its use has been reckoned. */
  readonly quota?: ObservedQuota;
}

export interface Readiness {
  readonly isReady: boolean;
  readonly detail: string;
}

export function seenObject(object: KubeObject): SeenObject {
  const quota = quotaOf(object);
  return {
    instanceId: object.metadata.labels?.[LABEL_INSTANCE] as InstanceId | undefined,
    fingerprint: fingerprintOf(object),
    isDeleting: object.metadata.deletionTimestamp !== undefined,
    readiness: readinessOf(object),
    isStopped: (object as { readonly spec?: { readonly replicas?: number } }).spec?.replicas === 0,
    ...(quota && { quota }),
  };
}

function quotaOf(object: KubeObject): ObservedQuota | undefined {
  if (object.kind !== QUOTAS.kind) return undefined;
  const { spec, status } = object as { readonly spec?: Partial<ObservedQuota>; readonly status?: Partial<ObservedQuota> };
  return spec?.hard === undefined || status?.used === undefined ? undefined : { hard: spec.hard, used: status.used };
}

/**
 * Hash of all that people or programs may change of an object and the server does not: everything but the status and the
 * metadata, of which labels count, and the uid, so that an object that was deleted and made again counts as changed.
 */
function fingerprintOf({ apiVersion: _apiVersion, kind: _kind, metadata, ...content }: KubeObject): string {
  const { status: _status, ...fields } = content as Readonly<Record<string, unknown>>;
  return contentHash({ uid: metadata.uid, labels: metadata.labels, fields });
}

interface WorkloadStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly updatedReplicas?: number;
  readonly conditions?: readonly {
    readonly type?: string;
    readonly status?: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
}

/** Whether a workload's pods all run its present template and are ready. Of objects that are none it says no. */
function readinessOf(object: KubeObject & { readonly spec?: { readonly replicas?: number }; readonly status?: WorkloadStatus }): Readiness {
  const { status = {}, spec } = object;
  const wanted = spec?.replicas ?? 1;
  const { replicas = 0, readyReplicas = 0, updatedReplicas = 0, observedGeneration = 0 } = status;
  if (observedGeneration < (object.metadata.generation ?? 1))
    return { isReady: false, detail: "its latest change has not been taken up yet" };
  // Old pods that still run beside the new ones count as well: two controllers of one instance may not.
  const isReady = readyReplicas === wanted && updatedReplicas === wanted && replicas === wanted;
  if (isReady) return { isReady, detail: "" };
  const failure = status.conditions?.find((condition) => condition.type === "ReplicaFailure" && condition.status === "True")?.message;
  return {
    isReady,
    detail: `${readyReplicas} of ${wanted} pods are ready, ${updatedReplicas} up to date${failure === undefined ? "" : `: ${failure}`}`,
  };
}
