import type { Clock } from "../../../domain/clock.ts";
import { USER_FINALIZER } from "../../../domain/names.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { NAMESPACES, readNamespace } from "../../../runtime/kube/namespaces.ts";
import { createReflector } from "../../../runtime/kube/reflector.ts";
import type { ResourceType } from "../../../runtime/kube/resource.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { USER_KINDS } from "../../api/names.ts";
import { parseNamespace } from "../../parse-resource.ts";
import type { ResourceChange, UserResources } from "../../port.ts";
import { createWatchedKind, watchedTypeOf } from "./watched-kind.ts";

export const USER_DEPLOYMENTS: ResourceType = watchedTypeOf(USER_KINDS.deployment);

export interface UserResourcesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Watches all GitOpsDeployments and namespaces of the cluster that `client` speaks to. */
export function createUserResources(options: UserResourcesOptions): UserResources {
  const { client } = options;
  const listeners = new Set<(change: ResourceChange) => void>();
  const tell = (change: ResourceChange) => listeners.forEach((listener) => listener(change));

  const deployments = createWatchedKind({ ...options, kind: USER_KINDS.deployment });
  deployments.subscribe((at, uids) => tell({ kind: "deployment", at, uids }));
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
    deployment: deployments.get,
    deployments: deployments.list,
    namespace: (name) => namespaces.get({ namespace: "", name }),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    readUid: deployments.readUid,
    readNamespaceUid: async (name, signal) => (await readNamespace(client, name, signal))?.uid,
    patchStatus: deployments.patchStatus,
    removeFinalizer: (resource, signal) => deployments.removeFinalizer(resource, USER_FINALIZER, signal),
  };
}
