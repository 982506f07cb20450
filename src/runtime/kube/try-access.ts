import { GoneError, RefusedError } from "../../domain/errors.ts";
import type { KubeClient } from "./client.ts";
import { type ResourceType, resourcePath } from "./resource.ts";

const CONFIG_MAPS: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const REVIEWS: ResourceType = {
  ...{
    group: "authorization.k8s.io",
    version: "v1",
    plural: "selfsubjectaccessreviews",
    kind: "SelfSubjectAccessReview",
    namespaced: false,
  },
};
/** What is tried: whoever may write may make one, and a trial makes none. */
const TRIED = "argosy-may-it-write";
/** An answer that takes longer is none, in ms; and each question goes to whichever API server is behind the address this time. */
const QUESTION = { timeoutMs: 2_000, isFresh: true } as const;

/** Who asks: the client itself, or whom it is to impersonate. */
export interface Asking {
  readonly namespace: string;
  readonly impersonating?: string;
}

export interface Access {
  /** Absent: no answer. */
  readonly isAllowed: boolean | undefined;
  /** An absent status: no answer. */
  readonly trial: { readonly status: number | undefined; readonly message: string };
}

/** Asks a server whether somebody may write in a namespace: a review of access, and a write that changes nothing. Never rejects but when it is ended. */
export async function tryAccess(client: KubeClient, asking: Asking, signal: AbortSignal): Promise<Access> {
  const [isAllowed, trial] = await Promise.all([review(client, asking, signal), attempt(client, asking, signal)]);
  return { isAllowed, trial };
}

async function review(client: KubeClient, asking: Asking, signal: AbortSignal): Promise<boolean | undefined> {
  const { namespace } = asking;
  const resourceAttributes = { namespace, verb: "create", group: "", version: "v1", resource: "configmaps" };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: REVIEWS.kind, spec: { resourceAttributes } };
  const request = { method: "POST", path: resourcePath(REVIEWS, {}), body, ...by(asking), ...QUESTION } as const;
  try {
    const answer = await client.request<{ readonly status?: { readonly allowed?: unknown } } | null>(request, signal);
    return typeof answer?.status?.allowed === "boolean" ? answer.status.allowed : undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function attempt(client: KubeClient, asking: Asking, signal: AbortSignal): Promise<Access["trial"]> {
  const { namespace } = asking;
  const body = { apiVersion: "v1", kind: CONFIG_MAPS.kind, metadata: { namespace, name: TRIED } };
  const request = {
    method: "POST",
    path: resourcePath(CONFIG_MAPS, { namespace }),
    query: { dryRun: "All" },
    body,
    ...by(asking),
    ...QUESTION,
    decode: false,
  } as const;
  try {
    await client.request(request, signal);
    return { status: 201, message: "" };
  } catch (error) {
    signal.throwIfAborted();
    // The server says that there is no such namespace only to those who may write there.
    if (error instanceof GoneError) return { status: 404, message: "" };
    if (!(error instanceof RefusedError)) return { status: undefined, message: "" };
    const message = error.cause instanceof Error ? error.cause.message : "";
    return { status: Number(error.context["status"]), message };
  }
}

function by({ impersonating }: Asking) {
  return impersonating === undefined ? {} : { headers: { "impersonate-user": impersonating } };
}
