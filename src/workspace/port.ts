import type { ObservedDeployment, ObservedNamespace, ObservedResource, UserSecret } from "../domain/user-resource.ts";

export interface ResourceAt {
  readonly namespace: string;
  readonly name: string;
}

/** What may have to be reconciled again. Status we wrote ourselves is no change. */
export type ResourceChange =
  /** `uids`: of the resources that had or have this name, as the watch reported; all but the present one's are gone. */
  | { readonly kind: "deployment"; readonly at: ResourceAt; readonly uids: readonly string[] }
  | { readonly kind: "namespace"; readonly name: string };

/** The users' resources of one API cluster, kept by watches, and the few writes we do to them. */
export interface UserResources {
  /** Begins to watch until the signal aborts. */
  start(signal: AbortSignal): void;
  /** Resolves when everything was listed once. */
  synced(signal: AbortSignal): Promise<void>;
  stopped(): Promise<void>;
  /** Time since the API server last said something about the slower of the two kinds, in ms. */
  stalenessMs(): number;
  deployment(at: ResourceAt): ObservedDeployment | undefined;
  /** Not sorted. */
  deployments(namespace?: string): readonly ObservedDeployment[];
  namespace(name: string): ObservedNamespace | undefined;
  /** Calls `listener` after what is kept here has changed; the returned function ends that. */
  subscribe(listener: (change: ResourceChange) => void): () => void;
  /** Uid of the resource as the API server has it now. */
  readUid(at: ResourceAt, signal: AbortSignal): Promise<string | undefined>;
  /** Uid of the namespace as the API server has it now. */
  readNamespaceUid(name: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Makes `status` the whole of what we say about this very resource as it is known here. Throws `GoneError` when it is gone,
   * `StaleError` when it has changed or another resource has its name.
   */
  patchStatus(resource: ResourceAt & { readonly uid: string }, status: object, signal: AbortSignal): Promise<void>;
  /** Takes the user's finalizer off this very resource; resolves also when either is gone. `StaleError`: it changed meanwhile. */
  removeFinalizer(resource: ResourceAt & { readonly uid: string }, signal: AbortSignal): Promise<void>;
}

/** The users' resources of one kind, kept by a watch, and the one write we do to each. Status we wrote ourselves is no change. */
export interface UserKindResources {
  get(at: ResourceAt): ObservedResource | undefined;
  /** In no order; without a namespace, everything. */
  list(namespace?: string): readonly ObservedResource[];
  /**
   * Calls `listener` after what is kept here has changed, with the uids of the resources that had or have this name, as the
   * watch reported; all but the present one's are gone. The returned function ends that.
   */
  subscribe(listener: (at: ResourceAt, uids: readonly string[]) => void): () => void;
  /** Uid of the resource as the API server has it now. */
  readUid(at: ResourceAt, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Makes `status` the whole of what we say about this very resource as it is known here. Throws `GoneError` when it is gone,
   * `StaleError` when it has changed or another resource has its name.
   */
  patchStatus(resource: ResourceAt & { readonly uid: string }, status: object, signal: AbortSignal): Promise<void>;
}

/** The same, with the start and end of its watch. */
export interface WatchedResources extends UserKindResources {
  start(signal: AbortSignal): void;
  synced(signal: AbortSignal): Promise<void>;
  stopped(): Promise<void>;
}

/**
 * Secrets in users' namespaces: whether those of the types users bring are there is kept by watches, content is never kept. One that was
 * read, and is missing or of another type, is asked for again every few seconds.
 */
export interface UserSecrets {
  start(signal: AbortSignal): void;
  synced(signal: AbortSignal): Promise<void>;
  stopped(): Promise<void>;
  /** Changes whenever a Secret of a type users bring changes; `undefined` where there is none under this name. */
  version(at: ResourceAt): string | undefined;
  /** The Secret as the API server has it now, of whatever type. */
  read(at: ResourceAt, signal: AbortSignal): Promise<UserSecret | undefined>;
  /**
   * Calls `listener` after `version` of a name has changed, and after a Secret without one, that was read before and that `isNamed`,
   * came, went or was replaced; the returned function ends that.
   */
  subscribe(listener: (at: ResourceAt) => void, isNamed: (at: ResourceAt) => boolean): () => void;
}
