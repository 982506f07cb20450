import { RefusedError, StaleError } from "../../../domain/errors.ts";
import type { KubeClient } from "../client.ts";
import { createReflector, type Reflector, type ReflectorChange, type ReflectorOptions } from "../reflector.ts";
import { apiVersionOf, type KubeObject, type ObjectName, type ResourceType } from "../resource.ts";
import { createByNamespace } from "./by-namespace.ts";
import { createNamespaceShare, type NamespaceBound } from "./namespace-share.ts";
import { createWrittenStatuses, type Versioned } from "./written-statuses.ts";

export interface CustomResourcesOptions<T extends Versioned>
  extends Pick<ReflectorOptions<T>, "client" | "type" | "clock" | "rng" | "log" | "metrics"> {
  /** Reduces a resource on arrival; `undefined` leaves it out. */
  readonly project: (object: KubeObject) => T | undefined;
  /** The order of a namespace's resources in lists. */
  readonly order: (a: T, b: T) => number;
  /** How many of a namespace are kept whole, and what is kept of others; absent: all are. */
  readonly bound?: NamespaceBound<T> | undefined;
  /** Whether listeners hear of a change; a status that was written here is none. `before` is absent for a new resource. */
  readonly isChange: (before: T | undefined, now: T) => boolean;
  /** Field manager of the statuses that are written here. */
  readonly statusManager: string;
  /** `seen` with the status and version of `own`, which is the same resource a moment later. */
  readonly withStatus: (seen: T, own: T) => T;
}

/** One very resource: another one of the same name does not stand for it. */
export type ResourceIdentity = ObjectName & { readonly uid: string };

/** The custom resources of one kind, kept by a watch, and the writes that a controller does to them. */
export interface CustomResources<T extends Versioned> extends Pick<Reflector<T>, "start" | "synced" | "stopped" | "stalenessMs"> {
  get(at: ObjectName): T | undefined;
  /** In the order that was asked for; everything, in no order, without a namespace. */
  list(namespace?: string): readonly T[];
  /**
   * Calls `listener` after what is kept here has changed, with the uids of the resources that had or have this name, as the
   * watch reported; all but the present one's are gone. The returned function ends that.
   */
  subscribe(listener: (at: ObjectName, uids: readonly string[]) => void): () => void;
  /** Uid of the resource as the API server has it now. */
  readUid(at: ObjectName, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Makes `status` the whole of what the field manager says about this very resource as it is known here. Throws `GoneError` when it is
   * gone, `StaleError` when it has changed or another resource has its name.
   */
  patchStatus(resource: ResourceIdentity, status: object, signal: AbortSignal): Promise<void>;
  /** Takes a finalizer off this very resource; resolves also when either is gone. `StaleError`: it changed meanwhile. */
  removeFinalizer(resource: ResourceIdentity, finalizer: string, signal: AbortSignal): Promise<void>;
  /** Deletes this very resource; resolves also when it is gone. `StaleError`: its name is another's now. */
  remove(resource: ResourceIdentity, signal: AbortSignal): Promise<void>;
}

/** Watches all resources of one kind on the cluster that `client` speaks to. */
export function createCustomResources<T extends Versioned>(options: CustomResourcesOptions<T>): CustomResources<T> {
  const { client, type, isChange, statusManager } = options;
  const listeners = new Set<(at: ObjectName, uids: readonly string[]) => void>();
  const tell = (at: ObjectName, uids: readonly string[]) => listeners.forEach((listener) => listener(at, uids));
  const index = createByNamespace<T>(options.order);
  const written = createWrittenStatuses(options.withStatus);

  const share = createNamespaceShare(index, options.bound);

  const onChange = (change: ReflectorChange<T>): void => {
    if (change.kind === "delete") {
      share.forget(change.at);
      index.remove(change.at);
      written.forget(change.at);
      return tell(change.at, [change.before.uid]);
    }
    index.put(change.now);
    written.seen(change.now);
    if (isChange(change.before, change.now)) tell(change.at, [...new Set([change.before?.uid ?? change.now.uid, change.now.uid])]);
  };
  const reflector = createReflector<T>({ ...options, project: (object) => share.fit(options.project(object)), onChange });

  return {
    start: reflector.start,
    synced: reflector.synced,
    stopped: reflector.stopped,
    stalenessMs: reflector.stalenessMs,
    get: (at) => written.over(index.get(at)),
    list: index.list,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    readUid: async ({ namespace, name }, signal) => (await client.get(type, { namespace, name }, signal))?.metadata.uid,
    async patchStatus(resource, status, signal) {
      const seen = written.over(index.get(resource));
      if (seen?.uid !== resource.uid)
        throw new StaleError("Writing the status of a resource that is another one now", {
          code: "kube.conflict",
          context: { namespace: resource.namespace, name: resource.name },
        });
      const answer = options.project(await applyStatus({ client, type, seen, status, statusManager }, signal));
      if (answer !== undefined) written.wrote(answer, index.get(answer));
    },
    removeFinalizer: (resource, finalizer, signal) => removeFinalizer({ client, type, resource, finalizer }, signal),
    remove: ({ namespace, name, uid }, signal) => client.delete(type, { namespace, name }, { preconditions: { uid } }, signal),
  };
}

interface StatusWrite {
  readonly client: KubeClient;
  readonly type: ResourceType;
  readonly seen: Versioned;
  readonly status: object;
  readonly statusManager: string;
}

/**
 * The version is the fence: a server-side apply to `/status` is not refused for another uid (tried on 1.35), so that without it
 * what one resource did could be written on its namesake.
 */
function applyStatus({ client, type, seen, status, statusManager }: StatusWrite, signal: AbortSignal): Promise<KubeObject> {
  const { namespace, name, resourceVersion } = seen;
  const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { namespace, name, resourceVersion }, status };
  return client.apply<KubeObject>(type, object, { fieldManager: statusManager, subresource: "status" }, signal);
}

interface FinalizerRemoval {
  readonly client: KubeClient;
  readonly type: ResourceType;
  readonly resource: ResourceIdentity;
  readonly finalizer: string;
}

async function removeFinalizer({ client, type, resource, finalizer }: FinalizerRemoval, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid } = resource;
  const live = await client.get<KubeObject>(type, { namespace, name }, signal);
  const place = (live?.metadata.finalizers ?? []).indexOf(finalizer);
  if (live?.metadata.uid !== uid || place < 0) return;
  const path = `/metadata/finalizers/${place}`;
  const patch = [
    { op: "test", path: "/metadata/uid", value: uid },
    { op: "test", path: "/metadata/resourceVersion", value: live.metadata.resourceVersion },
    { op: "test", path, value: finalizer },
    { op: "remove", path },
  ] as const;
  try {
    await client.jsonPatch(type, { namespace, name }, patch, signal);
  } catch (error) {
    if (!(error instanceof RefusedError && error.code === "kube.test-failed")) throw error;
    throw new StaleError(error.message, { code: error.code, context: error.context, cause: error });
  }
}
