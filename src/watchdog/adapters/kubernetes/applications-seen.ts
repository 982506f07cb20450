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
/** Canaries are nobody's. */
const USERS = `!${LABEL_CANARY}`;
/** Of each page only what counts is kept before the next is asked for. */
const PAGE = 500;
/** A page that takes longer is no answer: what is found on other clusters must not wait for this one. In ms. */
const PAGE_MS = 10_000;

/** Lists past every cache of this process': what the reconciler believes is what is watched. */
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
