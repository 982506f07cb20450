import type { KubeQuery, KubeRequest } from "./client.ts";
import type { Purpose } from "./connections.ts";

/** A request as it goes over the wire, apart from who we are. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** Query with its question mark, or empty. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly purpose: Purpose;
  /** Over a connection that is closed after it. */
  readonly isFresh: boolean;
}

const always = { accept: "application/json", "user-agent": "argosy" };

/** A body that is a string is sent as it is, anything else as JSON. */
export function httpExchangeOf(request: KubeRequest): Exchange {
  const { method, path, query, body, contentType, accept } = request;
  const media = body === undefined ? {} : { "content-type": contentType ?? "application/json" };
  return {
    method,
    path,
    search: searchOf(query),
    headers: { ...always, ...(accept === undefined ? {} : { accept }), ...media, ...request.headers },
    body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
    purpose: purposeOf(request),
    isFresh: request.isFresh === true,
  };
}

function purposeOf({ method, path, query }: KubeRequest): Purpose {
  if (method !== "GET") return "write";
  if (path.includes("/proxy/")) return "page";
  return query?.["limit"] === undefined ? "read" : "list";
}

export function watchExchange(path: string, query: KubeQuery): Exchange {
  return { method: "GET", path, search: searchOf(query), headers: always, body: undefined, purpose: "read", isFresh: false };
}

function searchOf(query: KubeQuery | undefined): string {
  const parts = Object.entries(query ?? {}).flatMap(([key, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(key)}=${encodeURIComponent(value)}`],
  );
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}
