import { GoneError, RefusedError, UnavailableError } from "../../domain/errors.ts";
import type { JsonPatchOperation, KubeClient, KubeRequest, ListOptions, ListPage } from "./client.ts";
import type { KubeObject, ObjectName, ResourceType } from "./resource.ts";
import { resourcePath } from "./resource.ts";

type Send = <T>(request: KubeRequest, signal: AbortSignal) => Promise<T>;
type Verbs = Pick<KubeClient, "get" | "listPage" | "create" | "apply" | "jsonPatch" | "mergePatch" | "delete">;

/** The calls of `KubeClient` in terms of its `request`: which path, which media type, and which of them may be sent twice. */
export function createVerbs(send: Send): Verbs {
  return {
    async get<T extends KubeObject>(type: ResourceType, at: ObjectName, signal: AbortSignal) {
      return unlessAbsent(send<T>({ method: "GET", path: resourcePath(type, at) }, signal));
    },
    async listPage<T>(type: ResourceType, options: ListOptions, signal: AbortSignal) {
      return parsePage<T>(await send<unknown>(listRequest(type, options), signal), type);
    },
    create: (type, object, signal) => send({ method: "POST", path: resourcePath(type, { ...namespaceOf(object) }), body: object }, signal),
    apply(type, object, options, signal) {
      const { fieldManager, subresource, dryRun, decode } = options;
      const path = resourcePath(type, {
        ...namespaceOf(object),
        name: object.metadata.name,
        ...(subresource === undefined ? {} : { subresource }),
      });
      const query = { fieldManager, force: true, ...(dryRun === true ? { dryRun: "All" } : {}) };
      // JSON is YAML, and encoding it is cheaper on both sides.
      return send(
        {
          method: "PATCH",
          path,
          query,
          body: object,
          contentType: "application/apply-patch+yaml",
          idempotent: true,
          ...(decode === undefined ? {} : { decode }),
        },
        signal,
      );
    },
    jsonPatch: (type, at, patch, signal) =>
      nameFailedTest(
        patch,
        send(
          {
            method: "PATCH",
            path: resourcePath(type, at),
            body: patch,
            contentType: "application/json-patch+json",
            idempotent: pinsVersion(patch),
          },
          signal,
        ),
      ),
    mergePatch: (type, at, patch, signal) =>
      send(
        {
          method: "PATCH",
          path: resourcePath(type, at),
          body: patch,
          contentType: "application/merge-patch+json",
          idempotent: carriesVersion(patch),
        },
        signal,
      ),
    async delete(type, at, options, signal) {
      const { preconditions } = options;
      // Without a precondition a second attempt could hit an object of the same name that somebody made in between.
      const idempotent = preconditions?.uid !== undefined || preconditions?.resourceVersion !== undefined;
      await unlessAbsent(
        send(
          {
            method: "DELETE",
            path: resourcePath(type, at),
            body: { apiVersion: "v1", kind: "DeleteOptions", ...options },
            idempotent,
            decode: false,
          },
          signal,
        ),
      );
    },
  };
}

function listRequest(type: ResourceType, options: ListOptions): KubeRequest {
  const { namespace, labelSelector, fieldSelector, limit, continueToken } = options;
  return {
    method: "GET",
    path: resourcePath(type, namespace === undefined ? {} : { namespace }),
    query: { labelSelector, fieldSelector, limit, continue: continueToken },
  };
}

function parsePage<T>(answer: unknown, type: ResourceType): ListPage<T> {
  const list = answer as {
    readonly items?: readonly T[] | null;
    readonly metadata?: { readonly resourceVersion?: unknown; readonly continue?: unknown };
  } | null;
  const resourceVersion = list?.metadata?.resourceVersion;
  const items = list?.items ?? [];
  if (typeof resourceVersion !== "string" || !Array.isArray(items)) {
    throw new UnavailableError("Reading a page of a list", { code: "kube.undecodable", context: { resource: type.plural } });
  }
  const continueToken = list?.metadata?.continue;
  return { items, resourceVersion, continueToken: typeof continueToken === "string" && continueToken !== "" ? continueToken : undefined };
}

function namespaceOf(object: KubeObject): { readonly namespace?: string } {
  return object.metadata.namespace === undefined ? {} : { namespace: object.metadata.namespace };
}

async function unlessAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof GoneError && error.code === "kube.not-found") return undefined;
    throw error;
  }
}

/**
 * The server answers a patch whose `test` does not hold like one it cannot carry out: 422 `Invalid` without naming a field (a refused
 * object names one). Callers whose `test` is a fence need to tell that from a bad object, so it gets a code of its own.
 */
async function nameFailedTest<T>(patch: readonly JsonPatchOperation[], answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const failed = error instanceof RefusedError && error.context["status"] === 422 && error.context["field"] === undefined;
    if (!failed || !patch.some((step) => step.op === "test")) throw error;
    throw new RefusedError(error.message, { code: "kube.test-failed", context: error.context, cause: error.cause });
  }
}

function pinsVersion(patch: readonly JsonPatchOperation[]): boolean {
  return patch.some((step) => step.path === "/metadata/resourceVersion" && step.op !== "remove");
}

function carriesVersion(patch: unknown): boolean {
  const metadata = (patch as { readonly metadata?: { readonly resourceVersion?: unknown } } | null)?.metadata;
  return typeof metadata?.resourceVersion === "string";
}
