import { LABEL_MANAGED_BY, MANAGED_BY } from "../../../domain/names.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { listInPages } from "../../../runtime/kube/list.ts";
import type { ResourceType } from "../../../runtime/kube/resource.ts";
import { parseObject } from "../../../shard/parse-object.ts";
import { type ObservedOwnerBinding, parseOwnerBinding } from "../../../shard/parse-observation.ts";
import type { Standing } from "../../port.ts";
import { conditionalWrites, OWNER_BINDINGS } from "./clusters.ts";

const ACCOUNTS: ResourceType = { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true };
const OURS = `${LABEL_MANAGED_BY}=${MANAGED_BY}`;
const PAGE = 500;

/** Reads past every cache, page by page. */
export function createStanding(client: KubeClient, namespaces: { readonly accounts: string }): Standing {
  const options = { labelSelector: OURS, limit: PAGE };
  return {
    async newestEpoch(signal) {
      let newest = 0;
      const onObject = (raw: unknown): void => {
        newest = Math.max(newest, parseObject("account", raw)?.epoch ?? 0);
      };
      await listInPages({ client, type: ACCOUNTS, options: { ...options, namespace: namespaces.accounts }, onObject }, signal);
      return newest;
    },
    async listOwnerBindings(signal) {
      const ownerBindings: ObservedOwnerBinding[] = [];
      const onObject = (raw: unknown): void => {
        const ownerBinding = parseOwnerBinding(raw);
        if (ownerBinding !== undefined) ownerBindings.push(ownerBinding);
      };
      await listInPages({ client, type: OWNER_BINDINGS, options, onObject }, signal);
      return ownerBindings;
    },
    async revoke({ at, uid, resourceVersion }, signal) {
      const tests = [
        { op: "test", path: "/metadata/uid", value: uid },
        { op: "test", path: "/metadata/resourceVersion", value: resourceVersion },
      ] as const;
      await conditionalWrites(client, OWNER_BINDINGS).patch(at, [...tests, { op: "add", path: "/subjects", value: [] }], signal);
    },
  };
}
