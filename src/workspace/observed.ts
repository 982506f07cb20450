import type { Condition, DeploymentStatus } from "./api/schema.ts";

/** A GitOpsDeployment as last seen, reduced to what is needed; its content is not checked yet. */
export interface ObservedDeployment {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly createdAt: string;
  readonly spec: unknown;
  /** The user's wish that changes are not acted on. */
  readonly isPaused: boolean;
  /** The user's poke; empty without one. */
  readonly refreshedAt: string;
  /** Deletion was asked for; somebody's finalizer holds the resource. */
  readonly isDeleting: boolean;
  /** It carries the user's finalizer, which only we take away. */
  readonly isHeld: boolean;
  readonly conditions: readonly Condition[];
  readonly observedGeneration: number | undefined;
}

export interface ObservedNamespace {
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isDeleting: boolean;
}

/** A status without what only times say, ready to be written. */
export type UserStatus = DeploymentStatus & { readonly conditions: readonly Condition[] };

/** Key of a resource in queues: `cluster|namespace|name`. */
export function deploymentKey(cluster: string, at: { readonly namespace: string; readonly name: string }): string {
  return `${cluster}|${at.namespace}|${at.name}`;
}

export function parseKey(key: string): { readonly cluster: string; readonly namespace: string; readonly name: string } {
  const [cluster = "", namespace = "", name = ""] = key.split("|");
  return { cluster, namespace, name };
}
