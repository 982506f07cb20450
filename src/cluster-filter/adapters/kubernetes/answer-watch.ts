import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { collectionKey } from "../../collections.ts";
import { addedEvent, createLineReader, expired, type ObjectKind } from "../../event-lines.ts";
import { createFilteredWatch, type FilteredWatch } from "../../filtered-watch.ts";
import { createListSplitter } from "../../split-list.ts";
import { parseToken, type VersionToken } from "../../version-token.ts";
import { listInNamespace, type WholeClusterRequest } from "../../whole-cluster-request.ts";
import { type AnswerDeps, pathOf, write } from "./answer-list.ts";
import { handBack } from "./forward.ts";

export interface WatchDeps extends AnswerDeps {
  /** Calls back whenever namespaces have come or gone, until the signal is aborted. */
  readonly onChange: (listener: () => void, signal: AbortSignal) => void;
}

export interface AskedWatch {
  readonly request: WholeClusterRequest;
  readonly headers: OutgoingHttpHeaders;
  readonly response: ServerResponse;
  readonly kind: ObjectKind;
}

/** How often a list of a namespace that was let in is tried, and how long after a failure, in ms. Then the client lists everything again. */
const TRIES = 4;
const AGAIN_MS = 250;

/**
 * Answers a watch over the whole cluster with the events of the namespaces that are let in. While one comes, the API server's events wait: its objects are
 * listed and handed on as events. What cannot be said by events, the client is made to list again for.
 */
export async function answerWatch(deps: WatchDeps, asked: AskedWatch, signal: AbortSignal): Promise<void> {
  const { request, headers, response, kind } = asked;
  const key = collectionKey(request);
  const from = resumeAt(deps, request);
  const missing = from && deps.membership.missingFor(from);
  if (from === undefined || missing?.kind === "stale") {
    deps.collections.mustList(key, deps.nowMs());
    return relist(response, "the filter does not know what this client has");
  }
  const answer = await deps.upstream.send({ method: "GET", path: pathOf(request, deps.run), headers }, signal);
  if (answer.statusCode === 403 || answer.statusCode === 404) deps.collections.forget(key);
  if (answer.statusCode !== 200) return handBack(answer, response);
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  const takesBookmarks = ["true", "1"].includes(request.query.get("allowWatchBookmarks") ?? "");
  const watch = createFilteredWatch({ membership: deps.membership, kind, from, run: deps.run, takesBookmarks });
  const progress = () => deps.collections.advanced(key, watch, { ...watch.holding, nowMs: deps.nowMs() });
  try {
    if (await handOnEvents(deps, { ...asked, answer, watch, progress }, signal)) response.end();
    else {
      deps.collections.mustList(key, deps.nowMs());
      relist(response, "namespaces have come that have to be listed");
    }
  } finally {
    deps.collections.ended(key, watch, deps.nowMs());
    answer.destroy();
  }
}

/** What the client has; `undefined`: nobody knows. Without a version it hears of everything that exists, by events. */
function resumeAt({ membership, run }: AnswerDeps, { query }: WholeClusterRequest): VersionToken | undefined {
  const text = query.get("resourceVersion") ?? "";
  const generation = membership.generation();
  return text === "" || text === "0" ? { version: text, listed: generation, held: generation } : parseToken(text, run);
}

function relist(response: ServerResponse, why: string): void {
  if (!response.headersSent) response.writeHead(200, { "content-type": "application/json" });
  response.end(expired(why));
}

interface OpenWatch extends AskedWatch {
  readonly answer: IncomingMessage;
  readonly watch: FilteredWatch;
  /** Called when the client has what came up to a generation. */
  readonly progress: () => void;
}

/** Goes on until the API server ends the watch. `false`: the client has to list again. */
async function handOnEvents(deps: WatchDeps, open: OpenWatch, signal: AbortSignal): Promise<boolean> {
  const { answer, watch, response } = open;
  const readLines = createLineReader();
  const bell = createBell(signal);
  deps.onChange(bell.ring, signal);
  for (const name of ["readable", "end", "close"]) answer.on(name, bell.ring);
  if (!(await join(deps, open, signal))) return false;
  for (;;) {
    const chunk = answer.read() as Buffer | null;
    if (chunk === null) {
      if (answer.readableEnded || answer.destroyed) return true;
      await bell.rung();
    } else for (const line of readLines(chunk)) await write(response, watch.event(line), signal);
    if (watch.holding.held !== deps.membership.generation() && !(await join(deps, open, signal))) return false;
  }
}

