import type { HeldObject } from "../../../domain/blockage.ts";
import { HELD_LIMIT } from "../../../domain/blockage.ts";
import type { Discovery } from "../../../domain/parse-discovery.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { resourcePath } from "../../../runtime/kube/resource.ts";
import { parseHeldObjects } from "../../../shard/parse-held-objects.ts";
import type { HeldObjects } from "../../port.ts";

export interface HeldObjectsOptions {
  readonly client: KubeClient;
  /** Namespace of the accounts that deploy. */
  readonly accountsNamespace: string;
  readonly discover: (signal: AbortSignal) => Promise<Discovery>;
}

/** How many kinds are searched at most, each by one list. */
const KINDS = 30;
/** How many objects of a kind are searched. */
const PAGE = 500;
/** Of each object only what everything has: what is in a Secret is nobody's business here. */
const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/**
 * Searches as the account that deployed: it may read what it may deploy, in that one namespace and nowhere else. Argosy's own account
 * may not read what users deploy, and does not need to.
 */
export function createHeldObjects({ client, accountsNamespace, discover }: HeldObjectsOptions): HeldObjects {
  return {
    async find({ namespace, account, resources }, signal) {
      const { resources: served } = await discover(signal);
      const kinds = new Map(resources.filter((one) => one.namespace === namespace).map((one) => [`${one.group}/${one.kind}`, one]));
      const found: HeldObject[] = [];
      for (const { group, version, kind } of [...kinds.values()].slice(0, KINDS)) {
        const plural = served.find((one) => one.group === group && one.kind === kind)?.name;
        if (plural === undefined) continue;
        const answer = await client.request<unknown>(
          {
            method: "GET",
            path: resourcePath({ group, version, plural, kind, namespaced: true }, { namespace }),
            query: { limit: PAGE },
            accept: METADATA_ONLY,
            headers: { "impersonate-user": `system:serviceaccount:${accountsNamespace}:${account}` },
          },
          signal,
        );
        found.push(...parseHeldObjects(answer, { group, kind }));
      }
      const ours = new Set(resources.map((one) => `${one.group}/${one.kind}/${one.name}`));
      return found.filter((one) => ours.has(`${one.group}/${one.kind}/${one.name}`)).slice(0, HELD_LIMIT);
    },
  };
}
