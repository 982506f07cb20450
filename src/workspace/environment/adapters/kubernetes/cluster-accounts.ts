import { parseIssuedToken } from "../../../../domain/account-token.ts";
import type { EngineObject } from "../../../../domain/engine.ts";
import type { ClusterAccount, EnvironmentOwnerBinding } from "../../../../domain/environment.ts";
import { StaleError, UnavailableError } from "../../../../domain/errors.ts";
import { canonicalJson } from "../../../../domain/hash.ts";
import { ACCOUNTS_NAMESPACE, LABEL_ENVIRONMENT, LABEL_MANAGED_BY, MANAGED_BY } from "../../../../domain/names.ts";
import type { KubeClient } from "../../../../runtime/kube/client.ts";
import { requestToken } from "../../../../runtime/kube/request-token.ts";
import type { KubeObject, ResourceType } from "../../../../runtime/kube/resource.ts";
import { tryAccess } from "../../../../runtime/kube/try-access.ts";
import { parseMark } from "../../next-binding-step.ts";
import type { AccountTraces, AccountWanted, ClusterAccounts, InstallResult, OwnerBindingResult } from "../../port.ts";
import { markOf, type ReadingRule, readingRules } from "../../reading-rules.ts";
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
import { discoverKinds } from "./discover-kinds.ts";
import { createReach, type ReachOptions } from "./reached-cluster.ts";

/** More of ours than one environment ever has under one mark. */
const PAGE = 100;
/** How long a visit may take that somebody waits for who has no owner meanwhile, in ms. */
const QUICK_MS = 10_000;

