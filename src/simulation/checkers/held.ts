import { USER_FINALIZER } from "../../domain/names.ts";
import { metadataOf } from "../../runtime/kube/testing/object-rules.ts";
import { argoName } from "../../workspace/argo-name.ts";
import { textAt } from "../models/kubernetes/text.ts";
import type { Checker } from "./checker.ts";
import { deployerOf } from "./requests.ts";

/** A resource with the user's finalizer goes only when nothing that it deployed is left. Namespaces that are being deleted do not count. */
export function keptUntilGone(): Checker {
  const standing = new Map<string, string>();
  const ending = new Set<string>();
  return {
    property: "held",
    observe({ happening }) {
      if (happening.kind === "user" && happening.act === "delete-namespace") ending.add(happening.namespace);
      const deployed = deployerOf(happening);
      if (deployed !== undefined) {
        const { namespace, name, change } = deployed.happening;
        if (change === "DELETED") standing.delete(`${namespace}/${name}`);
        else standing.set(`${namespace}/${name}`, deployed.application);
      }
      if (happening.kind !== "object" || happening.change !== "DELETED" || !happening.resource.startsWith("gitopsdeployments."))
        return undefined;
      const { before, namespace, name, object } = happening;
      const finalizers = metadataOf(before ?? {})["finalizers"];
      if (!Array.isArray(finalizers) || !finalizers.includes(USER_FINALIZER) || ending.has(namespace)) return undefined;
      const application = argoName({ namespace, name, uid: textAt(metadataOf(object), "uid") });
      const left = [...standing].flatMap(([key, by]) => (by === application ? [key] : []));
      return left.length === 0 ? undefined : `deployment ${namespace}/${name} was let go while ${left.join(", ")} stood`;
    },
  };
}
