import { ANNOTATION_EPOCH, LABEL_INSTANCE, LABEL_UNIT } from "../../domain/names.ts";
import { type JsonMap, mapAt } from "../../runtime/kube/testing/json.ts";
import { metadataOf } from "../../runtime/kube/testing/object-rules.ts";
import { ANNOTATION_ARRIVING } from "../../shard/names.ts";
import type { Happening, ObjectHappening } from "../history.ts";
import { type EngineApplication, isOperationUnderWay, isPaused } from "../models/engine/application.ts";
import { annotationsOf } from "../models/kubernetes/server.ts";
import { textAt } from "../models/kubernetes/text.ts";

/** The state of an Application at one moment, with the fields that checkers read. */
export interface StandingApplication {
  readonly at: string;
  readonly name: string;
  readonly unit: string;
  /** Id of the instance it was made for. */
  readonly holder: string;
  readonly epoch: number;
  readonly path: string;
  readonly isPaused: boolean;
  readonly isAutomated: boolean;
  /** A sync is asked for or under way in it. */
  readonly isUnderWay: boolean;
  readonly isDeleting: boolean;
  /** A copy that a move has created and not activated yet. */
  readonly isArriving: boolean;
  /** How its last sync ended, or that it has not; undefined where it knows of none. */
  readonly lastSync: string | undefined;
}

export type ApplicationHappening = ObjectHappening & { readonly standing: StandingApplication };

/** A change of an Application; undefined for every other happening. */
export function standingApplicationOf(happening: Happening): ApplicationHappening | undefined {
  if (happening.kind !== "object" || happening.resource !== "applications.argoproj.io") return undefined;
  return { ...happening, standing: standingOf(happening.object, happening) };
}

function standingOf(object: JsonMap, { namespace, name }: Pick<ObjectHappening, "namespace" | "name">): StandingApplication {
  const application = object as unknown as EngineApplication;
  const labels = mapAt(metadataOf(object), "labels");
  return {
    ...{ at: `${namespace}/${name}`, name, unit: textAt(labels, LABEL_UNIT), holder: textAt(labels, LABEL_INSTANCE) },
    epoch: Number(annotationsOf(object)[ANNOTATION_EPOCH] ?? -1),
    path: application.spec?.source?.path ?? "",
    isPaused: isPaused(application),
    isAutomated: application.spec?.syncPolicy?.automated !== undefined,
    isUnderWay: isOperationUnderWay(application),
    isDeleting: metadataOf(object)["deletionTimestamp"] !== undefined,
    isArriving: annotationsOf(object)[ANNOTATION_ARRIVING] !== undefined,
    lastSync: application.status?.operationState?.phase,
  };
}
