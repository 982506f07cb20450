import type { EnvironmentCredential } from "../../domain/environment.ts";
import type { EgressSpec } from "../../domain/fleet.ts";
import type { ObservedResource } from "../../domain/user-resource.ts";
import { parseUserKubeconfig, type UserAccess } from "../../runtime/kube/user-kubeconfig.ts";
import type { UserSecrets } from "../port.ts";
import { type EnvironmentFinding, findingOf, noContext, unusableKubeconfig } from "./finding.ts";
import { type EnvironmentRequest, kubeconfigOf, parseEnvironment } from "./parse-environment.ts";
import type { ClusterProbe } from "./port.ts";

/** What a probe of an environment found, with what was seen to work, if it does. */
export interface Examined {
  readonly finding: EnvironmentFinding;
  readonly works: { readonly request: EnvironmentRequest; readonly credential: EnvironmentCredential } | undefined;
}

export interface ExaminationDeps {
  readonly secrets: Pick<UserSecrets, "read">;
  readonly probe: ClusterProbe;
}

/** Reads an environment's Secret and tries what is in it on the cluster. */
export function createExamination({ secrets, probe }: ExaminationDeps) {
  const nothing = (finding: EnvironmentFinding): Examined => ({ finding, works: undefined });

  return async (resource: ObservedResource, egress: EgressSpec, signal: AbortSignal): Promise<Examined> => {
    const parsed = parseEnvironment(resource.spec, egress);
    if (!parsed.ok) return nothing(parsed.finding);
    const { request } = parsed;
    const { secretName, apiUrl, isInsecure, namespaces } = request;
    const secret = kubeconfigOf(await secrets.read({ namespace: resource.namespace, name: secretName }, signal), secretName);
    if (!secret.ok) return nothing(secret.finding);
    const kubeconfig = parseUserKubeconfig(secret.text, apiUrl);
    if (kubeconfig.kind === "no-context") return nothing(noContext);
    if (kubeconfig.kind === "unusable") return nothing(unusableKubeconfig(kubeconfig.why));
    const credential = credentialOf(kubeconfig.access, request);
    const finding = findingOf(await probe.probe({ ...credential, isInsecure, namespace: namespaces[0], egress }, signal));
    return { finding, works: finding.kind === "ready" ? { request, credential } : undefined };
  };
}

/** The server is the environment's own spelling of it. */
function credentialOf(access: UserAccess, { apiUrl }: EnvironmentRequest): EnvironmentCredential {
  return { ...access, server: apiUrl };
}
