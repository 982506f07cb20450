import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { ReflectorChange } from "../../../runtime/kube/reflector.ts";
import { createReflector } from "../../../runtime/kube/reflector.ts";
import type { KubeObject, ResourceType } from "../../../runtime/kube/resource.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import type { Party } from "../../world/party.ts";
import { TRACKING } from "./application.ts";

export const CONFIG_MAPS: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };

export interface LiveObject {
  readonly namespace: string;
  readonly name: string;
  readonly content: string;
  /** The Application that its tracking id names. */
  readonly application: string;
  readonly isDeleting: boolean;
}

/** What an instance knows of a managed cluster. It sees everything through this cache, its own writes too. */
export interface ClusterCache {
  /** Begins to list and watch, once. */
  start(): void;
  isReady(): boolean;
  owned(application: string): readonly LiveObject[];
}

/** Events of the managed cluster are taken into the cache in batches (Argo CD 3: `ARGOCD_CLUSTER_CACHE_EVENTS_PROCESSING_INTERVAL`), in ms. */
const BATCH_MS = 100;

export function createClusterCache(party: Party, client: KubeClient, onApplication: (name: string) => void): ClusterCache {
  const known = new Map<string, LiveObject>();
  let batch: ReflectorChange<LiveObject>[] = [];
  let isStarted = false;
  let isReady = false;

  const take = (): void => {
    const notifications = batch;
    batch = [];
    for (const change of notifications) {
      const key = `${change.at.namespace}/${change.at.name}`;
      if (change.kind === "delete") known.delete(key);
      else known.set(key, change.now);
    }
    for (const change of notifications)
      for (const each of [change.before?.application, change.kind === "upsert" ? change.now.application : ""])
        if (each) onApplication(each);
  };
  const reflector = createReflector<LiveObject>({
    ...{ client, type: CONFIG_MAPS, clock: party.clock, rng: party.rng.fork("cluster cache"), log: silentLog, metrics: noMetrics },
    project: parseLive,
    onChange(change) {
      if (batch.length === 0) party.clock.after(BATCH_MS, take);
      batch.push(change);
    },
  });
  return {
    start() {
      if (isStarted) return;
      isStarted = true;
      reflector.start(party.signal);
      const onSynced = (): void => {
        take();
        isReady = true;
      };
      // Rejects only when the world is over.
      reflector.synced(party.signal).then(onSynced, () => undefined);
    },
    isReady: () => isReady,
    owned: (application) =>
      [...known.values()].filter((each) => each.application === application).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function parseLive(raw: KubeObject): LiveObject | undefined {
  const { namespace = "", name, annotations = {}, deletionTimestamp } = raw.metadata;
  const tracking = annotations[TRACKING];
  if (tracking === undefined) return undefined;
  const { data } = raw as KubeObject & { readonly data?: Readonly<Record<string, string>> };
  const application = tracking.slice(0, tracking.indexOf(":"));
  return { namespace, name, content: data?.["content"] ?? "", application, isDeleting: deletionTimestamp !== undefined };
}
