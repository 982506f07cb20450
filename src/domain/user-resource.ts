/** One entry of a status's `conditions`. */
export interface Condition {
  readonly type: string;
  /** `True`, `False` or `Unknown`. */
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastProbeTime?: string;
}

/** A resource of one of the users' kinds as last seen, reduced to what is needed; its content is not checked yet. */
export interface ObservedResource {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly createdAt: string;
  readonly spec: unknown;
  /** The user asks that changes are not acted on. */
  readonly isPaused: boolean;
  /** Of the user's poke; empty without one. */
  readonly refreshedAt: string;
  /** Deletion was asked for; somebody's finalizer holds the resource. */
  readonly isDeleting: boolean;
  /** It carries the user's finalizer, which only we take away. */
  readonly isHeld: boolean;
  readonly conditions: readonly Condition[];
  readonly observedGeneration: number | undefined;
  /** There are so many in its namespace that nothing more is kept of it. */
  readonly isOneTooMany?: boolean;
}

export interface ObservedNamespace {
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isDeleting: boolean;
}

/** A GitOpsDeployment as last seen. */
export type ObservedDeployment = ObservedResource;

/** A Secret of a user's with its content; values are bytes as the user meant them, not their encoding. */
export interface UserSecret {
  readonly type: string;
  readonly data: Readonly<Record<string, Uint8Array>>;
}
