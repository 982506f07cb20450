import type { Clock } from "../../../domain/clock.ts";
import { StaleError } from "../../../domain/errors.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { ObservedResource } from "../../../domain/user-resource.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createReflector, type Reflector, type ReflectorChange } from "../../../runtime/kube/reflector.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../../runtime/kube/resource.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { API_GROUP, API_VERSION, STATUS_MANAGER, type UserKind } from "../../api/names.ts";
import { differsInWish, parseResource } from "../../parse-resource.ts";
import type { ResourceAt, UserKindResources } from "../../port.ts";
import { byAge } from "../../quota.ts";
import { createByNamespace } from "./by-namespace.ts";
import { createWrittenStatuses } from "./written-statuses.ts";

export interface WatchedKindOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly kind: UserKind;
}

interface Versioned extends ObservedResource {
  readonly resourceVersion: string;
}

export interface WatchedKind extends UserKindResources, Pick<Reflector<never>, "start" | "synced" | "stopped" | "stalenessMs"> {}

export function typeOf({ kind, plural }: UserKind): ResourceType {
  return { group: API_GROUP, version: API_VERSION, plural, kind, namespaced: true };
}

/** Watches all resources of one of the users' kinds on the cluster that `client` speaks to, and writes their status. */
export function createWatchedKind(options: WatchedKindOptions): WatchedKind {
  const { client, kind } = options;
  const type = typeOf(kind);
  const listeners = new Set<(at: ResourceAt, uids: readonly string[]) => void>();
  const tell = (at: ResourceAt, uids: readonly string[]) => listeners.forEach((listener) => listener(at, uids));
  const index = createByNamespace<Versioned>(byAge);
  const written = createWrittenStatuses();

  const onChange = (change: ReflectorChange<Versioned>): void => {
    if (change.kind === "delete") {
      index.remove(change.at);
      written.forget(change.at);
      return tell(change.at, [change.before.uid]);
    }
    index.put(change.now);
    written.seen(change.now);
    if (differsInWish(change.before, change.now)) tell(change.at, [...new Set([change.before?.uid ?? change.now.uid, change.now.uid])]);
  };
  const reflector = createReflector<Versioned>({ ...options, rng: options.rng.fork(kind.plural), type, project: parseVersioned, onChange });

  return {
    start: reflector.start,
    synced: reflector.synced,
    stopped: reflector.stopped,
    stalenessMs: reflector.stalenessMs,
    get: (at) => written.over(index.get(at)),
    list: (namespace) => index.list(namespace),
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
      const answer = parseVersioned(await applyStatus({ client, type, seen, status }, signal));
      if (answer !== undefined) written.wrote(answer, index.get(answer));
    },
  };
}

function parseVersioned(raw: KubeObject): Versioned | undefined {
  const observed = parseResource(raw);
  return observed && { ...observed, resourceVersion: raw.metadata.resourceVersion ?? "" };
}

interface StatusWrite {
  readonly client: KubeClient;
  readonly type: ResourceType;
  readonly seen: Versioned;
  readonly status: object;
}

/**
 * The version is the fence: a server-side apply to `/status` is not refused for another uid (tried on 1.35), so that without it
 * what one resource did could be written on its namesake.
 */
function applyStatus({ client, type, seen, status }: StatusWrite, signal: AbortSignal): Promise<KubeObject> {
  const { namespace, name, resourceVersion } = seen;
  const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { namespace, name, resourceVersion }, status };
  return client.apply<KubeObject>(type, object, { fieldManager: STATUS_MANAGER, subresource: "status" }, signal);
}
