import { BLOCKED_AFTER_MS, type HeldObject } from "../domain/blockage.ts";
import type { Millis } from "../domain/clock.ts";
import { asArray, asObject, asString } from "../domain/json.ts";
import type { ObservedApplication } from "./parse-application.ts";

/** Finalizers of one object that are named. */
const FINALIZER_LIMIT = 5;

/** Those objects of a list that are being deleted and have a finalizer, by name. */
export function parseHeldObjects(raw: unknown, { group, kind }: Pick<HeldObject, "group" | "kind">): readonly HeldObject[] {
  return asArray(asObject(raw)["items"])
    .map((item) => asObject(asObject(item)["metadata"]))
    .filter((metadata) => asString(metadata["deletionTimestamp"]) !== "")
    .map((metadata) => ({
      group,
      kind,
      namespace: asString(metadata["namespace"]),
      name: asString(metadata["name"]),
      finalizers: asArray(metadata["finalizers"])
        .filter((entry) => typeof entry === "string")
        .slice(0, FINALIZER_LIMIT),
    }))
    .filter(({ finalizers }) => finalizers.length > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether the deletion of an Application has been under way for suspiciously long. */
export function isBlocked(observed: ObservedApplication, now: Millis, afterMs = BLOCKED_AFTER_MS): boolean {
  return observed.deletingSince !== undefined && now - observed.deletingSince > afterMs;
}
