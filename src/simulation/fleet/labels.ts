import { type JsonMap, mapAt } from "../../runtime/kube/testing/json.ts";
import { metadataOf, nameOf } from "../../runtime/kube/testing/object-rules.ts";
import { NAMESPACE_TYPE } from "../models/kubernetes/server.ts";
import { textAt } from "../models/kubernetes/text.ts";
import { CLASS_BY_LABEL, CLASS_LABEL } from "./declared.ts";
import type { Fleet } from "./fleet.ts";

/** What an administrator does to namespaces of users, each time at one moment: the label comes, changes or goes. */
export function createLabels({ world, api: { objects } }: Fleet): { readonly relabel: () => void } {
  const rng = world.rng.fork("labels");
  const values = [...Object.keys(CLASS_BY_LABEL), null];
  return {
    relabel() {
      const namespaces = objects.list(NAMESPACE_TYPE, "").filter((each) => nameOf(each).startsWith("team-"));
      const found = namespaces[Math.floor(rng.next() * namespaces.length)];
      const value = values[Math.floor(rng.next() * values.length)] ?? null;
      if (found === undefined || metadataOf(found)["deletionTimestamp"] !== undefined) return;
      const patch = { metadata: { labels: { [CLASS_LABEL]: value } } };
      objects.mergePatch(NAMESPACE_TYPE, { namespace: "", name: nameOf(found) }, { isStatus: false, dryRun: false, patch });
    },
  };
}

/** The class that a namespace asks for; `undefined`: none. */
export function classAskedFor(namespace: JsonMap): string | undefined {
  return CLASS_BY_LABEL[textAt(mapAt(metadataOf(namespace), "labels"), CLASS_LABEL)];
}
