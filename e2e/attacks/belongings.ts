import { stringify } from "yaml";
import { loadKubeconfig } from "../../src/runtime/kube/auth.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";
import { conditionOf, type DeploymentResource, TYPES, until, type World } from "../world.ts";

const API = "managed-gitops.redhat.com/v1alpha1";

export const ENVIRONMENT: ResourceType = {
  group: "managed-gitops.redhat.com",
  version: "v1alpha1",
  plural: "gitopsdeploymentmanagedenvironments",
  kind: "GitOpsDeploymentManagedEnvironment",
  namespaced: true,
};

interface Name {
  readonly namespace: string;
  readonly name: string;
}

/** Writes a Secret of one of the users' types, as the user of `kube`. */
export async function putSecret(
  { kube, signal }: { readonly kube: KubeClient; readonly signal: AbortSignal },
  at: Name,
  secret: { readonly type: "managed-environment" | "repository-credential"; readonly stringData: Readonly<Record<string, string>> },
): Promise<void> {
  const { type, stringData } = secret;
  const object = { apiVersion: "v1", kind: "Secret", metadata: at, type: `managed-gitops.redhat.com/${type}`, stringData };
  await kube.apply(TYPES.secret, object as KubeObject, { fieldManager: "user" }, signal);
}

/** Creates a resource of the users' kinds, as the user of `kube`. */
export const make = (
  kube: KubeClient,
  type: ResourceType,
  { metadata, spec }: KubeObject & { readonly spec: unknown },
  signal: AbortSignal,
) => kube.create<KubeObject>(type, { apiVersion: API, kind: type.kind, metadata, spec } as KubeObject, signal);

/**
 * Creates an environment and its Secret, with a token for `server`. `ca`: the authority that is trusted for it, by
 * default that of the development cluster.
 */
export async function makeEnvironment(
  by: { readonly kube: KubeClient; readonly world: World },
  at: Name,
  { server, ca, token }: { readonly server: string; readonly ca?: string; readonly token: string },
): Promise<void> {
  const { kube, world } = by;
  const authority = ca ?? loadKubeconfig({ file: world.harness.adminKubeconfig }).ca ?? "";
  // In both spellings, that of the user and that of a browser: a search of the kubeconfig finds either.
  const servers = [...new Set([server, new URL(server).origin])].map((each, index) => ({ name: `c${index}`, each }));
  const kubeconfig = stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "c0" },
    clusters: servers.map(({ name, each }) => ({
      name,
      cluster: { server: each, "certificate-authority-data": Buffer.from(authority).toString("base64") },
    })),
    users: [{ name: "user", user: { token } }],
    contexts: servers.map(({ name }) => ({ name, context: { cluster: name, user: "user" } })),
  });
  const of = { kube, signal: world.signal };
  await putSecret(of, at, { type: "managed-environment", stringData: { kubeconfig } });
  const spec = { apiURL: server, credentialsSecret: at.name, allowInsecureSkipTLSVerify: false };
  await make(kube, ENVIRONMENT, { metadata: at, spec }, world.signal);
}

/** Waits until a resource has this text under a condition, as `status reason: message`. */
export async function untilSays(world: World, type: ResourceType, at: Name, wanted: { readonly condition: string; readonly says: string }) {
  const said = async () => {
    const found = await world.kube.get<DeploymentResource>(type, at, world.signal);
    const { status, reason, message } = conditionOf(found, wanted.condition) ?? {};
    return `${status} ${reason}: ${message}`;
  };
  await until(`${at.namespace}/${at.name} say ${wanted.says}`, said, (text) => text === wanted.says);
}
