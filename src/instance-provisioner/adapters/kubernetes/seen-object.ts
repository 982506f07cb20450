import type { ObservedQuota } from "../../../domain/engine.ts";
import { contentHash } from "../../../domain/hash.ts";
import type { InstanceId } from "../../../domain/ids.ts";
import { LABEL_INSTANCE } from "../../../domain/names.ts";
import type { KubeObject } from "../../../runtime/kube/resource.ts";
import { QUOTAS } from "./types.ts";

/**
 * What is kept of an observed object: enough to see whether somebody changed it, and whether a workload runs its
 * current template.
 */
export interface SeenObject {
  readonly instanceId: InstanceId | undefined;
  readonly fingerprint: string;
  readonly isDeleting: boolean;
  readonly readiness: Readiness;
  /** Whether it is a workload with zero replicas. */
  readonly isStopped: boolean;
  /** The namespace's quota, once Kubernetes has counted what is used. */
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
 * Hash of what people and programs may change in an object and the server does not. That is everything but the status
 * and the metadata, and of the metadata the labels and the uid. With the uid, an object that was deleted and created
 * again counts as changed.
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

/** Whether all pods of a workload run its current template and are ready. False for an object that is no workload. */
function readinessOf(object: KubeObject & { readonly spec?: { readonly replicas?: number }; readonly status?: WorkloadStatus }): Readiness {
  const { status = {}, spec } = object;
  const wanted = spec?.replicas ?? 1;
  const { replicas = 0, readyReplicas = 0, updatedReplicas = 0, observedGeneration = 0 } = status;
  if (observedGeneration < (object.metadata.generation ?? 1))
    return { isReady: false, detail: "its latest change has not been taken up yet" };
  // Old pods that still run count as well: two controllers of one instance must not run at the same time.
  const isReady = readyReplicas === wanted && updatedReplicas === wanted && replicas === wanted;
  if (isReady) return { isReady, detail: "" };
  const failure = status.conditions?.find((condition) => condition.type === "ReplicaFailure" && condition.status === "True")?.message;
  return {
    isReady,
    detail: `${readyReplicas} of ${wanted} pods are ready, ${updatedReplicas} up to date${failure === undefined ? "" : `: ${failure}`}`,
  };
}
