import { RefusedError } from "../../../domain/errors.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { type ResourceType, resourcePath } from "../../../runtime/kube/resource.ts";
import { parseRegister } from "../../../shard/parse-sight.ts";
import type { AccessAnswer, ManagedCluster } from "../../port.ts";
import { conditionalWrites } from "./conditional-writes.ts";

const REGISTERS: ResourceType = {
  ...{ group: "rbac.authorization.k8s.io", version: "v1", plural: "rolebindings", kind: "RoleBinding", namespaced: true },
};
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
/** What is tried: every owner may make one, and a trial makes none. */
const TRIED = "argosy-may-it-write";
/** An answer that takes longer is none. */
const ANSWER_MS = 2_000;

/** The API cluster, for the registers of own namespaces. It is asked in the name of accounts, as instances act there. */
export function createManagedCluster(client: KubeClient): ManagedCluster {
  const review = async (user: string, namespace: string, signal: AbortSignal): Promise<boolean | undefined> => {
    const resourceAttributes = { namespace, verb: "create", group: "", version: "v1", resource: "configmaps" };
    const body = { apiVersion: "authorization.k8s.io/v1", kind: REVIEWS.kind, spec: { resourceAttributes } };
    const request = { method: "POST", path: resourcePath(REVIEWS, {}), body, headers: as(user), timeoutMs: ANSWER_MS } as const;
    try {
      const answer = await client.request<{ readonly status?: { readonly allowed?: unknown } }>(request, signal);
      return typeof answer.status?.allowed === "boolean" ? answer.status.allowed : undefined;
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  };

  const attempt = async (user: string, namespace: string, signal: AbortSignal): Promise<AccessAnswer["trial"]> => {
    const body = { apiVersion: "v1", kind: CONFIG_MAPS.kind, metadata: { namespace, name: TRIED } };
    const path = resourcePath(CONFIG_MAPS, { namespace });
    const request = {
      method: "POST",
      path,
      query: { dryRun: "All" },
      body,
      headers: as(user),
      timeoutMs: ANSWER_MS,
      decode: false,
    } as const;
    try {
      await client.request(request, signal);
      return { status: 201, message: "" };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RefusedError)) return { status: undefined, message: "" };
      const message = error.cause instanceof Error ? error.cause.message : "";
      return { status: Number(error.context["status"]), message };
    }
  };

  return {
    ...conditionalWrites(client, REGISTERS),
    async read(at, signal) {
      const raw = await client.get(REGISTERS, at, signal);
      return raw === undefined ? undefined : parseRegister(raw);
    },
    async ask(user, namespace, signal) {
      const [isAllowed, trial] = await Promise.all([review(user, namespace, signal), attempt(user, namespace, signal)]);
      return [{ endpoint: client.server, isAllowed, trial }];
    },
  };
}

function as(user: string): Readonly<Record<string, string>> {
  return { "impersonate-user": user };
}
