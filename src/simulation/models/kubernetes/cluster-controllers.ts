import type { ResourceType } from "../../../runtime/kube/resource.ts";
import type { JsonMap } from "../../../runtime/kube/testing/json.ts";
import { mapAt } from "../../../runtime/kube/testing/json.ts";
import { metadataOf, nameOf } from "../../../runtime/kube/testing/object-rules.ts";
import type { World } from "../../world/world.ts";
import type { KubeServer } from "./server.ts";
import { annotationsOf, NAMESPACE_TYPE } from "./server.ts";
import { textAt } from "./text.ts";

const SECRET_TYPE: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
/** Keeps a namespace until its content is gone. */
export const NAMESPACE_FINALIZER = "kubernetes";

/** The cluster's own loops: tokens for accounts that ask for one, and the end of namespaces. */
export function runClusterControllers(world: World, server: KubeServer, kinds: readonly ResourceType[]): void {
  const rng = world.rng.fork(`controllers of ${server.name}`);
  const soon = (what: string, run: () => void): void => void world.schedule(20 + rng.next() * 400, `${server.name} ${what}`, run);
  server.onChange(({ type, kind, object }) => {
    if (kind === "DELETED") return;
    if (
      type.plural === "secrets" &&
      object["type"] === "kubernetes.io/service-account-token" &&
      mapAt(object, "data")["token"] === undefined
    )
      soon("makes a token", () => makeToken(server, object));
    if (type.plural === "namespaces" && metadataOf(object)["deletionTimestamp"] !== undefined)
      soon("clears a namespace", () => clearNamespace(server, nameOf(object), kinds, soon));
  });
}

function makeToken(server: KubeServer, secret: JsonMap): void {
  const at = { namespace: textAt(metadataOf(secret), "namespace"), name: nameOf(secret) };
  const account = textAt(annotationsOf(secret), "kubernetes.io/service-account.name");
  const token = Buffer.from(`token of ${account} ${textAt(metadataOf(secret), "uid")}`).toString("base64");
  const isThere = server.objects.list(SECRET_TYPE, at.namespace).some((each) => nameOf(each) === at.name);
  if (isThere) server.objects.mergePatch(SECRET_TYPE, at, { isStatus: false, dryRun: false, patch: { data: { token } } });
}

/** Deletes what is in it, waits for what has finalizers, and lets it go. */
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
  soon("looks at a namespace again", () => clearNamespace(server, name, kinds, soon));
}
