import type { KubeObject, ObjectName, ResourceType } from "./resource.ts";

export type KubeQuery = Readonly<Record<string, string | number | boolean | undefined>>;

export interface KubeRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: KubeQuery;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Whether sending it twice does no harm. GETs are; writes are only when they say so (server-side apply, writes with a
   * resourceVersion). Only such requests are retried after the connection broke or the server said 429, 500, 502, 503 or 504.
   */
  readonly idempotent?: boolean;
  /** False: the body of a successful answer is thrown away unread and the result is `undefined`. Default true. */
  readonly decode?: boolean;
  readonly timeoutMs?: number;
  /** Longest body of a successful answer that is read, in bytes. */
  readonly longestBody?: number;
  /** Over a connection of its own: where several servers answer at the address, it goes to any of them. */
  readonly isFresh?: boolean;
}

export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "test";
  readonly path: string;
  readonly value?: unknown;
}

export interface DeletePreconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continueToken: string | undefined;
}

/**
 * One API server, spoken to over pools of kept-alive connections. Errors are those of domain/errors.ts: 404 and 410
 * `GoneError`; 409 `StaleError` (code `kube.conflict`, or `kube.exists` for AlreadyExists); 400, 401, 403, 405, 413, 415, 422 `RefusedError`
 * (context: status, reason); 429, 5xx and everything on the wire `UnavailableError` with the server's Retry-After.
 */
export interface KubeClient {
  /** Name of the cluster in logs, metrics and object keys. */
  readonly cluster: string;
  readonly server: string;
  request<T>(request: KubeRequest, signal: AbortSignal): Promise<T>;
  get<T extends KubeObject>(type: ResourceType, at: ObjectName, signal: AbortSignal): Promise<T | undefined>;
  listPage<T>(type: ResourceType, options: ListOptions, signal: AbortSignal): Promise<ListPage<T>>;
  create<T extends KubeObject>(type: ResourceType, object: KubeObject, signal: AbortSignal): Promise<T>;
  /** Server-side apply with this field manager and force; `object` must carry apiVersion and kind. */
  apply<T extends KubeObject>(type: ResourceType, object: KubeObject, options: ApplyOptions, signal: AbortSignal): Promise<T>;
  jsonPatch<T extends KubeObject>(
    type: ResourceType,
    at: ObjectName & { readonly subresource?: string },
    patch: readonly JsonPatchOperation[],
    signal: AbortSignal,
  ): Promise<T>;
  mergePatch<T extends KubeObject>(
    type: ResourceType,
    at: ObjectName & { readonly subresource?: string },
    patch: unknown,
    signal: AbortSignal,
  ): Promise<T>;
  /** Resolves also when the object is not there. */
  delete(type: ResourceType, at: ObjectName, options: DeleteOptions, signal: AbortSignal): Promise<void>;
  /** Lines of a watch response, on a connection that no other request waits for. Ends when the server ends it. */
  watchLines(path: string, query: KubeQuery, signal: AbortSignal): AsyncIterable<string>;
  /** Waits for what is under way; `at-once`: leaves it, and whatever still wants to connect. */
  close(how?: "at-once"): Promise<void>;
}

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continueToken?: string;
}

export interface ApplyOptions {
  readonly fieldManager: string;
  readonly subresource?: string;
  readonly dryRun?: boolean;
  readonly decode?: boolean;
}

export interface DeleteOptions {
  readonly preconditions?: DeletePreconditions;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
}
