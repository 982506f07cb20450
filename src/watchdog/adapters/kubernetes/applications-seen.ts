import type { Clock } from "../../../domain/clock.ts";
import { InputError, RefusedError, UnavailableError } from "../../../domain/errors.ts";
import { LABEL_CANARY } from "../../../domain/names.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { SeenApplication } from "../../../domain/seen-application.ts";
import { isTimeout } from "../../../runtime/is-timeout.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createKeyedReflectors } from "../../../runtime/kube/keyed-reflectors.ts";
import { createReflector } from "../../../runtime/kube/reflector.ts";
import type { ResourceType } from "../../../runtime/kube/resource.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { parseSeen } from "../../parse-seen.ts";
import type { ApplicationsSeen } from "../../port.ts";

const APPLICATIONS: ResourceType = {
  group: "argoproj.io",
  version: "v1alpha1",
  plural: "applications",
  kind: "Application",
  namespaced: true,
};
/** Canaries belong to no unit. */
const USERS = `!${LABEL_CANARY}`;
/** Applications in one page. Only a few fields are kept of a page before the next one is read. */
const PAGE = 500;
/** Timeout of a page, in ms. Findings on other clusters must not wait for a cluster that does not answer. */
const PAGE_MS = 10_000;
/** How long a watch may have said nothing, in ms. Servers say once a minute how far it is; a watch that is silent for two is opened again. */
const SILENT_MS = 150_000;

export interface ApplicationsSeenOptions {
  readonly clientOf: (engineCluster: string) => Promise<KubeClient | undefined>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Lists Applications from the API server, and watches each cluster that is asked for. The watch is the watchdog's own and takes whatever stands in a namespace,
 * whoever created it: the watchdog also checks what the reconciler believes.
 */
export function createApplicationsSeen({ clientOf, ...options }: ApplicationsSeenOptions): ApplicationsSeen {
  const watches = createKeyedReflectors<SeenApplication>((engineCluster, client) =>
    createReflector({
      ...{ ...options, client, type: APPLICATIONS, labelSelector: USERS, rng: options.rng.fork(engineCluster) },
      ...{ project: parseSeen, onChange: () => undefined },
    }),
  );

  const read = async (client: KubeClient, namespace: string, signal: AbortSignal): Promise<readonly SeenApplication[]> => {
    const seen: SeenApplication[] = [];
    let continueToken: string | undefined;
    do {
      const from = continueToken === undefined ? {} : { continueToken };
      const limited = AbortSignal.any([signal, AbortSignal.timeout(PAGE_MS)]);
      const page = await client.listPage<unknown>(APPLICATIONS, { namespace, labelSelector: USERS, limit: PAGE, ...from }, limited);
      seen.push(...page.items.flatMap((raw) => parseSeen(raw) ?? []));
      continueToken = page.continueToken;
    } while (continueToken !== undefined);
    return seen;
  };
  return {
    async list({ engineCluster, namespace }, signal) {
      try {
        const client = await clientOf(engineCluster);
        if (client === undefined) return undefined;
        // One that was opened with credentials of before is opened anew.
        watches.open(engineCluster, client);
        return await read(client, namespace, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof UnavailableError || isTimeout(error)) return undefined;
        if (!(error instanceof RefusedError || error instanceof InputError)) throw error;
        // Of one cluster. The others' Applications are compared all the same.
        options.log.error({ cluster: engineCluster, namespace, err: error }, "Refused the list of the Applications of an instance");
        return undefined;
      }
    },
    reported({ engineCluster, namespace }) {
      const reflector = watches.get(engineCluster);
      return reflector?.isSynced() === true && reflector.stalenessMs() <= SILENT_MS ? reflector.list(namespace) : undefined;
    },
    rest: () => watches.end(),
  };
}
