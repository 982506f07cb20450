/** A list or watch of one kind in all namespaces, or of one that has none. */
export interface WholeClusterRequest {
  /** Path of the group and version, such as `/apis/apps/v1`. */
  readonly api: string;
  /** The kind's name in paths, such as `deployments`. */
  readonly plural: string;
  readonly isWatch: boolean;
  readonly query: URLSearchParams;
}

const COLLECTION = /^(\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)\/([^/]+)$/;

/** Which list or watch over the whole cluster a request is; `undefined`: it is anything else, and nothing of it is filtered. */
export function wholeClusterRequest(method: string, url: string): WholeClusterRequest | undefined {
  const [path = "", search = ""] = url.split("?", 2);
  const [, api, plural] = COLLECTION.exec(path) ?? [];
  if (method !== "GET" || api === undefined || plural === undefined) return undefined;
  const query = new URLSearchParams(search);
  return { api, plural, isWatch: ["true", "1"].includes(query.get("watch") ?? ""), query };
}

/** The same request of one namespace, from the beginning of its list. */
export function listInNamespace({ api, plural, query }: WholeClusterRequest, namespace: string, next: string | undefined): string {
  const own = new URLSearchParams({ limit: String(PAGE) });
  for (const name of ["labelSelector", "fieldSelector"]) {
    const value = query.get(name);
    if (value !== null) own.set(name, value);
  }
  if (next !== undefined) own.set("continue", next);
  return `${api}/namespaces/${encodeURIComponent(namespace)}/${plural}?${own.toString()}`;
}

/** Objects in a page of a list of one namespace. One of them is held at a time. */
const PAGE = 500;

/** Whether a client that says this in `Accept` takes plain JSON: the only form that is filtered. */
export function takesJson(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  return accept.split(",").some((one) => /^\s*(application\/json|application\/\*|\*\/\*)\s*(;\s*(q|charset)=[^;]*)*$/.test(one));
}
