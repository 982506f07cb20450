import type { Clock } from "../../../domain/clock.ts";
import { RefusedError, StaleError } from "../../../domain/errors.ts";
import { USER_FINALIZER } from "../../../domain/names.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { ObservedDeployment } from "../../../domain/user-resource.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createReflector, type ReflectorChange } from "../../../runtime/kube/reflector.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../../runtime/kube/resource.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { API_GROUP, API_VERSION, DEPLOYMENT_KIND, DEPLOYMENT_PLURAL, STATUS_MANAGER } from "../../api/names.ts";
import { differsInWish, finalizersOf, parseDeploymentResource, parseNamespace } from "../../parse-resource.ts";
import type { ResourceAt, ResourceChange, UserResources } from "../../port.ts";
import { createByNamespace } from "./by-namespace.ts";
import { createWrittenStatuses } from "./written-statuses.ts";

export const DEPLOYMENTS: ResourceType = {
  group: API_GROUP,
  version: API_VERSION,
  plural: DEPLOYMENT_PLURAL,
  kind: DEPLOYMENT_KIND,
  namespaced: true,
};
export const NAMESPACES: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

export interface UserResourcesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface Versioned extends ObservedDeployment {
  readonly resourceVersion: string;
}

/** Watches all GitOpsDeployments and namespaces of the cluster that `client` speaks to. */
export function createUserResources(options: UserResourcesOptions): UserResources {
  const { client } = options;
  const listeners = new Set<(change: ResourceChange) => void>();
  const tell = (change: ResourceChange) => listeners.forEach((listener) => listener(change));
  const index = createByNamespace<Versioned>();
  const written = createWrittenStatuses();

  const onDeployment = (change: ReflectorChange<Versioned>): void => {
    if (change.kind === "delete") {
      index.remove(change.at);
      written.forget(change.at);
      return tell({ kind: "deployment", at: change.at, uids: [change.before.uid] });
    }
    index.put(change.now);
    written.seen(change.now);
    if (differsInWish(change.before, change.now))
      tell({ kind: "deployment", at: change.at, uids: [...new Set([change.before?.uid ?? change.now.uid, change.now.uid])] });
  };
  const deployments = createReflector<Versioned>({
    ...options,
    rng: options.rng.fork("deployments"),
    type: DEPLOYMENTS,
    project: parseVersioned,
    onChange: onDeployment,
  });
  const namespaces = createReflector({
    ...options,
    rng: options.rng.fork("namespaces"),
    type: NAMESPACES,
    project: parseNamespace,
    onChange: ({ at }) => tell({ kind: "namespace", name: at.name }),
  });

  return {
    start(signal) {
      namespaces.start(signal);
      deployments.start(signal);
    },
    synced: async (signal) => void (await Promise.all([namespaces.synced(signal), deployments.synced(signal)])),
    stopped: async () => void (await Promise.all([namespaces.stopped(), deployments.stopped()])),
    stalenessMs: () => Math.max(namespaces.stalenessMs(), deployments.stalenessMs()),
    deployment: (at) => written.over(index.get(at)),
    deployments: (namespace) => index.list(namespace),
    namespace: (name) => namespaces.get({ namespace: "", name }),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    readUid: async ({ namespace, name }, signal) => (await client.get(DEPLOYMENTS, { namespace, name }, signal))?.metadata.uid,
    readNamespaceUid: async (name, signal) => (await client.get(NAMESPACES, { namespace: "", name }, signal))?.metadata.uid,
    async patchStatus(resource, status, signal) {
      const seen = written.over(index.get(resource));
      if (seen?.uid !== resource.uid)
        throw new StaleError("Writing the status of a resource that is another one now", {
          code: "kube.conflict",
          context: { namespace: resource.namespace, name: resource.name },
        });
      const answer = parseVersioned(await applyStatus(client, seen, status, signal));
      if (answer !== undefined) written.wrote(answer, index.get(answer));
    },
    removeFinalizer: (resource, signal) => removeFinalizer(client, resource, signal),
  };
}

function parseVersioned(raw: KubeObject): Versioned | undefined {
  const observed = parseDeploymentResource(raw);
  return observed && { ...observed, resourceVersion: raw.metadata.resourceVersion ?? "" };
}

/**
 * The version is the fence: a server-side apply to `/status` is not refused for another uid (tried on 1.35), so that without it
 * what one resource did could be written on its namesake.
 */
function applyStatus(
  client: KubeClient,
  { namespace, name, resourceVersion }: Versioned,
  status: object,
  signal: AbortSignal,
): Promise<KubeObject> {
  const object = { apiVersion: apiVersionOf(DEPLOYMENTS), kind: DEPLOYMENT_KIND, metadata: { namespace, name, resourceVersion }, status };
  return client.apply<KubeObject>(DEPLOYMENTS, object, { fieldManager: STATUS_MANAGER, subresource: "status" }, signal);
}

async function removeFinalizer(
  client: KubeClient,
  { namespace, name, uid }: ResourceAt & { readonly uid: string },
  signal: AbortSignal,
): Promise<void> {
  const live = await client.get<KubeObject>(DEPLOYMENTS, { namespace, name }, signal);
  const place = finalizersOf(live).indexOf(USER_FINALIZER);
  if (live?.metadata.uid !== uid || place < 0) return;
  const finalizer = `/metadata/finalizers/${place}`;
  const patch = [
    { op: "test", path: "/metadata/uid", value: uid },
    { op: "test", path: "/metadata/resourceVersion", value: live.metadata.resourceVersion },
    { op: "test", path: finalizer, value: USER_FINALIZER },
    { op: "remove", path: finalizer },
  ] as const;
  try {
    await client.jsonPatch(DEPLOYMENTS, { namespace, name }, patch, signal);
  } catch (error) {
    if (!(error instanceof RefusedError && error.code === "kube.testFailed")) throw error;
    throw new StaleError(error.message, { code: error.code, context: error.context, cause: error });
  }
}
