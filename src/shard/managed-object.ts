import { contentHash } from "../domain/hash.ts";
import { ANNOTATION_EPOCH, ANNOTATION_HASH } from "../domain/names.ts";
import { ANNOTATION_REVISION } from "./names.ts";

export interface ObjectAt {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

/** Which of two writers is late: the one with the smaller epoch or, within an epoch, the smaller revision of its rows. */
export interface Fence {
  readonly epoch: number;
  readonly revision: number;
}

/** The kinds of object a shard is made of, with the fields beside `metadata` that are ours. */
export const MANAGED_KINDS = {
  application: { apiVersion: "argoproj.io/v1alpha1", kind: "Application", fields: ["spec"], fixed: [] },
  project: { apiVersion: "argoproj.io/v1alpha1", kind: "AppProject", fields: ["spec"], fixed: [] },
  entry: { apiVersion: "v1", kind: "Secret", fields: ["data"], fixed: ["type"] },
  repository: { apiVersion: "v1", kind: "Secret", fields: ["data"], fixed: ["type"] },
  account: { apiVersion: "v1", kind: "ServiceAccount", fields: ["automountServiceAccountToken"], fixed: [] },
  binding: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", fields: ["subjects"], fixed: ["roleRef"] },
  reader: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", fields: ["subjects"], fixed: ["roleRef"] },
  role: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", fields: ["rules"], fixed: [] },
  deployer: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", fields: ["rules"], fixed: [] },
} as const satisfies Record<string, ManagedKindSpec>;
export type ManagedKind = keyof typeof MANAGED_KINDS;

interface ManagedKindSpec {
  readonly apiVersion: string;
  readonly kind: string;
  /** Top-level fields we decide; every other one is left alone. */
  readonly fields: readonly string[];
  /** Fields the API server refuses to change: a difference is repaired by deleting and creating anew. */
  readonly fixed: readonly string[];
}

/** What an object is wanted to be. */
export interface ObjectRequest {
  readonly kind: ManagedKind;
  readonly at: ObjectAt;
  readonly labels: Readonly<Record<string, string>>;
  /** Without those for fence and hash, which are added on writing. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Absent on objects that belong to an instance and not to a placement. */
  readonly fence: Fence | undefined;
  /** Values of the kind's `fields` and `fixed`. */
  readonly content: Readonly<Record<string, unknown>>;
}

/** One object as it should be. Nothing a user wrote reaches its metadata but the names of namespace and Application. */
export interface DesiredObject extends ObjectRequest {
  readonly contentHash: string;
  readonly fixedHash: string;
}

/** What is kept of an object that was seen: enough to tell whether it is as desired and to write conditionally. */
export interface ObservedObject {
  readonly at: ObjectAt;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Epoch and revision it was last written under, as far as it still says so. */
  readonly epoch: number | undefined;
  readonly revision: number | undefined;
  readonly contentHash: string;
  readonly fixedHash: string;
  readonly isDeleting: boolean;
}

/** What became of an object: it is there, as `now`, or it is not any more. */
export type ObjectChange<T> =
  | { readonly kind: "upsert"; readonly at: ObjectAt; readonly now: T; readonly before: T | undefined }
  | { readonly kind: "delete"; readonly at: ObjectAt; readonly before: T };

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** What most kinds have fixed. */
export const NOTHING_FIXED = contentHash({});

/** Completes a desired object with the hashes it is compared by: comparing happens several times, hashing once. */
export function desire(request: ObjectRequest): DesiredObject {
  const { fixed } = MANAGED_KINDS[request.kind];
  const fixedHash = fixed.length === 0 ? NOTHING_FIXED : contentHash(pick(request.content, fixed));
  return { ...request, contentHash: contentHash(request.content), fixedHash };
}

/** Every annotation the object should carry: its own, the hash of its content, and the fence it is written under. */
export function managedAnnotationsOf(desired: DesiredObject): Readonly<Record<string, string>> {
  const fence = desired.fence;
  return {
    ...desired.annotations,
    [ANNOTATION_HASH]: desired.contentHash,
    ...(fence === undefined ? {} : { [ANNOTATION_EPOCH]: String(fence.epoch), [ANNOTATION_REVISION]: String(fence.revision) }),
  };
}

/** The whole object, as it is created. */
export function manifestOf(desired: DesiredObject): Manifest {
  const { apiVersion, kind } = MANAGED_KINDS[desired.kind];
  const { name, namespace } = desired.at;
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === "" ? {} : { namespace }), labels: desired.labels, annotations: managedAnnotationsOf(desired) },
    ...desired.content,
  };
}

export function pick(object: Readonly<Record<string, unknown>>, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.filter((field) => object[field] !== undefined).map((field) => [field, object[field]]));
}
