import type { Rng } from "../../domain/rng.ts";
import { APPLICATIONS } from "../../reconciler/adapters/kubernetes/types.ts";
import type { JsonMap } from "../../runtime/kube/testing/json.ts";
import { metadataOf, nameOf } from "../../runtime/kube/testing/object-rules.ts";
import { ANNOTATION_ARRIVING } from "../../shard/names.ts";
import { CASCADE } from "../models/engine/application.ts";
import { annotationsOf } from "../models/kubernetes/server.ts";
import { textAt } from "../models/kubernetes/text.ts";
import type { Fleet } from "./fleet.ts";

const WRITE = { isStatus: false, dryRun: false };

/**
 * Somebody with kubectl in an instance's namespace. `hand-finalizer` puts Argo CD's cascade on an Application; `hand-delete` does so to a
 * copy that a move has just made, and deletes it: what that destroys nobody asked for.
 */
export function layHands({ world, engine, instances }: Fleet, kind: "hand-finalizer" | "hand-delete", rng: Rng): void {
  const mayBeTaken = (each: JsonMap): boolean => {
    const { deletionTimestamp } = metadataOf(each);
    const arrival = annotationsOf(each)[ANNOTATION_ARRIVING];
    return deletionTimestamp === undefined && (kind === "hand-finalizer" ? arrival === undefined : arrival === "created");
  };
  const found = instances.flatMap(({ namespace }) => engine.objects.list(APPLICATIONS, namespace).filter(mayBeTaken));
  const one = found[Math.floor(rng.next() * found.length)];
  if (one === undefined) return;
  const at = { namespace: textAt(metadataOf(one), "namespace"), name: nameOf(one) };
  world.record({ kind: "chaos", what: `somebody ${kind === "hand-delete" ? "deletes" : "puts a finalizer on"} ${at.namespace}/${at.name}` });
  engine.objects.mergePatch(APPLICATIONS, at, { ...WRITE, patch: { metadata: { finalizers: [CASCADE] } } });
  if (kind === "hand-delete") engine.objects.delete(APPLICATIONS, at, { body: {}, dryRun: false });
}
