import type {
  V1Affinity,
  V1ConfigMap,
  V1Container,
  V1Deployment,
  V1EnvVar,
  V1LabelSelector,
  V1LimitRange,
  V1Namespace,
  V1NetworkPolicy,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
  V1PodSecurityContext,
  V1PodTemplateSpec,
  V1PolicyRule,
  V1Probe,
  V1ResourceQuota,
  V1ResourceRequirements,
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1SecurityContext,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V1Volume,
} from "@kubernetes/client-node";

/**
 * A type of the Kubernetes client as it is written in JSON: read-only, and without the underscore that the client puts before names that are
 * words of TypeScript (`_from`, `_default`). An API server drops fields that it does not know without a word, so the compiler has to find them.
 */
export type Written<T> = T extends readonly (infer Item)[]
  ? readonly Written<Item>[]
  : T extends object
    ? { readonly [Key in keyof T as Key extends `_${infer Name}` ? Name : Key]: Written<T[Key]> }
    : T;

/** The kinds of objects that an instance is made of. */
interface Kinds {
  readonly ConfigMap: V1ConfigMap;
  readonly Deployment: V1Deployment;
  readonly LimitRange: V1LimitRange;
  readonly Namespace: V1Namespace;
  readonly NetworkPolicy: V1NetworkPolicy;
  readonly ResourceQuota: V1ResourceQuota;
  readonly Role: V1Role;
  readonly RoleBinding: V1RoleBinding;
  readonly Secret: V1Secret;
  readonly Service: V1Service;
  readonly ServiceAccount: V1ServiceAccount;
  readonly StatefulSet: V1StatefulSet;
}

export type Kind = keyof Kinds;

/** The fields of an object of this kind beside its identity. */
export type FieldsOf<K extends Kind> = Omit<Written<Kinds[K]>, "apiVersion" | "kind" | "metadata" | "status">;

/** The spec of an object of this kind. */
export type SpecOf<K extends "Deployment" | "LimitRange" | "NetworkPolicy" | "Service" | "StatefulSet"> = NonNullable<
  Written<Kinds[K]["spec"]>
>;

export type Affinity = Written<V1Affinity>;
export type Container = Written<V1Container>;
export type EnvVar = Written<V1EnvVar>;
export type LabelSelector = Written<V1LabelSelector>;
export type PodSecurityContext = Written<V1PodSecurityContext>;
export type PodTemplate = Written<V1PodTemplateSpec>;
export type PolicyPeer = Written<V1NetworkPolicyPeer>;
export type PolicyPort = Written<V1NetworkPolicyPort>;
export type RoleRule = Written<V1PolicyRule>;
export type Probe = Written<V1Probe>;
export type Resources = Written<V1ResourceRequirements>;
export type SecurityContext = Written<V1SecurityContext>;
export type Volume = Written<V1Volume>;
