import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { apiVersionOf, type KubeObject } from "../../src/runtime/kube/resource.ts";
import { inFlight } from "../load.ts";
import { APPLICATIONS, BARE_DEPLOYMENTS, BARE_LABEL } from "../world/kinds.ts";
import { AT_ONCE, type Deployment, deploymentObject } from "../world/users.ts";

export interface BareClientOptions {
  readonly client: KubeClient;
  readonly repoUrl: string;
  /** A status as Argosy writes it for such an application. */
  readonly status: unknown;
  /** The namespace of the Applications. */
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/**
 * Writes what Argosy and its user write for each deployment, and nothing else: the user's resource, the Application
 * and the status, in that order, 32 deployments at a time. Returns deployments per second.
 */
export async function writeBare(deployments: readonly Deployment[], options: BareClientOptions): Promise<number> {
  const { client, repoUrl, status, namespace, signal } = options;
  const startedAt = performance.now();
  await inFlight(deployments, AT_ONCE, async (deployment) => {
    await client.create(BARE_DEPLOYMENTS, deploymentObject(BARE_DEPLOYMENTS, { ...deployment, repoUrl }), signal);
    await client.create(APPLICATIONS, bareApplication(deployment, { repoUrl, namespace }), signal);
    const { namespace: from, name } = deployment;
    const reported = {
      apiVersion: apiVersionOf(BARE_DEPLOYMENTS),
      kind: BARE_DEPLOYMENTS.kind,
      metadata: { namespace: from, name },
      status,
    };
    await client.apply(BARE_DEPLOYMENTS, reported, { fieldManager: "bench", subresource: "status" }, signal);
  });
  return (1000 * deployments.length) / (performance.now() - startedAt);
}

/** Removes what `writeBare` and the bare chain have created. */
export async function clearBare(
  namespaces: readonly string[],
  { client, signal }: Pick<BareClientOptions, "client" | "signal">,
): Promise<void> {
  for (const namespace of namespaces)
    for (const type of [BARE_DEPLOYMENTS, APPLICATIONS])
      await client.request(
        {
          method: "DELETE",
          path: `/apis/${type.group}/${type.version}/namespaces/${namespace}/${type.plural}`,
          idempotent: true,
          decode: false,
          timeoutMs: 120_000,
        },
        signal,
      );
}

export function bareApplication(
  { namespace, name, path }: Deployment,
  at: { readonly repoUrl: string; readonly namespace: string },
): KubeObject {
  return {
    apiVersion: apiVersionOf(APPLICATIONS),
    kind: APPLICATIONS.kind,
    metadata: { namespace: at.namespace, name: `${namespace}-${name}`, labels: { [BARE_LABEL]: "true" } },
    spec: {
      project: "default",
      source: { repoURL: at.repoUrl, path, targetRevision: "main" },
      destination: { server: "https://127.0.0.1", namespace },
      syncPolicy: { automated: { prune: true, selfHeal: true, allowEmpty: true }, syncOptions: ["PrunePropagationPolicy=background"] },
      revisionHistoryLimit: 5,
    },
  } as KubeObject;
}
