import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type Collections, collectionKey } from "../../collections.ts";
import type { Membership } from "../../membership.ts";
import { createListSplitter } from "../../split-list.ts";
import { readString } from "../../string-in-json.ts";
import { parseToken, renderToken } from "../../version-token.ts";
import type { WholeClusterRequest } from "../../whole-cluster-request.ts";
import { handBack } from "./forward.ts";
import type { Upstream } from "./upstream.ts";

export interface AnswerDeps {
  readonly upstream: Upstream;
  readonly membership: Membership;
  readonly collections: Collections;
  /** Which run of the filter this is. */
  readonly run: string;
  readonly nowMs: () => number;
}

/** Answers a page of a list over the whole cluster with the items of the namespaces that are let in. Holds one item at a time. */
export async function answerList(
  deps: AnswerDeps,
  {
    request,
    headers,
    response,
  }: { readonly request: WholeClusterRequest; readonly headers: OutgoingHttpHeaders; readonly response: ServerResponse },
  signal: AbortSignal,
): Promise<void> {
  const { membership, collections } = deps;
  const key = collectionKey(request);
  // Pages of one list have one version. What came in between comes by the watch that follows it.
  const next = request.query.get("continue");
  const generation = membership.generation();
  collections.listed(key, { generation, isFirst: next === null, nowMs: deps.nowMs() });
  const answer = await deps.upstream.send({ method: "GET", path: pathOf(request, deps.run), headers }, signal);
  if (answer.statusCode === 403 || answer.statusCode === 404) collections.forget(key);
  if (answer.statusCode !== 200) return handBack(answer, response);
  const since = generationOf(next, deps) ?? generation;
  const splitter = createListSplitter({
    item: (json) => (isLetIn(json, membership) ? json : undefined),
    metadata: (json) => withTokens(json, { since, run: deps.run }),
  });
  response.writeHead(200, { "content-type": "application/json" });
  for await (const chunk of answer as AsyncIterable<Buffer>) await write(response, splitter.push(chunk), signal);
  if (!splitter.isWhole()) throw new Error("the API server broke off a list");
  response.end();
}

function isLetIn(item: Buffer, membership: Membership): boolean {
  const namespace = readString(item, ["metadata", "namespace"]);
  return namespace === undefined || membership.has(namespace);
}

/** The same request in the API server's own terms. */
export function pathOf({ api, plural, query }: WholeClusterRequest, run: string): string {
  const own = new URLSearchParams(query);
  const version = query.get("resourceVersion");
  if (version !== null) own.set("resourceVersion", parseToken(version, run)?.version ?? version);
  const next = query.get("continue");
  if (next !== null) own.set("continue", splitContinue(next).own);
  return `${api}/${plural}?${own.toString()}`;
}

/** A list's first page decides which namespaces it has all objects of, so each next page has to know its generation. */
function withTokens(json: Buffer, { since, run }: { readonly since: number; readonly run: string }): Buffer {
  const metadata = JSON.parse(json.toString("utf8")) as { readonly resourceVersion?: string; readonly continue?: string };
  const { resourceVersion: version = "", continue: next = "" } = metadata;
  return Buffer.from(
    JSON.stringify({
      ...metadata,
      ...(version === "" ? {} : { resourceVersion: renderToken({ version, listed: since, held: since }, run) }),
      ...(next === "" ? {} : { continue: `${since}.${run}.${next}` }),
    }),
  );
}

function splitContinue(next: string): { readonly own: string; readonly generation?: number; readonly run?: string } {
  const [, generation, run, own] = /^(\d+)\.([0-9a-f]+)\.(.*)$/.exec(next) ?? [];
  return own === undefined ? { own: next } : { own, generation: Number(generation), ...(run === undefined ? {} : { run }) };
}

/** The generation of the first page of the list that goes on; 0 where another run of the filter gave that page: of that nothing is known. */
function generationOf(next: string | null, { run }: AnswerDeps): number | undefined {
  if (next === null) return undefined;
  const found = splitContinue(next);
  return found.run === run ? (found.generation ?? 0) : 0;
}

/** Writes all of it, no faster than it is read. */
export async function write(response: ServerResponse, parts: readonly (Buffer | string)[], signal: AbortSignal): Promise<void> {
  if (parts.length === 0) return;
  response.cork();
  let isTaken = true;
  for (const part of parts) isTaken = response.write(part);
  response.uncork();
  if (!isTaken && !response.destroyed) await once(response, "drain", { signal });
}