export function createClusterAccounts(options: ReachOptions): ClusterAccounts {
  const reach = createReach(options);
  const quickly = createReach({ visitMs: QUICK_MS, ...options });
  return {
    async install(target, wanted, signal) {
      const reached = await reach(target, (client, limited) => install(client, wanted, limited), signal);
      return reached.kind === "done" ? reached.result : { kind: "failed", why: whyNotReached(reached, signal) };
    },
    async issueToken(target, { at }, lifeMs, signal) {
      const askedAt = options.clock.now();
      const reached = await quickly(target, (client, limited) => requestToken(client, at, lifeMs, limited), signal);
      if (reached.kind !== "done") return { kind: "failed", why: whyNotReached(reached, signal) };
      const token = parseIssuedToken(reached.result, askedAt);
      return token === undefined ? { kind: "failed", why: { kind: "refused" } } : { kind: "issued", token };
    },
    async removeEndless(target, { at }, signal) {
      const reached = await quickly(target, (client, limited) => client.delete(SECRET, at, {}, limited), signal);
      return reached.kind === "done" ? undefined : whyNotReached(reached, signal);
    },
    async writeOwnerBinding(target, ownerBinding, signal) {
      const reached = await quickly(target, (client, limited) => handOver(client, ownerBinding, limited), signal);
      return reached.kind === "done" ? reached.result : { kind: "failed", why: whyNotReached(reached, signal) };
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
    async narrow(target, account, signal) {
      const reached = await quickly(target, (client, limited) => narrow(client, account, limited), signal);
      if (reached.kind === "done") return reached.result;
      signal.throwIfAborted();
      options.log.warn(
        { why: whyNotReached(reached, signal).kind },
        "Leaving the former owner's account on a user's cluster with what it may read",
      );
      return {};
    },
    async endReading(target, account, signal) {
      const reached = await quickly(target, (client, limited) => endReading(client, account, limited), signal);
      return reached.kind === "done" ? undefined : whyNotReached(reached, signal);
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

async function install(client: KubeClient, { account, ownerBinding }: AccountWanted, signal: AbortSignal): Promise<InstallResult> {
  const rules = await rulesThere(client, account.objects, signal);
  await applyAccount(client, account, rules, signal);
  await applyAll(client, ownerBinding?.roles ?? [], signal);
  const end = ownerBinding === undefined ? "written" : await writeOwnerBinding(client, ownerBinding, signal);
  if (end !== "written") return { kind: end };
  const accountUid = parseMark(await client.get<KubeObject>(SERVICE_ACCOUNT, account.at, signal))?.uid;
  return accountUid === undefined ? { kind: "waiting" } : { kind: "installed", accountUid, ...markedAs(rules) };
}

/** Rights first, for whoever waits for them; then what the new owner may find that it could not read before. */
async function handOver(client: KubeClient, ownerBinding: EnvironmentOwnerBinding, signal: AbortSignal): Promise<OwnerBindingResult> {
  const end = await writeOwnerBinding(client, ownerBinding, signal);
  const isHanded = end === "written" && ownerBinding.bindings.some(({ subjects }) => subjects.length > 0);
  return isHanded ? { kind: end, ...markedAs(await rulesThere(client, ownerBinding.roles, signal)) } : { kind: end };
}

/**
 * Makes an account, or brings it up to date. A cluster that does not say what it serves takes nothing from an account that reads already: its
 * role stays as it is.
 */
async function applyAccount(client: KubeClient, { objects }: ClusterAccount, rules: Rules, signal: AbortSignal): Promise<void> {
  for (const object of objects) {
    if (rules === undefined && isRole(object) && (await readRole(client, object, signal)) !== undefined) continue;
    await applyAll(client, [rules !== undefined && isRole(object) ? { ...object, rules } : object], signal);
  }
}

/** Leaves an account that stands with what any account may read: an earlier version may have given it more. All of its roles say the same. */
async function narrow(client: KubeClient, { objects }: ClusterAccount, signal: AbortSignal): Promise<{ readonly kindsMark?: string }> {
  const roles = objects.filter(isRole);
  const [first] = roles;
  const seen = first && (await readRole(client, first, signal));
  const rules = seen && (await rulesThere(client, roles, signal));
  if (rules === undefined) return {};
  if (canonicalJson(seen?.rules) !== canonicalJson(rules))
    await applyAll(
      client,
      roles.map((role) => ({ ...role, rules })),
      signal,
    );
  return markedAs(rules);
}

/** `undefined`: the cluster does not say what it serves. */
type Rules = readonly ReadingRule[] | undefined;

/** By which rules the cluster is read in the places of these roles. */
async function rulesThere(client: KubeClient, objects: readonly EngineObject[], signal: AbortSignal): Promise<Rules> {
  const kinds = await discoverKinds(client, signal);
  return kinds && readingRules(kinds, { isNamespaced: objects.some(({ kind }) => kind === ROLE.kind) });
}

function markedAs(rules: Rules): { readonly kindsMark?: string } {
  return rules === undefined ? {} : { kindsMark: markOf(rules) };
}

function isRole({ kind }: EngineObject): boolean {
  return kind === ROLE.kind || kind === CLUSTER_ROLE.kind;
}

function readRole(client: KubeClient, { kind, metadata }: EngineObject, signal: AbortSignal) {
  const at = { namespace: metadata.namespace ?? "", name: metadata.name };
  return client.get<KubeObject & { readonly rules?: unknown }>(bindingTypeOf(kind), at, signal);
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

function parseName(item: unknown): string {
  const name = (item as Partial<KubeObject> | null)?.metadata?.name as unknown;
  if (typeof name !== "string" || name.length > 253 || !/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(name)) throw undecodable("name");
  return name;
}

function undecodable(what: string): UnavailableError {
  return new UnavailableError("Reading what a user's cluster answered", { code: "kube.undecodable", context: { what } });
}

/** In somebody's way at most, were they taken one after the other. */
const AT_ONCE = 8;

/** An account that a newer epoch made reads on: somebody prepares it. */
async function endReading(client: KubeClient, { at, objects, epoch }: ClusterAccount, signal: AbortSignal): Promise<void> {
  const seen = await client.get<KubeObject>(SERVICE_ACCOUNT, at, signal);
  if (seen !== undefined && (parseMark(seen)?.epoch ?? 0) > epoch) return;
  const bindings = objects.filter(({ kind }) => kind === BINDING.kind || kind === CLUSTER_BINDING.kind);
  for (let index = 0; index < bindings.length; index += AT_ONCE)
    await Promise.all(
      bindings
        .slice(index, index + AT_ONCE)
        .map(({ kind, metadata: { namespace = "", name } }) => client.delete(bindingTypeOf(kind), { namespace, name }, {}, signal)),
    );
}

/** The account first, and only as it was made at the latest under this epoch: what is left of it then is nobody's. */
async function removeAccount(client: KubeClient, { at, objects, epoch }: ClusterAccount, signal: AbortSignal): Promise<void> {
  const seen = await client.get<KubeObject>(SERVICE_ACCOUNT, at, signal);
  if (seen !== undefined && !(await deleteUpTo(client, at, { raw: seen, epoch }, signal))) return;
  for (const { kind, metadata } of objects.toReversed()) {
    if (kind === SERVICE_ACCOUNT.kind || kind === NAMESPACE.kind) continue;
    await client.delete(bindingTypeOf(kind), { namespace: metadata.namespace ?? "", name: metadata.name }, {}, signal);
  }
  await client.delete(SECRET, at, {}, signal);
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
