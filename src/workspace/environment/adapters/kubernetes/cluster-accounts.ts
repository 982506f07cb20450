import type { ClusterAccount, EnvironmentOwnerBinding } from "../../../../domain/environment.ts";
import { StaleError, UnavailableError } from "../../../../domain/errors.ts";
import { ACCOUNTS_NAMESPACE, LABEL_ENVIRONMENT, LABEL_MANAGED_BY, MANAGED_BY } from "../../../../domain/names.ts";
import type { KubeClient } from "../../../../runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../../../runtime/kube/resource.ts";
import { tryAccess } from "../../../../runtime/kube/try-access.ts";
import { parseMark } from "../../next-binding-step.ts";
import type { AccountTraces, ClusterAccounts } from "../../port.ts";
import {
  applyAll,
  BINDING,
  bindingTypeOf,
  CLUSTER_BINDING,
  CLUSTER_ROLE,
  isTest,
  NAMESPACE,
  ROLE,
  SECRET,
  SERVICE_ACCOUNT,
  writeBinding,
} from "./cluster-bindings.ts";
import { whyNotReached } from "./cluster-probe.ts";
import { createReach, type ReachOptions } from "./reached-cluster.ts";

/** More of ours than one environment ever has under one mark. */
const PAGE = 100;
/** Longest token that is taken, in characters: tokens of API servers have about a thousand. */
const LONGEST_TOKEN = 16 * 1024;
/** How long a visit may take that somebody waits for who has no owner meanwhile, in ms. */
const QUICK_MS = 10_000;

export function createClusterAccounts(options: ReachOptions): ClusterAccounts {
  const reach = createReach(options);
  const quickly = createReach({ visitMs: QUICK_MS, ...options });
  return {
    async install(target, { account, ownerBinding }, signal) {
      const reached = await reach(target, (client, limited) => install(client, { account, ownerBinding }, limited), signal);
      return reached.kind === "done" ? reached.result : { kind: "failed", why: whyNotReached(reached, signal) };
    },
    async writeOwnerBinding(target, ownerBinding, signal) {
      const reached = await quickly(target, (client, limited) => writeOwnerBinding(client, ownerBinding, limited), signal);
      return reached.kind === "done" ? { kind: reached.result } : { kind: "failed", why: whyNotReached(reached, signal) };
    },
    async ask(target, namespaces, signal) {
      const endpointOf = (namespace: string): string => `${target.server} ${namespace}`;
      const ask = (client: KubeClient, limited: AbortSignal) =>
        Promise.all(
          namespaces.map(async (namespace) => ({
            endpoint: endpointOf(namespace),
            ...(await tryAccess(client, { namespace }, limited)),
          })),
        );
      const reached = await quickly(target, ask, signal);
      if (reached.kind === "done") return reached.result;
      signal.throwIfAborted();
      return namespaces.map((namespace) => ({
        endpoint: endpointOf(namespace),
        isAllowed: undefined,
        trial: { status: undefined, message: "" },
      }));
    },
    async removeAccount(target, account, signal) {
      const reached = await quickly(target, (client, limited) => removeAccount(client, account, limited), signal);
      return reached.kind === "done" ? undefined : whyNotReached(reached, signal);
    },
    async removeOthers(target, { names, ...traces }, signal) {
      const reached = await reach(target, (client, limited) => removeOthers(client, { names, ...traces }, limited), signal);
      return reached.kind === "done" ? undefined : whyNotReached(reached, signal);
    },
    async remove(target, traces, signal) {
      const reached = await reach(target, (client, limited) => remove(client, traces, limited), signal);
      return reached.kind === "done" ? undefined : whyNotReached(reached, signal);
    },
  };
}

type Wanted = { readonly account: ClusterAccount; readonly ownerBinding: EnvironmentOwnerBinding | undefined };

async function install(client: KubeClient, { account, ownerBinding }: Wanted, signal: AbortSignal) {
  await applyAll(client, [...account.objects, ...(ownerBinding?.roles ?? [])], signal);
  const end = ownerBinding === undefined ? "written" : await writeOwnerBinding(client, ownerBinding, signal);
  if (end !== "written") return { kind: end } as const;
  const secret = await client.get<KubeObject & { readonly data?: { readonly token?: string } }>(SECRET, account.token, signal);
  const encoded = secret?.data?.token;
  if (encoded === undefined || encoded === "") return { kind: "waiting" } as const;
  return { kind: "installed", token: parseToken(encoded) } as const;
}

