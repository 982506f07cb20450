import { asArray, asObject, type Json } from "../domain/json.ts";
import { RESOURCE_LIMIT } from "../domain/status.ts";

const TEXT_LIMIT = 4096;
const DEPTH_LIMIT = 10;
/** Largest number of entries of any list but the resources of a result. */
const LIST_LIMIT = 100;
/** Largest mirror in characters of JSON; one that is larger loses its lists of resources, and then everything but its outcome. */
const SIZE_LIMIT = 256 * 1024;

const STATE_FIELDS = ["finishedAt", "message", "operation", "phase", "retryCount", "startedAt", "syncResult"] as const;
const OUTCOME_FIELDS = ["finishedAt", "message", "phase", "retryCount", "startedAt"] as const;

/**
 * A bounded copy of Argo CD's `status.operationState` with the fields the users' API has. Local manifests are left out: they
 * are the whole content of an application. `undefined` before the first sync.
 */
export function mirrorOperationState(raw: unknown): Json | undefined {
  const source = asObject(raw);
  if (Object.keys(source).length === 0) return undefined;
  const whole = pickBounded(source, STATE_FIELDS);
  if (isSmall(whole)) return whole;
  const result = asObject(whole["syncResult"]);
  const trimmed = {
    ...pickBounded(source, OUTCOME_FIELDS),
    ...(Object.keys(result).length === 0 ? {} : { syncResult: { ...result, resources: asArray(result["resources"]).slice(0, 50) } }),
  };
  return isSmall(trimmed) ? trimmed : pickBounded(source, OUTCOME_FIELDS);
}

function isSmall(value: Json): boolean {
  return JSON.stringify(value).length <= SIZE_LIMIT;
}

function pickBounded(source: Json, fields: readonly string[]): Json {
  return Object.fromEntries(
    fields.filter((field) => isPresent(source[field])).map((field) => [field, bounded(source[field], DEPTH_LIMIT)]),
  );
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function bounded(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value.length <= TEXT_LIMIT ? value : `${value.slice(0, TEXT_LIMIT - 1)}…`;
  if (value === null || typeof value !== "object") return value;
  if (depth === 0) return undefined;
  if (Array.isArray(value)) return value.slice(0, LIST_LIMIT).map((entry) => bounded(entry, depth - 1));
  const entries = Object.entries(value).filter(([field, entry]) => field !== "manifests" && isPresent(entry));
  return Object.fromEntries(
    entries.map(([field, entry]) => [
      field,
      field === "resources" && Array.isArray(entry)
        ? entry.slice(0, RESOURCE_LIMIT).map((one) => bounded(one, depth - 1))
        : bounded(entry, depth - 1),
    ]),
  );
}
