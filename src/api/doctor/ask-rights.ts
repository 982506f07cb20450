import type { KubeClient } from "../../runtime/kube/client.ts";
import type { MemberAccount } from "../../store/member/port.ts";
import type { NeededRight } from "./rights.ts";

const AUTHORIZATION = "authorization.k8s.io/v1";

/** How many questions are under way at once: each takes a server milliseconds, and nobody waits for a process's own. */
const AT_ONCE = 8;

/** As whom a client acts, as its API server says. Needs no right. */
export async function readOwnAccount(client: KubeClient, signal: AbortSignal): Promise<MemberAccount> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const request = { method: "POST", path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", body, idempotent: true } as const;
  const { status } = await client.request<{
    readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] } };
  }>(request, signal);
  return { user: status?.userInfo?.username ?? "", groups: status?.userInfo?.groups ?? [] };
}

/** Those of the rights that a client does not have. Needs no right itself. */
export function findOwnMissing(client: KubeClient, rights: readonly NeededRight[], signal: AbortSignal): Promise<readonly NeededRight[]> {
  return findMissing(rights, (right) =>
    isAllowed(client, { kind: "SelfSubjectAccessReview", spec: { resourceAttributes: right } }, signal),
  );
}

/** Those of the rights that somebody else does not have. Needs the right to `create subjectaccessreviews`. */
export function findMissingOf(
  client: KubeClient,
  { user, groups }: MemberAccount,
  rights: readonly NeededRight[],
  signal: AbortSignal,
): Promise<readonly NeededRight[]> {
  return findMissing(rights, (right) =>
    isAllowed(client, { kind: "SubjectAccessReview", spec: { user, groups, resourceAttributes: right } }, signal),
  );
}

async function findMissing(
  rights: readonly NeededRight[],
  mayDo: (right: NeededRight) => Promise<boolean>,
): Promise<readonly NeededRight[]> {
  const missing = new Set<NeededRight>();
  const waiting = [...rights];
  const work = async (): Promise<void> => {
    for (let right = waiting.shift(); right !== undefined; right = waiting.shift()) if (!(await mayDo(right))) missing.add(right);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, rights.length) }, work));
  return rights.filter((right) => missing.has(right));
}

interface Review {
  readonly kind: "SelfSubjectAccessReview" | "SubjectAccessReview";
  readonly spec: object;
}

async function isAllowed(client: KubeClient, { kind, spec }: Review, signal: AbortSignal): Promise<boolean> {
  const path = `/apis/${AUTHORIZATION}/${kind.toLowerCase()}s`;
  const body = { apiVersion: AUTHORIZATION, kind, spec };
  const { status } = await client.request<{ readonly status: { readonly allowed: boolean } }>(
    { method: "POST", path, body, idempotent: true },
    signal,
  );
  return status.allowed;
}
