import type { Clock } from "../../../domain/clock.ts";
import { UnavailableError } from "../../../domain/errors.ts";
import type { InstancePlace } from "../../../domain/instance.ts";
import { LABEL_CANARY } from "../../../domain/names.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { InstanceObservation } from "../../../domain/rollout.ts";
import { isTimeout } from "../../../runtime/is-timeout.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createKeyedReflectors } from "../../../runtime/kube/keyed-reflectors.ts";
import { createReflector } from "../../../runtime/kube/reflector.ts";
import type { ResourceType } from "../../../runtime/kube/resource.ts";
import type { Log } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import {
  type CountedApplication,
  countApplication,
  decidedSync,
  type KeptApplication,
  NOTHING_COUNTED,
  parseKept,
} from "../../observation/count-application.ts";
import { judgePods } from "../../observation/judge-pods.ts";
import { NO_SYNCS, tallySyncs } from "../../observation/tally-syncs.ts";
import type { InstanceObservations, RolloutObservationRequest } from "../../port.ts";

const PODS: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const APPLICATIONS: ResourceType = {
  group: "argoproj.io",
  version: "v1alpha1",
  plural: "applications",
  kind: "Application",
  namespaced: true,
};
/** Canaries are left out. They are refreshed on request, so a controller that compares nothing else still compares them. */
const USERS = `!${LABEL_CANARY}`;
/** More pods than an instance's quota allows. */
const MOST_PODS = 50;
/** Timeout of the list of pods, in ms. */
const PODS_MS = 10_000;
/** How long an observation waits for the first list of a watch, in ms. It goes on after that, for the next observation. */
const LIST_MS = 30_000;
/** How long a watch may have said nothing, in ms. Servers say once a minute how far it is; a watch that is silent for two is opened again. */
const SILENT_MS = 150_000;

export interface InstanceObservationsOptions {
  readonly clientOf: (engineCluster: string) => Promise<KubeClient | undefined>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
}

const keyOf = ({ engineCluster, namespace }: InstancePlace): string => `${engineCluster}/${namespace}`;

/**
 * Observes instances by a watch of each one's Applications, which lists them once, and by a list of its few pods each time. The watches are the
 * rollout's own: what the reconciler keeps of Applications is less than the gates ask for, and its delay would be taken for the release's.
 */
export function createInstanceObservations({ clientOf, ...options }: InstanceObservationsOptions): InstanceObservations {
  const { clock } = options;
  const watches = createKeyedReflectors<KeptApplication>((key, client) =>
    createReflector({
      // Watches that come and go would change the gauges of those that stay.
      ...{ ...options, client, type: APPLICATIONS, labelSelector: USERS, metrics: noMetrics, rng: options.rng.fork(key) },
      ...{ namespace: key.slice(key.indexOf("/") + 1), project: parseKept, onChange: () => undefined },
    }),
  );

  const readApplications = async (
    client: KubeClient,
    { key, isAfresh }: { readonly key: string; readonly isAfresh: boolean },
    signal: AbortSignal,
  ): Promise<readonly KeptApplication[]> => {
    const before = watches.get(key);
    if (before?.isSynced() === true && (isAfresh || before.stalenessMs() > SILENT_MS)) watches.close(key);
    const watch = watches.open(key, client);
    await watch.synced(AbortSignal.any([signal, AbortSignal.timeout(LIST_MS)]));
    return watch.list();
  };
  const observe = async (
    client: KubeClient,
    { instance, request }: { readonly instance: InstancePlace; readonly request: RolloutObservationRequest },
    signal: AbortSignal,
  ): Promise<InstanceObservation> => {
    const { namespace } = instance;
    // Before the watch is waited for: a cluster that does not answer is found out by this.
    const pods = await client.listPage<unknown>(
      PODS,
      { namespace, limit: MOST_PODS },
      AbortSignal.any([signal, AbortSignal.timeout(PODS_MS)]),
    );
    const kept = await readApplications(client, { key: keyOf(instance), isAfresh: request.isAfresh === true }, signal);
    const now = clock.now();
    const counted = kept.reduce<CountedApplication>((before, one) => countApplication(before, one, { now, ...request }), NOTHING_COUNTED);
    const decided = kept.flatMap((one) => decidedSync(one, request.since) ?? []);
    const syncs = request.syncs === undefined ? NO_SYNCS : tallySyncs(request.syncs, decided);
    return { at: now, ...judgePods(pods.items, request), ...counted, syncs };
  };
  return {
    async observe(instance, request, signal) {
      const client = await clientOf(instance.engineCluster);
      if (client === undefined) return undefined;
      try {
        return await observe(client, { instance, request }, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof UnavailableError || isTimeout(error)) return undefined;
        throw error;
      }
    },
    watchOnly: (instances) => watches.keepOnly(new Set(instances.map(keyOf))),
    rest: () => watches.end(),
  };
}
