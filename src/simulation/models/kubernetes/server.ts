import type { ResourceType } from "../../../runtime/kube/resource.ts";
import { notFound, StatusAnswer } from "../../../runtime/kube/testing/answers.ts";
import { type ApiTarget, parseApiPath } from "../../../runtime/kube/testing/api-path.ts";
import type { JsonMap } from "../../../runtime/kube/testing/json.ts";
import { metadataOf, nameOf } from "../../../runtime/kube/testing/object-rules.ts";
import { createObjectStore, type ObjectStore, type StoredChange } from "../../../runtime/kube/testing/object-store.ts";
import { type Answer, createResourceApi } from "../../../runtime/kube/testing/resource-api.ts";
import { createWatchHub } from "../../../runtime/kube/testing/watch-hub.ts";
import type { ObjectHappening } from "../../history.ts";
import { createDrawnIds } from "../../world/party.ts";
import type { World } from "../../world/world.ts";
import { textAt } from "./text.ts";

/** A request at the moment it is carried out. */
export interface ServerRequest {
  readonly by: string;
  readonly method: string;
  readonly target: string;
  readonly contentType: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Stands in front of the API and may answer a request itself, at any time; `undefined` lets the request through. */
export type Front = (request: ServerRequest, at: ApiTarget, carryOut: () => Answer) => Promise<Answer> | undefined;

/** An API server: its objects, its watches, and who may do what. */
export interface KubeServer {
  readonly name: string;
  readonly objects: ObjectStore;
  answer(request: ServerRequest): Answer | Promise<Answer>;
  onChange(listener: (change: StoredChange) => void): void;
  setFront(front: Front): void;
  /** Forgets old versions: a watch that begins at one of them gets status 410. */
  compact(): void;
  /** Ends all watches; they come back by themselves. */
  endWatches(): void;
}

export const NAMESPACE_TYPE: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
/** Time between two bookmarks: API servers send one a minute. */
const BOOKMARKS_MS = 60_000;

export function createKubeServer(world: World, name: string): KubeServer {
  const ids = createDrawnIds(world.rng.fork(`uids of ${name}`));
  const listeners: ((change: StoredChange) => void)[] = [];
  const targets = createTargets();
  /** Who asked for the present change; absent while the server does something by itself. */
  let cause: Pick<ObjectHappening, "by" | "askedAt"> | undefined;
  let front: Front = () => undefined;

  const onChange = (change: StoredChange): void => {
    record(world, name, change, cause ?? { by: name, askedAt: world.elapsedMs() });
    hub.publish(change);
    for (const listener of listeners) listener(change);
  };
  const objects = createObjectStore(onChange, { now: world.now, newUid: () => ids.next() });
  const hub = createWatchHub(objects.revision);
  const clock = { after: (ms: number, run: () => void) => world.schedule(ms, `${name} ends a watch`, run) };
  const api = createResourceApi({ store: objects, hub, types: undefined, clock });
  const bookmark = (): void => {
    hub.bookmarkAll();
    world.schedule(BOOKMARKS_MS, `${name} bookmarks`, bookmark);
  };
  world.schedule(BOOKMARKS_MS, `${name} bookmarks`, bookmark);

  return {
    name,
    objects,
    answer(request) {
      const { url, at } = targets.of(request.target);
      const askedAt = world.elapsedMs();
      const carryOut = (): Answer => {
        const missing = at === undefined ? undefined : whyNoPlace(objects, request, at);
        if (missing !== undefined) return missing;
        cause = { by: request.by, askedAt };
        try {
          return api.answer({ ...request, url });
        } finally {
          cause = undefined;
        }
      };
      return (at === undefined ? undefined : front(request, at, carryOut)) ?? carryOut();
    },
    onChange: (listener) => void listeners.push(listener),
    setFront(next) {
      front = next;
    },
    compact: api.compact,
    endWatches: () => hub.endAll("end"),
  };
}

/** More different targets than a fleet uses again and again. */
const TARGETS_KEPT = 5_000;

/** Parses the targets of requests, and keeps the results: parsing costs more than answering, and most targets come many times. */
function createTargets() {
  const known = new Map<string, { readonly url: URL; readonly at: ApiTarget | undefined }>();
  return {
    of(target: string) {
      const found = known.get(target);
      if (found !== undefined) return found;
      const url = new URL(target, "http://server");
      const read = { url, at: parseApiPath(url.pathname, undefined) };
      if (known.size >= TARGETS_KEPT) known.clear();
      known.set(target, read);
      return read;
    },
  };
}

function refused(message: string, details: JsonMap = {}): Answer {
  const { body } = new StatusAnswer(403, { message, reason: "Forbidden", details });
  return { kind: "json", status: 403, body };
}

/** Nothing is made in a namespace that is not there, or that is ending. */
function whyNoPlace(
  objects: ObjectStore,
  { method, contentType }: ServerRequest,
  { namespace, name, subresource, type }: ApiTarget,
): Answer | undefined {
  const mayCreate = method === "POST" || (method === "PATCH" && contentType === "application/apply-patch+yaml" && subresource === "");
  if (!mayCreate || namespace === "") return undefined;
  const found = objects.find(NAMESPACE_TYPE, { namespace: "", name: namespace });
  if (found === undefined) {
    const answer = notFound(NAMESPACE_TYPE, namespace);
    return { kind: "json", status: answer.status, body: answer.body };
  }
  if (metadataOf(found)["deletionTimestamp"] === undefined || objects.find(type, { namespace, name }) !== undefined) return undefined;
  const causes = [{ reason: "NamespaceTerminating", field: "metadata.namespace" }];
  return refused(`unable to create new content in namespace ${namespace} because it is being terminated`, { causes });
}

function record(
  world: World,
  cluster: string,
  { type, kind, object, before }: StoredChange,
  cause: Pick<ObjectHappening, "by" | "askedAt">,
): void {
  world.record({
    kind: "object",
    cluster,
    change: kind,
    resource: type.group === "" ? type.plural : `${type.plural}.${type.group}`,
    namespace: textAt(metadataOf(object), "namespace"),
    name: nameOf(object),
    object,
    before,
    ...cause,
  });
}

export const annotationsOf = (object: JsonMap | undefined): JsonMap => {
  const annotations = metadataOf(object ?? {})["annotations"];
  return typeof annotations === "object" && annotations !== null && !Array.isArray(annotations) ? annotations : {};
};
