import { RefusedError } from "../../domain/errors.ts";
import { asArray, asObject } from "../../domain/json.ts";
import { CLASS_LABELS_POLICY } from "../../domain/names.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../runtime/kube/resource.ts";
import type { ClassPolicyFound } from "./checks.ts";

const ADMISSION = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false } as const;
const POLICIES: ResourceType = { ...ADMISSION, plural: "validatingadmissionpolicies", kind: "ValidatingAdmissionPolicy" };
const BINDINGS: ResourceType = { ...ADMISSION, plural: "validatingadmissionpolicybindings", kind: "ValidatingAdmissionPolicyBinding" };

/** Whether the API cluster refuses labels that decide a class to whoever may not assign classes. Before Kubernetes 1.30 it cannot. */
export async function readClassPolicy(client: KubeClient, signal: AbortSignal): Promise<ClassPolicyFound> {
  try {
    const at = { namespace: "", name: CLASS_LABELS_POLICY };
    const policy = await client.get<KubeObject>(POLICIES, at, signal);
    const binding = await client.get<KubeObject>(BINDINGS, at, signal);
    if (policy === undefined || binding === undefined) return { kind: "away" };
    const { validationActions, matchResources } = asObject(asObject(binding)["spec"]);
    return asArray(validationActions).includes("Deny") && matchResources === undefined ? { kind: "in force" } : { kind: "weakened" };
  } catch (error) {
    return { kind: "unseen", why: error instanceof RefusedError ? "this account may not read it" : "the API cluster does not answer" };
  }
}
