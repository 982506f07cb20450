import { RefusedError } from "../../../../domain/errors.ts";
import { UNTRUSTED_CODES } from "../../../../runtime/tls-trouble.ts";
import type { ClusterProbe, ClusterProbeResult, ProbeTarget } from "../../port.ts";
import { ANSWER_MS, codeOf, createReach, type Reached, type ReachOptions } from "./reached-cluster.ts";

/** Asks API servers of strangers for what an account that deploys there can read. */
export function createClusterProbe(options: ReachOptions): ClusterProbe {
  const reach = createReach(options);
  return {
    async probe(target, signal) {
      const { path, query, kind } = questionOf(target);
      // Asked once: a retry would only hide for a while what the user should know.
      const request = { method: "GET", path, query, idempotent: false, timeoutMs: options.timeoutMs ?? ANSWER_MS } as const;
      const reached = await reach(
        target,
        (client, limited) => client.request<{ readonly kind?: unknown } | null>(request, limited),
        signal,
      );
      if (reached.kind === "done") return { kind: reached.result?.kind === kind ? "accepted" : "refused" };
      return whyNotReached(reached, signal);
    },
  };
}

/** What a visit that led nowhere means; throws when it was ended from outside. */
export function whyNotReached(reached: Exclude<Reached<unknown>, { readonly kind: "done" }>, signal: AbortSignal): ClusterProbeResult {
  if (reached.kind === "closed") return { kind: reached.why };
  if (reached.kind === "unsure") return { kind: "unreachable", why: "it cannot be told at the moment whether it may be deployed to" };
  signal.throwIfAborted();
  return resultOf(reached.error);
}

function questionOf({ namespace }: ProbeTarget) {
  return namespace === undefined
    ? ({ path: "/api/v1/namespaces", query: { limit: 1 }, kind: "NamespaceList" } as const)
    : ({ path: `/api/v1/namespaces/${namespace}`, query: {}, kind: "Namespace" } as const);
}

const WHY: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "its certificate has expired",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "no route to host",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the name of the host cannot be resolved at the moment",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
};

function resultOf(error: unknown): ClusterProbeResult {
  if (error instanceof RefusedError) return { kind: error.context["status"] === 403 ? "forbidden" : "refused" };
  const code = codeOf(error);
  if (UNTRUSTED_CODES.has(code)) return { kind: "untrusted" };
  if (code === "kube.not-found" || code === "kube.unknown-path" || code === "kube.undecodable" || code === "kube.answer-too-long")
    return { kind: "refused" };
  return { kind: "unreachable", why: WHY[code] ?? "no answer" };
}
