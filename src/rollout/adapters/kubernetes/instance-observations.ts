import type { Clock } from "../../../domain/clock.ts";
import { UnavailableError } from "../../../domain/errors.ts";
import { LABEL_CANARY } from "../../../domain/names.ts";
import type { InstanceObservation, ObservationRequest } from "../../../domain/rollout.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { ResourceType } from "../../../runtime/kube/resource.ts";
import { type CountedApplication, countApplication, decidedSync, NOTHING_COUNTED } from "../../observation/count-application.ts";
import { type AskedAt, judgePods } from "../../observation/judge-pods.ts";
import { type DecidedSync, NO_SYNCS, tallySyncs } from "../../observation/tally-syncs.ts";
import type { InstanceObservations } from "../../port.ts";

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
/** Applications in one page. Only numbers are kept of a page before the next one is read. */
const PAGE = 500;
/** Timeout of a page, in ms. */
const PAGE_MS = 10_000;

export interface InstanceObservationsOptions {
  readonly clientOf: (engineCluster: string) => Promise<KubeClient | undefined>;
  readonly clock: Clock;
}

/** Reads pods and Applications from the API server, not from a cache of this process. */
export function createInstanceObservations({ clientOf, clock }: InstanceObservationsOptions): InstanceObservations {
  const read = async (
    client: KubeClient,
    namespace: string,
    request: ObservationRequest & AskedAt,
    signal: AbortSignal,
  ): Promise<InstanceObservation> => {
    const limited = () => AbortSignal.any([signal, AbortSignal.timeout(PAGE_MS)]);
    const pods = await client.listPage<unknown>(PODS, { namespace, limit: MOST_PODS }, limited());
    const now = clock.now();
    let counted: CountedApplication = NOTHING_COUNTED;
    const decided: DecidedSync[] = [];
    let continueToken: string | undefined;
    do {
      const from = continueToken === undefined ? {} : { continueToken };
      const page = await client.listPage<unknown>(APPLICATIONS, { namespace, limit: PAGE, labelSelector: USERS, ...from }, limited());
      for (const raw of page.items) {
        counted = countApplication(counted, raw, { now, ...request });
        decided.push(...[decidedSync(raw, request.since) ?? []].flat());
      }
      continueToken = page.continueToken;
    } while (continueToken !== undefined);
    const syncs = request.syncs === undefined ? NO_SYNCS : tallySyncs(request.syncs, decided);
    return { at: now, ...judgePods(pods.items, request), ...counted, syncs };
  };
  return {
    async observe({ engineCluster, namespace }, request, signal) {
      const client = await clientOf(engineCluster);
      if (client === undefined) return undefined;
      try {
        return await read(client, namespace, request, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof UnavailableError || (error instanceof DOMException && error.name === "TimeoutError")) return undefined;
        throw error;
      }
    },
  };
}
