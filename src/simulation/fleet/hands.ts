import type { Rng } from "../../domain/rng.ts";
import { APPLICATIONS } from "../../reconciler/adapters/kubernetes/types.ts";
import type { JsonMap } from "../../runtime/kube/testing/json.ts";
import { metadataOf, nameOf } from "../../runtime/kube/testing/object-rules.ts";
import type { ObjectAt } from "../../shard/managed-object.ts";
import { ANNOTATION_ARRIVING } from "../../shard/names.ts";
import { CASCADE } from "../models/engine/application.ts";
import { annotationsOf } from "../models/kubernetes/server.ts";
import { textAt } from "../models/kubernetes/text.ts";
import type { Fleet } from "./fleet.ts";

const WRITE = { isStatus: false, dryRun: false };
/** How soon after a copy was made somebody takes it for a leftover, in ms, at most. */
const SOON_MS = 150;

const isStanding = (each: JsonMap): boolean => metadataOf(each)["deletionTimestamp"] === undefined;
const arrivalOf = (each: JsonMap): string => textAt(annotationsOf(each), ANNOTATION_ARRIVING);

/** Somebody with kubectl puts Argo CD's resources finalizer on an Application. */
export function addCascadeFinalizer({ world, engines: [engine], instances }: Fleet, rng: Rng): void {
  if (engine === undefined) return;
  const found = instances.flatMap(({ namespace }) =>
    engine.objects.list(APPLICATIONS, namespace).filter((each) => isStanding(each) && arrivalOf(each) === ""),
  );
  const one = found[Math.floor(rng.next() * found.length)];
  if (one === undefined) return;
  world.record({ kind: "chaos", trouble: "hand-finalizer", what: `somebody puts a finalizer on ${nameOf(one)}` });
  engine.objects.mergePatch(APPLICATIONS, atOf(one), { ...WRITE, patch: { metadata: { finalizers: [CASCADE] } } });
}

/** Somebody with kubectl deletes the next copy that a move makes, with a cascade that would destroy what its user still wants. */
export function deleteNextCopy({ world, engines: [engine] }: Fleet, rng: Rng): void {
  if (engine === undefined) return;
  let isOver = false;
  engine.onChange(({ type, kind, object }) => {
    if (isOver || kind !== "ADDED" || type.plural !== APPLICATIONS.plural || arrivalOf(object) !== "created") return;
    isOver = true;
    world.schedule(rng.next() * SOON_MS, "somebody deletes a copy", () => strike(atOf(object)));
  });
  const strike = (at: ObjectAt): void => {
    const now = engine.objects.list(APPLICATIONS, at.namespace).find((each) => nameOf(each) === at.name);
    if (now === undefined || !isStanding(now) || !["created", "comparing"].includes(arrivalOf(now))) return;
    world.record({ kind: "chaos", trouble: "hand-delete", what: `somebody deletes the copy ${at.namespace}/${at.name}` });
    engine.objects.mergePatch(APPLICATIONS, at, { ...WRITE, patch: { metadata: { finalizers: [CASCADE] } } });
    engine.objects.delete(APPLICATIONS, at, { body: {}, dryRun: false });
  };
}

function atOf(object: JsonMap): ObjectAt {
  return { namespace: textAt(metadataOf(object), "namespace"), name: nameOf(object) };
}
