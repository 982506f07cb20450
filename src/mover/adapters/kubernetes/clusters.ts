import { GoneError, RefusedError, StaleError } from "../../../domain/errors.ts";
import { LABEL_UNIT } from "../../../domain/names.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { readNamespace } from "../../../runtime/kube/namespaces.ts";
import type { ResourceType } from "../../../runtime/kube/resource.ts";
import { tryAccess } from "../../../runtime/kube/try-access.ts";
import { type ApplicationObservation, parseObservation, parseOwnerBinding } from "../../../shard/parse-observation.ts";
import type { ManagedCluster, Observations } from "../../port.ts";

/** Owner bindings. */
export const OWNER_BINDINGS: ResourceType = {
  ...{ group: "rbac.authorization.k8s.io", version: "v1", plural: "rolebindings", kind: "RoleBinding", namespaced: true },
};
const APPLICATIONS: ResourceType = {
  ...{ group: "argoproj.io", version: "v1alpha1", plural: "applications", kind: "Application", namespaced: true },
};
const PAGE = 100;

/** The API cluster, for the owner bindings in own namespaces. It is asked in the name of accounts, as instances act there. */
export function createManagedCluster(client: KubeClient): ManagedCluster {
  return {
    ...conditionalWrites(client, OWNER_BINDINGS),
    async read(at, signal) {
      const raw = await client.get(OWNER_BINDINGS, at, signal);
      return raw === undefined ? undefined : parseOwnerBinding(raw);
    },
    readNamespace: (name, signal) => readNamespace(client, name, signal),
    ask: async (user, namespace, signal) => [
      { endpoint: client.server, ...(await tryAccess(client, { namespace, impersonating: user }, signal)) },
    ],
  };
}

/** The Applications of an engine cluster, read past every cache: a move is decided from what is there now. */
export function createObservations(client: KubeClient): Observations {
  return {
    ...conditionalWrites(client, APPLICATIONS),
    async list({ namespace, unitId }, signal) {
      const observations: ApplicationObservation[] = [];
      let continueToken: string | undefined;
      do {
        const from = continueToken === undefined ? {} : { continueToken };
        const options = { namespace, labelSelector: `${LABEL_UNIT}=${unitId}`, limit: PAGE, ...from };
        const page = await client.listPage<unknown>(APPLICATIONS, options, signal);
        observations.push(...page.items.flatMap((raw) => parseObservation(raw) ?? []));
        continueToken = page.continueToken;
      } while (continueToken !== undefined);
      return observations.sort((a, b) => (a.at.name < b.at.name ? -1 : 1));
    },
  };
}

/** Writes of one kind. One whose test fails is stale, not refused; so is one to an object that is gone, for that is another state of it too. */
export function conditionalWrites(client: KubeClient, type: ResourceType): Pick<ManagedCluster, "create" | "patch" | "delete"> {
  return {
    async create(manifest, signal) {
      await client.create(type, manifest, signal);
    },
    async patch(at, patch, signal) {
      try {
        await client.jsonPatch(type, at, patch, signal);
      } catch (error) {
        const isStale = error instanceof GoneError || (error instanceof RefusedError && error.code === "kube.test-failed");
        if (!isStale) throw error;
        const options = { code: "mover.test-failed", context: { kind: type.kind, ...at }, cause: error };
        throw new StaleError("changing an object that has changed meanwhile", options);
      }
    },
    delete: (at, preconditions, signal) => client.delete(type, at, { preconditions, propagationPolicy: "Background" }, signal),
  };
}
