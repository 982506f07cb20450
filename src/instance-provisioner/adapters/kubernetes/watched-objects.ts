import type { Clock } from "../../../domain/clock.ts";
import type { InstanceId } from "../../../domain/ids.ts";
import { LABEL_INSTANCE, LABEL_MANAGED_BY } from "../../../domain/names.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createReflector } from "../../../runtime/kube/reflector.ts";
import type { ObjectName } from "../../../runtime/kube/resource.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { PROVISIONED_BY } from "../../manifests/object.ts";
import { type SeenObject, seenObject } from "./seen-object.ts";
import { INSTANCE_TYPES } from "./types.ts";

export interface WatchOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** All objects of all instances on one cluster, from one watch for each kind. */
export interface WatchedInstanceObjects {
  start(signal: AbortSignal): void;
  synced(signal: AbortSignal): Promise<void>;
  get(kind: string, at: ObjectName): SeenObject | undefined;
}

export function watchObjects(options: WatchOptions, onChange: (id: InstanceId) => void): WatchedInstanceObjects {
  const tell = (seen: SeenObject | undefined): void => {
    if (seen?.instanceId !== undefined) onChange(seen.instanceId);
  };
  const reflectors = new Map(
    INSTANCE_TYPES.map((type) => {
      const reflector = createReflector<SeenObject>({
        ...options,
        rng: options.rng.fork(type.plural),
        type,
        labelSelector: `${LABEL_MANAGED_BY}=${PROVISIONED_BY},${LABEL_INSTANCE}`,
        project: seenObject,
        onChange: (change) => {
          // A status that says the same again changes nothing.
          if (change.kind === "upsert" && change.before !== undefined && isSame(change.before, change.now)) return;
          tell(change.before);
          if (change.kind === "upsert" && change.now.instanceId !== change.before?.instanceId) tell(change.now);
        },
      });
      return [type.kind, reflector] as const;
    }),
  );
  return {
    start: (signal) => reflectors.forEach((reflector) => reflector.start(signal)),
    synced: async (signal) => void (await Promise.all([...reflectors.values()].map((reflector) => reflector.synced(signal)))),
    get: (kind, at) => reflectors.get(kind)?.get(at),
  };
}

function isSame(a: SeenObject, b: SeenObject): boolean {
  return (
    a.fingerprint === b.fingerprint &&
    a.isDeleting === b.isDeleting &&
    a.instanceId === b.instanceId &&
    a.readiness.isReady === b.readiness.isReady &&
    a.readiness.detail === b.readiness.detail &&
    JSON.stringify(a.quota) === JSON.stringify(b.quota)
  );
}
