import type { ResourceType } from "../../../runtime/kube/resource.ts";
import { metadataOf, nameOf } from "../../../runtime/kube/testing/object-rules.ts";
import type { World } from "../../world/world.ts";
import type { KubeServer } from "./server.ts";
import { NAMESPACE_TYPE } from "./server.ts";

/** Finalizer that keeps a namespace until its content is gone. */
export const NAMESPACE_FINALIZER = "kubernetes";

/** Starts the cluster's own controllers: they clear namespaces that are being deleted. */
export function runClusterControllers(world: World, server: KubeServer, kinds: readonly ResourceType[]): void {
  const rng = world.rng.fork(`controllers of ${server.name}`);
  const soon = (what: string, run: () => void): void => void world.schedule(20 + rng.next() * 400, `${server.name} ${what}`, run);
  server.onChange(({ type, kind, object }) => {
    if (kind === "DELETED") return;
    if (type.plural === "namespaces" && metadataOf(object)["deletionTimestamp"] !== undefined)
      soon("clears a namespace", () => clearNamespace(server, nameOf(object), kinds, soon));
  });
}

/** Deletes what is in the namespace, waits for what has finalizers, then takes off the namespace's own. */
function clearNamespace(
  server: KubeServer,
  name: string,
  kinds: readonly ResourceType[],
  soon: (what: string, run: () => void) => void,
): void {
  const { objects } = server;
  const left = kinds.flatMap((type) => objects.list(type, name).map((object) => ({ type, object })));
  const found = objects.list(NAMESPACE_TYPE, "").find((each) => nameOf(each) === name);
  if (found === undefined) return;
  if (left.length === 0) {
    objects.mergePatch(
      NAMESPACE_TYPE,
      { namespace: "", name },
      { isStatus: false, dryRun: false, patch: { metadata: { finalizers: null } } },
    );
    return;
  }
  for (const { type, object } of left) {
    if (metadataOf(object)["deletionTimestamp"] === undefined)
      objects.delete(type, { namespace: name, name: nameOf(object) }, { body: {}, dryRun: false });
  }
  soon("clears a namespace again", () => clearNamespace(server, name, kinds, soon));
}
