import type { ObservedDeployment, ObservedNamespace } from "../domain/user-resource.ts";

export interface ResourceAt {
  readonly namespace: string;
  readonly name: string;
}

/** What may have to be looked at again. Status we wrote ourselves is no change. */
export type ResourceChange =
  /** `uids`: of the resources that had or have this name, as the watch told; all but the present one's are gone. */
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
  /** In no order. */
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
