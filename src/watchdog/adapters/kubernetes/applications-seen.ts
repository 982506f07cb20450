import { UnavailableError } from "../../../domain/errors.ts";
import { LABEL_CANARY } from "../../../domain/names.ts";
import type { SeenApplication } from "../../../domain/seen-application.ts";
import { isTimeout } from "../../../runtime/is-timeout.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { ResourceType } from "../../../runtime/kube/resource.ts";
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

/**
 * Lists Applications from the API server, not from a cache of this process: the watchdog also checks what the
 * reconciler believes.
 */
export function createApplicationsSeen(clientOf: (engineCluster: string) => Promise<KubeClient | undefined>): ApplicationsSeen {
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
      const client = await clientOf(engineCluster);
      if (client === undefined) return undefined;
      try {
        return await read(client, namespace, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof UnavailableError || isTimeout(error)) return undefined;
        throw error;
      }
    },
  };
}
