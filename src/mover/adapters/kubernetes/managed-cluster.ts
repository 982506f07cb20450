import type { KubeClient } from "../../../runtime/kube/client.ts";
import { readNamespace } from "../../../runtime/kube/namespaces.ts";
import type { ResourceType } from "../../../runtime/kube/resource.ts";
import { tryAccess } from "../../../runtime/kube/try-access.ts";
import { parseRegister } from "../../../shard/parse-sight.ts";
import type { ManagedCluster } from "../../port.ts";
import { conditionalWrites } from "./conditional-writes.ts";

export const REGISTERS: ResourceType = {
  ...{ group: "rbac.authorization.k8s.io", version: "v1", plural: "rolebindings", kind: "RoleBinding", namespaced: true },
};

/** The API cluster, for the registers of own namespaces. It is asked in the name of accounts, as instances act there. */
export function createManagedCluster(client: KubeClient): ManagedCluster {
  return {
    ...conditionalWrites(client, REGISTERS),
    async read(at, signal) {
      const raw = await client.get(REGISTERS, at, signal);
      return raw === undefined ? undefined : parseRegister(raw);
    },
    readNamespace: (name, signal) => readNamespace(client, name, signal),
    ask: async (user, namespace, signal) => [
      { endpoint: client.server, ...(await tryAccess(client, { namespace, impersonating: user }, signal)) },
    ],
  };
}
