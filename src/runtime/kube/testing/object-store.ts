import { randomUUID } from "node:crypto";
import type { Clock } from "../../../domain/clock.ts";
import { millis, rfc3339 } from "../../../domain/clock.ts";
import { systemClock } from "../../clock.ts";
import type { JsonPatchOperation } from "../client.ts";
import type { ObjectName, ResourceType } from "../resource.ts";
import { alreadyExists, applyConflict, badRequest, conflict, invalid, notFound, patchDoesNotApply } from "./answers.ts";
import type { Json, JsonMap } from "./json.ts";
import { cloneJson, equalJson, isMap, mapAt, mergePatch } from "./json.ts";
import { applyJsonPatch } from "./json-patch.ts";
import {
  checkIdentity,
  checkName,
  checkUpdate,
  finalizersOf,
  hasGeneration,
  hasStatusSubresource,
  isBuiltIn,
  mergeUpdate,
  metadataOf,
  nameOf,
  withStatus,
} from "./object-rules.ts";
import type { FieldOwners } from "./server-side-apply.ts";
import { applyConfiguration, ownersAfterUpdate } from "./server-side-apply.ts";

/** One change of one object, in the order of the revision counter that all kinds share. */
export interface StoredChange {
  readonly type: ResourceType;
  readonly revision: number;
  readonly kind: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: JsonMap;
  readonly before: JsonMap | undefined;
}

export interface WriteOptions {
  readonly isStatus: boolean;
  readonly dryRun: boolean;
}

export type ObjectStore = ReturnType<typeof createObjectStore>;

interface Stored {
  readonly object: JsonMap;
  readonly owners: FieldOwners;
}

/** Where times and uids come from, so that a run may be repeated. */
export interface StoreOrigins extends Pick<Clock, "now"> {
  readonly newUid: () => string;
}

const OF_THE_MACHINE: StoreOrigins = { now: systemClock.now, newUid: randomUUID };

/**
 * Objects of all kinds with one revision counter, and what a write does to them: optimistic locking, generations, status subresources,
 * finalizers, field ownership. Answers that are no success are thrown as `StatusAnswer`.
 */
