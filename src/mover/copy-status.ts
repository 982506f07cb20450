import { contentHash } from "../domain/hash.ts";
import { asArray, asObject, type Json } from "../domain/json.ts";
import type { Sight } from "../shard/parse-sight.ts";

/** Largest status that is copied whole, in characters of JSON: an object of etcd ends at 1.5 MB. */
const SIZE_LIMIT = 400_000;
const HISTORY_LIMIT = 5;
/** Entries kept of lists in a status that is too large. */
const LIST_LIMIT = 200;

/** The status an arriving Application is given, and the hash by which it is recognised. */
export interface StatusCopy {
  readonly status: Json;
  readonly hash: string;
}

/**
 * What the target is to know of an application before it has looked: with it nothing is synced again and the history goes on. A last
 * operation is copied only if it succeeded: a failed one would keep Argo CD from syncing that revision, and without one it syncs.
 */
export function copyStatus({ status }: Pick<Sight, "status">): StatusCopy {
  const { operationState, history, ...rest } = status;
  const isGood = asObject(operationState)["phase"] === "Succeeded";
  const copy: Json = {
    ...rest,
    ...(isGood ? { operationState } : {}),
    ...(history === undefined ? {} : { history: asArray(history).slice(-HISTORY_LIMIT) }),
  };
  const bounded = isSmall(copy) ? copy : trim(copy);
  return { status: bounded, hash: contentHash(bounded) };
}

function isSmall(status: Json): boolean {
  return JSON.stringify(status).length <= SIZE_LIMIT;
}

/** The controller fills lists in again with its first look; what it decides from are the scalars. */
function trim({ resources, operationState, summary: _summary, ...rest }: Json): Json {
  const result = asObject(asObject(operationState)["syncResult"]);
  const cut = asArray(result["resources"]).slice(0, LIST_LIMIT);
  const trimmed: Json = {
    ...rest,
    resources: asArray(resources).slice(0, LIST_LIMIT),
    ...(operationState === undefined ? {} : { operationState: { ...asObject(operationState), syncResult: { ...result, resources: cut } } }),
  };
  if (isSmall(trimmed)) return trimmed;
  const { resources: _resources, history: _history, conditions: _conditions, ...core } = trimmed;
  return core;
}
