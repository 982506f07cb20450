import type { EngineObject } from "../../../../domain/engine.ts";
import type { OwnerRoleBinding } from "../../../../domain/environment.ts";
import { GoneError, RefusedError, StaleError, UnavailableError } from "../../../../domain/errors.ts";
import { FIELD_MANAGER } from "../../../../domain/names.ts";
import type { KubeClient } from "../../../../runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../../../runtime/kube/resource.ts";
import { type BindingStep, nextBindingStep, parseClusterBinding, type SeenBinding } from "../../next-binding-step.ts";

const CORE = { group: "", version: "v1", namespaced: true } as const;
const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
export const NAMESPACE: ResourceType = { ...CORE, plural: "namespaces", kind: "Namespace", namespaced: false };
export const SERVICE_ACCOUNT: ResourceType = { ...CORE, plural: "serviceaccounts", kind: "ServiceAccount" };
export const SECRET: ResourceType = { ...CORE, plural: "secrets", kind: "Secret" };
export const CLUSTER_ROLE: ResourceType = { ...RBAC, plural: "clusterroles", kind: "ClusterRole", namespaced: false };
export const CLUSTER_BINDING: ResourceType = { ...RBAC, plural: "clusterrolebindings", kind: "ClusterRoleBinding", namespaced: false };
export const ROLE: ResourceType = { ...RBAC, plural: "roles", kind: "Role", namespaced: true };
export const BINDING: ResourceType = { ...RBAC, plural: "rolebindings", kind: "RoleBinding", namespaced: true };
const TYPES: readonly ResourceType[] = [NAMESPACE, SERVICE_ACCOUNT, SECRET, CLUSTER_ROLE, CLUSTER_BINDING, ROLE, BINDING];

/** Whoever writes it at the same time is met this often; then another visit comes. */
const TRIES = 5;

export function bindingTypeOf(kind: string): ResourceType {
  const type = TYPES.find((each) => each.kind === kind);
  if (type !== undefined) return type;
  throw new UnavailableError("making something of a kind that accounts do not have", { code: "environment.no-kind", context: { kind } });
}

/** Whether somebody changed, made or removed the object at this moment. */
export function isTest(error: unknown): boolean {
  return error instanceof StaleError || error instanceof GoneError || (error instanceof RefusedError && error.code === "kube.test-failed");
}

interface Written {
  readonly binding: OwnerRoleBinding;
  /** What it binds: nobody may bind what is not there. */
  readonly role: EngineObject | undefined;
  readonly epoch: number;
}

type At = { readonly namespace: string; readonly name: string };

const ENDS = { done: "written", wait: "waiting", fenced: "fenced" } as const;

/** Makes one role binding of an owner binding say what it should, by writes that test what was seen. */
export async function writeBinding(client: KubeClient, written: Written, signal: AbortSignal): Promise<"written" | "waiting" | "fenced"> {
  const { binding, epoch } = written;
  const at = { namespace: binding.metadata.namespace ?? "", name: binding.metadata.name };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const step = nextBindingStep(binding, epoch, await seeBinding(client, bindingTypeOf(binding.kind), at, signal));
    if (step.kind === "done" || step.kind === "wait" || step.kind === "fenced") return ENDS[step.kind];
    try {
      await takeStep(client, written, step, signal);
    } catch (error) {
      if (!isTest(error)) throw error;
    }
  }
  return "waiting";
}

async function seeBinding(client: KubeClient, type: ResourceType, at: At, signal: AbortSignal): Promise<SeenBinding | undefined> {
  const raw = await client.get<KubeObject>(type, at, signal);
  const seen = raw === undefined ? undefined : parseClusterBinding(raw);
  if (raw === undefined || seen !== undefined) return seen;
  throw new UnavailableError("Reading what a user's cluster answered", { code: "kube.undecodable", context: { what: "binding" } });
}

type WriteStep = Extract<BindingStep, { readonly kind: "create" | "patch" | "delete" }>;

async function takeStep(client: KubeClient, { binding, role }: Written, step: WriteStep, signal: AbortSignal): Promise<void> {
  const type = bindingTypeOf(binding.kind);
  const at = { namespace: binding.metadata.namespace ?? "", name: binding.metadata.name };
  if (step.kind === "patch") return void (await client.jsonPatch(type, at, step.patch, signal));
  if (step.kind === "delete") return client.delete(type, at, { preconditions: step.preconditions }, signal);
  if (role !== undefined) await applyAll(client, [role], signal);
  await client.create(type, binding, signal);
}

export async function applyAll(client: KubeClient, objects: readonly EngineObject[], signal: AbortSignal): Promise<void> {
  for (const object of objects)
    await client.apply(bindingTypeOf(object.kind), object as KubeObject, { fieldManager: FIELD_MANAGER }, signal);
}