/** Rung any number of times, it is heard once. */
function createBell(signal: AbortSignal): { readonly ring: () => void; readonly rung: () => Promise<void> } {
  let isRung = false;
  let waiting: PromiseWithResolvers<void> | undefined;
  signal.addEventListener("abort", () => waiting?.reject(signal.reason), { once: true });
  return {
    ring() {
      isRung = true;
      waiting?.resolve();
    },
    async rung() {
      signal.throwIfAborted();
      waiting = Promise.withResolvers();
      if (!isRung) await waiting.promise;
      waiting = undefined;
      isRung = false;
    },
  };
}

/** Hands on the objects of namespaces that have come. `false`: the client has to list again. */
async function join(deps: WatchDeps, open: OpenWatch, signal: AbortSignal): Promise<boolean> {
  const { membership } = deps;
  const generation = membership.generation();
  const missing = membership.missingFor(open.watch.holding);
  if (missing.kind === "stale") return false;
  const lists = new Map<string, string>();
  for (const namespace of missing.namespaces) {
    const version = await handOnNamespace(deps, open, namespace, signal);
    if (version === undefined) return false;
    lists.set(namespace, version);
  }
  const said = open.watch.joined(lists, generation);
  if (said === undefined) return false;
  await write(open.response, said, signal);
  open.progress();
  return true;
}

/** Lists a namespace and hands its objects on as events; returns the version of the list, `undefined` where that cannot be had. */
async function handOnNamespace(deps: WatchDeps, open: OpenWatch, namespace: string, signal: AbortSignal): Promise<string | undefined> {
  for (let tried = 0; tried < TRIES; tried += 1) {
    if (tried > 0) await sleep(AGAIN_MS * 2 ** tried, undefined, { signal });
    const list = await handOnPages(deps, open, namespace, signal);
    if (list.kind === "whole") return list.version;
    // An object of the part that was handed on may be gone in the next list, and nobody would say so.
    if (list.kind === "refused" || list.hasBegun) return undefined;
  }
  return undefined;
}

type HandedOnList =
  | { readonly kind: "whole"; readonly version: string }
  | { readonly kind: "broken"; readonly hasBegun: boolean }
  | { readonly kind: "refused" };

async function handOnPages(deps: WatchDeps, open: OpenWatch, namespace: string, signal: AbortSignal): Promise<HandedOnList> {
  let page: Page | undefined;
  let hasBegun = false;
  try {
    let version = "";
    do {
      const path = listInNamespace(open.request, namespace, page?.next);
      const answer = await deps.upstream.send({ method: "GET", path, headers: open.headers }, signal);
      const status = answer.statusCode ?? 500;
      if (status !== 200) {
        answer.resume();
        return status >= 500 || status === 429 ? { kind: "broken", hasBegun } : { kind: "refused" };
      }
      hasBegun = true;
      page = await handOnPage(open, answer, signal);
      version ||= page.version;
    } while (page.next !== undefined);
    return { kind: "whole", version };
  } catch {
    signal.throwIfAborted();
    return { kind: "broken", hasBegun };
  }
}

interface Page {
  readonly version: string;
  readonly next: string | undefined;
}

async function handOnPage({ response, kind }: OpenWatch, answer: IncomingMessage, signal: AbortSignal): Promise<Page> {
  let metadata: { readonly resourceVersion?: string; readonly continue?: string } = {};
  let events: Buffer[] = [];
  const splitter = createListSplitter({
    item: (json) => {
      events.push(addedEvent(json, kind));
      return undefined;
    },
    metadata: (json) => {
      metadata = JSON.parse(json.toString("utf8")) as typeof metadata;
      return json;
    },
  });
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    splitter.push(chunk);
    await write(response, events, signal);
    events = [];
  }
  if (!splitter.isWhole()) throw new Error("the API server broke off a list");
  return { version: metadata.resourceVersion ?? "", next: metadata.continue === "" ? undefined : metadata.continue };
}