export function createObjectStore(onChange: (change: StoredChange) => void, { now, newUid }: StoreOrigins = OF_THE_MACHINE) {
  const timestamp = (): string => rfc3339(now());

  const objects = new Map<string, Stored>();
  /** Keys of each kind: a list need not go through all others. */
  const keysOf = new Map<string, Set<string>>();
  // Above small numbers, so that nobody mistakes it for something to count with.
  let revision = 1_000;
  let tokens = 0;

  const kindOf = (type: ResourceType) => `${type.group}/${type.plural}`;
  const prefixOf = (type: ResourceType, namespace: string) => `${kindOf(type)}|${namespace}${namespace === "" ? "" : "|"}`;
  const keyOf = (type: ResourceType, at: ObjectName) => `${prefixOf(type, at.namespace)}${at.name}`;

  function need(type: ResourceType, at: ObjectName): Stored {
    const stored = objects.get(keyOf(type, at));
    if (stored === undefined) throw notFound(type, at.name);
    return stored;
  }

  /** Stores `next`, or removes the object if it was only waiting for its finalizers. A write that changes nothing has no revision. */
  function commit(
    type: ResourceType,
    change: { readonly at: ObjectName; readonly before: Stored | undefined; readonly next: JsonMap; readonly owners: FieldOwners },
  ): JsonMap {
    const { at, before, next, owners } = change;
    if (before !== undefined && equalJson(before.object, next)) {
      objects.set(keyOf(type, at), { object: before.object, owners });
      return before.object;
    }
    const object = { ...next, metadata: { ...metadataOf(next), resourceVersion: String(++revision) } };
    const isFinished = before !== undefined && metadataOf(object)["deletionTimestamp"] !== undefined && finalizersOf(object).length === 0;
    const key = keyOf(type, at);
    if (before === undefined) keysOf.set(kindOf(type), (keysOf.get(kindOf(type)) ?? new Set()).add(key));
    if (isFinished) {
      objects.delete(key);
      keysOf.get(kindOf(type))?.delete(key);
    } else objects.set(key, { object, owners });
    onChange({
      type,
      revision,
      kind: before === undefined ? "ADDED" : isFinished ? "DELETED" : "MODIFIED",
      object,
      before: before?.object,
    });
    return object;
  }

  function update(
    type: ResourceType,
    at: ObjectName,
    options: WriteOptions & { readonly sent: JsonMap; readonly owners?: FieldOwners },
  ): JsonMap {
    const before = need(type, at);
    const { sent, isStatus, dryRun } = options;
    const wanted = metadataOf(sent)["resourceVersion"];
    if (wanted !== undefined && wanted !== "" && wanted !== metadataOf(before.object)["resourceVersion"]) throw conflict(type, at.name);
    checkUpdate(type, before.object, sent);
    const next = mergeUpdate(type, before.object, { sent, isStatus });
    const owners = options.owners ?? ownersAfterUpdate(before.owners, before.object, next);
    return dryRun ? next : commit(type, { at, before, next, owners });
  }

  function create(
    type: ResourceType,
    namespace: string,
    options: { readonly sent: Json; readonly dryRun: boolean; readonly owners?: FieldOwners },
  ): JsonMap {
    const sent = checkIdentity(type, generateName(options.sent, newUid), { namespace, name: undefined });
    const at = { namespace, name: nameOf(sent) };
    checkName(type, at.name);
    const existing = objects.get(keyOf(type, at));
    if (existing !== undefined) throw alreadyExists(type, at.name, metadataOf(existing.object)["deletionTimestamp"] !== undefined);
    const { resourceVersion: _version, deletionTimestamp: _deleted, ...metadata } = metadataOf(sent);
    const filled = { ...metadata, uid: newUid(), creationTimestamp: timestamp(), ...(hasGeneration(type) ? { generation: 1 } : {}) };
    const next: JsonMap = { ...(hasStatusSubresource(type) ? withStatus(sent, undefined) : sent), metadata: filled };
    return options.dryRun ? next : commit(type, { at, before: undefined, next, owners: options.owners ?? new Map() });
  }

  return {
    revision: () => revision,
    create,
    get: (type: ResourceType, at: ObjectName): JsonMap => need(type, at).object,
    find: (type: ResourceType, at: ObjectName): JsonMap | undefined => objects.get(keyOf(type, at))?.object,
    /** Sorted by key, as etcd does. An empty namespace means all of them. */
    list(type: ResourceType, namespace: string): readonly JsonMap[] {
      const prefix = prefixOf(type, namespace);
      const keys = [...(keysOf.get(kindOf(type)) ?? [])].filter((key) => key.startsWith(prefix)).sort();
      return keys.map((key) => objects.get(key)?.object).filter((object) => object !== undefined);
    },
    replace(type: ResourceType, at: ObjectName, options: WriteOptions & { readonly sent: Json }): JsonMap {
      const sent = checkIdentity(type, options.sent, at);
      const live = need(type, at).object;
      const { uid, resourceVersion } = metadataOf(sent);
      if (uid !== undefined && uid !== metadataOf(live)["uid"])
        throw conflict(type, at.name, `Precondition failed: UID in precondition: ${String(uid)}`);
      if (resourceVersion === undefined && !isBuiltIn(type))
        throw invalid(type, at.name, { field: "metadata.resourceVersion", message: "Invalid value: 0: must be specified for an update" });
      return update(type, at, { ...options, sent });
    },
    jsonPatch(type: ResourceType, at: ObjectName, options: WriteOptions & { readonly patch: readonly JsonPatchOperation[] }): JsonMap {
      const patched = applyJsonPatch(need(type, at).object, options.patch);
      if (patched === undefined) throw patchDoesNotApply();
      return update(type, at, { ...options, sent: checkIdentity(type, patched, at) });
    },
    mergePatch(type: ResourceType, at: ObjectName, options: WriteOptions & { readonly patch: Json }): JsonMap {
      return update(type, at, { ...options, sent: checkIdentity(type, mergePatch(need(type, at).object, options.patch), at) });
    },
    /** Server-side apply; tells whether it made the object. */
    apply(
      type: ResourceType,
      at: ObjectName,
      options: WriteOptions & { readonly configuration: Json; readonly manager: string; readonly force: boolean },
    ) {
      const { configuration, manager, force, isStatus } = options;
      if (!isMap(configuration) || configuration["kind"] === undefined || configuration["apiVersion"] === undefined)
        throw badRequest("invalid object type: /, Kind=");
      const wanted = checkIdentity(type, cloneJson(configuration), at);
      const stored = objects.get(keyOf(type, at));
      if (stored === undefined && isStatus) throw notFound(type, at.name);
      if (stored === undefined && metadataOf(wanted)["uid"] !== undefined)
        throw conflict(type, at.name, "uid mismatch: no existing object was found");
      const applied = applyConfiguration(stored?.object ?? wanted, wanted, {
        manager: isStatus ? `${manager} status` : manager,
        owners: stored?.owners ?? new Map(),
      });
      if (!force && applied.conflicts.length > 0) throw applyConflict(applied.conflicts);
      if (stored === undefined)
        return { object: create(type, at.namespace, { sent: wanted, dryRun: options.dryRun, owners: applied.owners }), isNew: true };
      // The identity the caller claims is checked; the one it leaves out is that of the object.
      const { uid, resourceVersion } = metadataOf(wanted);
      const claimed = {
        ...metadataOf(applied.object),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      };
      return {
        object: update(type, at, { ...options, sent: { ...applied.object, metadata: claimed }, owners: applied.owners }),
        isNew: false,
      };
    },
    /** Answers a TokenRequest for an account; no two tokens are the same. */
    issueToken(type: ResourceType, at: ObjectName, sent: Json): JsonMap {
      const { uid = "" } = metadataOf(need(type, at).object);
      const spec = isMap(sent) ? mapAt(sent, "spec") : {};
      const lifeMs = Number(spec["expirationSeconds"] ?? 3_600) * 1_000;
      const status = {
        token: `token-of-${at.name}-${String(uid)}-${++tokens}`,
        expirationTimestamp: rfc3339(millis(now() + lifeMs)),
      };
      const metadata = { name: at.name, namespace: at.namespace, creationTimestamp: timestamp() };
      return { kind: "TokenRequest", apiVersion: "authentication.k8s.io/v1", metadata, spec, status };
    },
    /** Removes the object, or marks it for removal while it has finalizers; then the marked object is returned. */
    delete(type: ResourceType, at: ObjectName, options: { readonly body: Json; readonly dryRun: boolean }): JsonMap | undefined {
      const before = need(type, at);
      const metadata = metadataOf(before.object);
      const { uid, resourceVersion } = mapAt(isMap(options.body) ? options.body : {}, "preconditions");
      if (uid !== undefined && uid !== metadata["uid"])
        throw conflict(type, at.name, `the UID in the precondition (${String(uid)}) does not match the UID in record`);
      if (resourceVersion !== undefined && resourceVersion !== metadata["resourceVersion"])
        throw conflict(type, at.name, "the ResourceVersion in the precondition does not match");
      if (options.dryRun) return undefined;
      const isMarked = metadata["deletionTimestamp"] !== undefined;
      const generation = hasGeneration(type) ? { generation: Number(metadata["generation"] ?? 0) + 1 } : {};
      const marked = isMarked
        ? before.object
        : { ...before.object, metadata: { ...metadata, ...generation, deletionTimestamp: timestamp(), deletionGracePeriodSeconds: 0 } };
      const object = commit(type, { at, before, next: marked, owners: before.owners });
      return finalizersOf(before.object).length > 0 ? object : undefined;
    },
  };
}

function generateName(sent: Json, newUid: () => string): Json {
  if (!isMap(sent)) return sent;
  const { name, generateName: prefix } = metadataOf(sent);
  if (name !== undefined || typeof prefix !== "string") return sent;
  return { ...sent, metadata: { ...metadataOf(sent), name: `${prefix}${newUid().slice(-5)}` } };
}
