import { asArray, asObject, asString, type Json } from "../domain/json.ts";
import { ANNOTATION_ARRIVING, ANNOTATION_COPIED, ANNOTATION_PAUSE, ANNOTATION_REFRESH } from "./names.ts";
import { parseReadApplication, type ReadApplication } from "./parse-application.ts";
import { type ObservedBinding, parseBinding } from "./parse-rights.ts";

/** How far an Application is that a move has put on its target: made, being compared with what is live, compared and paused again. */
export const ARRIVALS = ["created", "comparing", "compared"] as const;
export type Arrival = (typeof ARRIVALS)[number];

/** An Argo CD Application as a move observes it, which needs more of it than is kept of all of them. */
export interface ApplicationObservation extends ReadApplication {
  readonly isPaused: boolean;
  /** It syncs by itself. */
  readonly isAutomated: boolean;
  /** The controller was asked to refresh and has not. */
  readonly awaitsRefresh: boolean;
  /** Absent on one that no move put there, and on an active one. */
  readonly arrival: Arrival | undefined;
  readonly copiedHash: string | undefined;
  /** As it stands, to be copied. */
  readonly status: Json;
}

export function parseObservation(raw: unknown): ApplicationObservation | undefined {
  const observed = parseReadApplication(raw);
  if (observed === undefined) return undefined;
  const annotations = asObject(asObject(asObject(raw)["metadata"])["annotations"]);
  const automated = asObject(asObject(asObject(raw)["spec"])["syncPolicy"])["automated"];
  return {
    ...observed,
    isPaused: annotations[ANNOTATION_PAUSE] === "true",
    isAutomated: automated !== undefined && automated !== null,
    awaitsRefresh: annotations[ANNOTATION_REFRESH] !== undefined,
    arrival: ARRIVALS.find((arrival) => arrival === annotations[ANNOTATION_ARRIVING]),
    copiedHash: asString(annotations[ANNOTATION_COPIED]) || undefined,
    status: asObject(asObject(raw)["status"]),
  };
}

/** An owner binding, with the subjects it names. */
export interface ObservedOwnerBinding extends ObservedBinding {
  /** Names of the accounts, or whatever else, that it gives the right to write. */
  readonly subjects: readonly string[];
  /** Somebody else's: none of ours has any. */
  readonly finalizers: readonly string[];
}

export function parseOwnerBinding(raw: unknown): ObservedOwnerBinding | undefined {
  const object = parseBinding(raw);
  if (object === undefined) return undefined;
  const subjects = asArray(asObject(raw)["subjects"]).map((subject) => asString(asObject(subject)["name"]));
  return { ...object, subjects, finalizers: asArray(asObject(asObject(raw)["metadata"])["finalizers"]).map(asString) };
}
