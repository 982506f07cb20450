import { GoneError, RefusedError, StaleError } from "../../../domain/errors.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { ResourceType } from "../../../runtime/kube/resource.ts";
import type { ManagedCluster } from "../../port.ts";

/** Writes of one kind whose failed tests are stale, not refused. An object that is not there any more is another state of it too. */
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
