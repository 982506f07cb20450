import { RefusedError } from "../../src/domain/errors.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { loadKubeconfig } from "../../src/runtime/kube/auth.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { createKubeClient } from "../../src/runtime/kube/http.ts";
import { type KubeObject, resourcePath } from "../../src/runtime/kube/resource.ts";
import { systemRng } from "../../src/runtime/rng.ts";
import { noMetrics } from "../../src/telemetry/metrics.ts";
import { keepSecret } from "../secrets-in-use.ts";
import { TARGET_TYPES } from "../target-cluster.ts";
import { TYPES, type World } from "../world.ts";

/** A person with rights in one namespace, as a company grants them: a role of Kubernetes' own, and the users' kinds of Argosy. */
export interface Person {
  readonly kube: KubeClient;
  readonly token: string;
}

const RBAC_VERSION = "rbac.authorization.k8s.io/v1";
const GITOPS_ROLE = "attacks-gitops-user";

/**
 * Returns the token of an account in `namespace`, which is created if needed. Rejects with RefusedError if `kube` may
 * not have one.
 */
export async function tokenOf(kube: KubeClient, at: { readonly namespace: string; readonly name: string }, signal: AbortSignal) {
  const path = resourcePath(TARGET_TYPES.serviceAccount, { ...at, subresource: "token" });
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3_600 } };
  const { status } = await kube.request<{ readonly status: { readonly token: string } }>({ method: "POST", path, body }, signal);
  return status.token;
}

/**
 * Creates a person who may do in `namespace` what the built-in ClusterRole `role` allows, and everything with the
 * users' kinds.
 */
export async function openPerson(world: World, role: "edit" | "admin", namespace: string): Promise<Person> {
  const { kube, signal } = world;
  const account = { namespace, name: `person-${role}` };
  const apply = (type: Parameters<KubeClient["apply"]>[0], object: KubeObject) =>
    kube.apply(type, object, { fieldManager: "owner" }, signal);
  const rules = [{ apiGroups: ["managed-gitops.redhat.com"], resources: ["*"], verbs: ["*"] }];
  const gitopsRole = { apiVersion: RBAC_VERSION, kind: "ClusterRole", metadata: { name: GITOPS_ROLE }, rules };
  await apply(TARGET_TYPES.clusterRole, gitopsRole);
  await apply(TARGET_TYPES.serviceAccount, { apiVersion: "v1", kind: "ServiceAccount", metadata: account });
  for (const name of [role, GITOPS_ROLE]) {
    const binding = {
      ...{ apiVersion: RBAC_VERSION, kind: "RoleBinding", metadata: { namespace, name: `${account.name}-${name}` } },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", ...account }],
    };
    await apply(TYPES.roleBinding, binding);
  }
  const token = await keepSecret(`a token of ${account.name}`, await tokenOf(kube, account, signal));
  const { server, ca } = loadKubeconfig({ file: world.harness.adminKubeconfig });
  const client = createKubeClient({
    cluster: "main",
    credentials: { server, ...(ca === undefined ? {} : { ca }), token: async () => token },
    ...{ clock: systemClock, rng: systemRng, metrics: noMetrics },
  });
  return { kube: client, token };
}

/** The API server's refusal of an attempt: status and message. Fails if the attempt is allowed, or fails for another reason. */
export async function refusalOf(attempt: Promise<unknown>): Promise<{ readonly status: unknown; readonly message: string }> {
  const outcome = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome === undefined) throw new Error("it was allowed");
  if (!(outcome instanceof RefusedError)) throw new Error("it failed for another reason", { cause: outcome });
  return { status: outcome.context["status"], message: outcome.cause instanceof Error ? outcome.cause.message : "" };
}
