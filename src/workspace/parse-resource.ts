import { sha256 } from "../domain/hash.ts";
import { asArray, asObject, asString } from "../domain/json.ts";
import { USER_FINALIZER } from "../domain/names.ts";
import type { Condition, ObservedNamespace, ObservedResource, UserSecret } from "../domain/user-resource.ts";
import { ANNOTATION_PAUSED, ANNOTATION_REFRESHED_AT } from "./api/names.ts";

/** Conditions that are kept of one resource, and UTF-16 units of each text of one: more than is ever written here. What others add is theirs to keep. */
const CONDITIONS_KEPT = 64;
const LONGEST_KEPT = 8192;

/** Users write anything there, hundreds of kilobytes too; only whether it changed matters. */
function digestOf(text: string): string {
  return text === "" ? "" : sha256(text).slice(0, 16);
}

/** What is left of a resource that is one too many in its namespace: that it is there, and what its conditions say. */
export function withoutContent<T extends ObservedResource>(resource: T): T {
  const conditions = resource.conditions
    .slice(0, CONDITIONS_KEPT / 8)
    .map((condition) => ({ ...condition, message: condition.message?.slice(0, LONGEST_KEPT / 8) ?? "" }));
  return { ...resource, spec: undefined, conditions, isOneTooMany: true };
}

/** Reduces a raw resource of a user's; `undefined` for one without name or uid, which no API server sends. Its spec stays unread. */
export function parseResource(raw: unknown): ObservedResource | undefined {
  const meta = asObject(asObject(raw)["metadata"]);
  const status = asObject(asObject(raw)["status"]);
  const name = asString(meta["name"]);
  const uid = asString(meta["uid"]);
  if (name === "" || uid === "") return undefined;
  const annotations = asObject(meta["annotations"]);
  const observedGeneration = status["observedGeneration"];
  return {
    namespace: asString(meta["namespace"]),
    name,
    uid,
    generation: asNumber(meta["generation"]) ?? 0,
    createdAt: asString(meta["creationTimestamp"]),
    spec: asObject(raw)["spec"],
    isPaused: annotations[ANNOTATION_PAUSED] === "true",
    refreshedAt: digestOf(asString(annotations[ANNOTATION_REFRESHED_AT])),
    isDeleting: asString(meta["deletionTimestamp"]) !== "",
    isHeld: finalizersOf(raw).includes(USER_FINALIZER),
    conditions: asArray(status["conditions"]).slice(0, CONDITIONS_KEPT).flatMap(parseCondition),
    observedGeneration: asNumber(observedGeneration),
  };
}

export function parseNamespace(raw: unknown): ObservedNamespace | undefined {
  const meta = asObject(asObject(raw)["metadata"]);
  const name = asString(meta["name"]);
  const uid = asString(meta["uid"]);
  if (name === "" || uid === "") return undefined;
  const labels = Object.entries(asObject(meta["labels"])).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return { name, uid, labels: Object.fromEntries(labels), isDeleting: asString(meta["deletionTimestamp"]) !== "" };
}

/** Type and content of a raw Secret; an entry that is no base64 text is left out. */
export function parseSecret(raw: unknown): UserSecret | undefined {
  const source = asObject(raw);
  if (asString(asObject(source["metadata"])["name"]) === "") return undefined;
  const entries = Object.entries(asObject(source["data"])).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return { type: asString(source["type"]), data: Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text, "base64")])) };
}

export function finalizersOf(raw: unknown): readonly string[] {
  return asArray(asObject(asObject(raw)["metadata"])["finalizers"]).map(asString);
}

/** Whether something changed that a user did, as opposed to the status we write ourselves. A status that was wiped counts. */
export function resourceDiffersInRequest(before: ObservedResource | undefined, now: ObservedResource): boolean {
  return (
    before === undefined ||
    before.uid !== now.uid ||
    before.generation !== now.generation ||
    before.isDeleting !== now.isDeleting ||
    before.isHeld !== now.isHeld ||
    before.isPaused !== now.isPaused ||
    before.refreshedAt !== now.refreshedAt ||
    before.isOneTooMany !== now.isOneTooMany ||
    (before.conditions.length > 0 && now.conditions.length === 0)
  );
}

function parseCondition(raw: unknown): readonly Condition[] {
  const source = asObject(raw);
  const [type, status] = [asString(source["type"]), asString(source["status"])];
  if (type === "" || status === "") return [];
  const texts = ["reason", "message", "lastTransitionTime", "lastProbeTime"].filter((field) => typeof source[field] === "string");
  return [{ type, status, ...Object.fromEntries(texts.map((field) => [field, asString(source[field]).slice(0, LONGEST_KEPT)])) }];
}

function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}