async function writeOwnerBinding(
  client: KubeClient,
  { roles, bindings, epoch }: EnvironmentOwnerBinding,
  signal: AbortSignal,
): Promise<"written" | "waiting" | "fenced"> {
  for (const [index, binding] of bindings.entries()) {
    const end = await writeBinding(client, { binding, role: roles[index], epoch }, signal);
    if (end !== "written") return end;
  }
  return "written";
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

/** The account first, and only as it was made at the latest under this epoch: what is left of it then is nobody's. */
async function removeAccount(client: KubeClient, { objects, epoch }: ClusterAccount, signal: AbortSignal): Promise<void> {
  const account = objects.find(({ kind }) => kind === SERVICE_ACCOUNT.kind);
  const at = { namespace: ACCOUNTS_NAMESPACE, name: account?.metadata.name ?? "" };
  const seen = await client.get<KubeObject>(SERVICE_ACCOUNT, at, signal);
  if (seen !== undefined && !(await deleteUpTo(client, at, { raw: seen, epoch }, signal))) return;
  for (const { kind, metadata } of objects.toReversed()) {
    if (kind === SERVICE_ACCOUNT.kind || kind === NAMESPACE.kind) continue;
    await client.delete(bindingTypeOf(kind), { namespace: metadata.namespace ?? "", name: metadata.name }, {}, signal);
  }
}

type At = { readonly namespace: string; readonly name: string };

/** Whether the account is gone: one that a newer epoch made stays, and so does one that changed at this moment. */
async function deleteUpTo(
  client: KubeClient,
  at: At,
  { raw, epoch }: { readonly raw: unknown; readonly epoch: number },
  signal: AbortSignal,
): Promise<boolean> {
  const mark = parseMark(raw);
  if (mark === undefined) throw undecodable("object");
  if ((mark.epoch ?? 0) > epoch) return false;
  const preconditions = { uid: mark.uid, resourceVersion: mark.resourceVersion };
  try {
    await client.delete(SERVICE_ACCOUNT, at, { preconditions }, signal);
    return true;
  } catch (error) {
    if (isTest(error)) return false;
    throw error;
  }
}

type Kept = Parameters<ClusterAccounts["removeOthers"]>[1];

async function removeOthers(client: KubeClient, { mark, namespaces, epoch, names }: Kept, signal: AbortSignal): Promise<void> {
  const options = { namespace: ACCOUNTS_NAMESPACE, labelSelector: markedBy(mark), limit: PAGE };
  const { items } = await client.listPage<unknown>(SERVICE_ACCOUNT, options, signal);
  for (const raw of items.slice(0, PAGE)) {
    const name = parseName(raw);
    if (names.includes(name) || !(await deleteUpTo(client, { namespace: ACCOUNTS_NAMESPACE, name }, { raw, epoch }, signal))) continue;
    for (const namespace of namespaces) for (const type of [BINDING, ROLE]) await client.delete(type, { namespace, name }, {}, signal);
    if (namespaces.length === 0)
      for (const type of [CLUSTER_BINDING, CLUSTER_ROLE]) await client.delete(type, { namespace: "", name }, {}, signal);
    await client.delete(SECRET, { namespace: ACCOUNTS_NAMESPACE, name }, {}, signal);
  }
}

function markedBy(mark: string): string {
  return `${LABEL_MANAGED_BY}=${MANAGED_BY},${LABEL_ENVIRONMENT}=${mark}`;
}

/** Rights before the account, so that nobody holds them without anybody to take them away; the namespace once it is empty of ours. */
async function remove(client: KubeClient, { mark, namespaces, epoch }: AccountTraces, signal: AbortSignal): Promise<void> {
  const takeOne = async (type: ResourceType, at: At, raw: unknown): Promise<void> => {
    const seen = epoch === undefined ? undefined : parseMark(raw);
    if (epoch === undefined || seen === undefined) return client.delete(type, at, {}, signal);
    if ((seen.epoch ?? 0) > epoch) throw new StaleError("removing what a newer epoch wrote", { code: "environment.newer", context: {} });
    await client.delete(type, at, { preconditions: { uid: seen.uid, resourceVersion: seen.resourceVersion } }, signal);
  };
  const take = async (type: ResourceType, namespace = ""): Promise<void> => {
    const options = { labelSelector: markedBy(mark), limit: PAGE, ...(namespace !== "" && { namespace }) };
    const page = await client.listPage<unknown>(type, options, signal);
    const found = page.items.slice(0, PAGE).map((raw) => ({ raw, name: parseName(raw) }));
    for (const { raw, name } of found) await takeOne(type, { namespace, name }, raw);
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
