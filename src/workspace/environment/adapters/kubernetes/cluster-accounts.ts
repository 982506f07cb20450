import type { ClusterAccount } from "../../../../domain/environment.ts";
import { UnavailableError } from "../../../../domain/errors.ts";
import { ACCOUNTS_NAMESPACE, FIELD_MANAGER, LABEL_ENVIRONMENT, LABEL_MANAGED_BY, MANAGED_BY } from "../../../../domain/names.ts";
import type { KubeClient } from "../../../../runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../../../runtime/kube/resource.ts";
import type { ClusterAccounts } from "../../port.ts";
import { whyNotReached } from "./cluster-probe.ts";
import { createReach, type ReachOptions } from "./reached-cluster.ts";

const CORE = { group: "", version: "v1", namespaced: true } as const;
const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
const NAMESPACE: ResourceType = { ...CORE, plural: "namespaces", kind: "Namespace", namespaced: false };
const SERVICE_ACCOUNT: ResourceType = { ...CORE, plural: "serviceaccounts", kind: "ServiceAccount" };
const SECRET: ResourceType = { ...CORE, plural: "secrets", kind: "Secret" };
const CLUSTER_ROLE: ResourceType = { ...RBAC, plural: "clusterroles", kind: "ClusterRole", namespaced: false };
const CLUSTER_BINDING: ResourceType = { ...RBAC, plural: "clusterrolebindings", kind: "ClusterRoleBinding", namespaced: false };
const ROLE: ResourceType = { ...RBAC, plural: "roles", kind: "Role", namespaced: true };
const BINDING: ResourceType = { ...RBAC, plural: "rolebindings", kind: "RoleBinding", namespaced: true };
const TYPES: readonly ResourceType[] = [NAMESPACE, SERVICE_ACCOUNT, SECRET, CLUSTER_ROLE, CLUSTER_BINDING, ROLE, BINDING];

/** More of ours than one environment ever has under one mark. */
const PAGE = 100;
/** Longest token that is taken, in characters: tokens of API servers have about a thousand. */
const LONGEST_TOKEN = 16 * 1024;

export function createClusterAccounts(options: ReachOptions): ClusterAccounts {
  const reach = createReach(options);
  return {
    async install(target, account, signal) {
      const reached = await reach(target, (client, limited) => install(client, account, limited), signal);
      if (reached.kind !== "done") return { kind: "failed", why: whyNotReached(reached, signal) };
      return reached.result === undefined ? { kind: "waiting" } : { kind: "installed", token: reached.result };
    },
    async remove(target, { mark, namespaces }, signal) {
      const marked = `${LABEL_MANAGED_BY}=${MANAGED_BY},${LABEL_ENVIRONMENT}=${mark}`;
      const reached = await reach(target, (client, limited) => remove(client, { marked, namespaces }, limited), signal);
      return reached.kind === "done" ? undefined : whyNotReached(reached, signal);
    },
  };
}

/** The token; `undefined` until the cluster has made it. */
async function install(client: KubeClient, { objects, token }: ClusterAccount, signal: AbortSignal): Promise<string | undefined> {
  for (const object of objects) {
    const type = TYPES.find(({ kind }) => kind === object.kind);
    if (type !== undefined) await client.apply(type, object as KubeObject, { fieldManager: FIELD_MANAGER }, signal);
  }
  const secret = await client.get<KubeObject & { readonly data?: { readonly token?: string } }>(SECRET, token, signal);
  const encoded = secret?.data?.token;
  return encoded === undefined || encoded === "" ? undefined : parseToken(encoded);
}

/** The answer is a stranger's: what it calls a token goes into a header and into a row. */
function parseToken(encoded: unknown): string {
  const token = typeof encoded === "string" && encoded.length <= LONGEST_TOKEN * 2 ? Buffer.from(encoded, "base64").toString("latin1") : "";
  if (token.length > LONGEST_TOKEN || !/^[\x21-\x7e]+$/.test(token)) throw undecodable("token");
  return token;
}

function parseName(item: unknown): string {
  const name = (item as Partial<KubeObject> | null)?.metadata?.name as unknown;
  if (typeof name !== "string" || name.length > 253 || !/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(name)) throw undecodable("name");
  return name;
}

function undecodable(what: string): UnavailableError {
  return new UnavailableError("Reading what a user's cluster answered", { code: "kube.undecodable", context: { what } });
}

interface Traces {
  /** Label selector. */
  readonly marked: string;
  readonly namespaces: readonly string[];
}

/** Rights before the account, so that nobody holds them without anybody to take them away; the namespace once it is empty of ours. */
async function remove(client: KubeClient, { marked, namespaces }: Traces, signal: AbortSignal): Promise<void> {
  const take = async (type: ResourceType, namespace?: string): Promise<void> => {
    const page = await client.listPage<unknown>(type, { labelSelector: marked, limit: PAGE, ...(namespace && { namespace }) }, signal);
    for (const name of page.items.slice(0, PAGE).map(parseName))
      await client.delete(type, { namespace: namespace ?? "", name }, {}, signal);
  };
  for (const namespace of namespaces) for (const type of [BINDING, ROLE]) await take(type, namespace);
  if (namespaces.length === 0) for (const type of [CLUSTER_BINDING, CLUSTER_ROLE]) await take(type);
  for (const type of [SECRET, SERVICE_ACCOUNT]) await take(type, ACCOUNTS_NAMESPACE);
  const ours = `${LABEL_MANAGED_BY}=${MANAGED_BY}`;
  const left = await client.listPage<unknown>(SERVICE_ACCOUNT, { namespace: ACCOUNTS_NAMESPACE, labelSelector: ours, limit: 1 }, signal);
  if (left.items.length > 0) return;
  const namespace = await client.get<KubeObject>(NAMESPACE, { namespace: "", name: ACCOUNTS_NAMESPACE }, signal);
  if (namespace?.metadata.labels?.[LABEL_MANAGED_BY] === MANAGED_BY)
    await client.delete(NAMESPACE, { namespace: "", name: ACCOUNTS_NAMESPACE }, {}, signal);
}
