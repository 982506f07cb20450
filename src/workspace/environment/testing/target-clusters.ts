import { millis } from "../../../domain/clock.ts";
import type { EnvironmentOwnerBinding } from "../../../domain/environment.ts";
import { ACCOUNTS_NAMESPACE } from "../../../domain/names.ts";
import type { ClusterAccounts, ClusterProbe, ClusterProbeResult, ProbeTarget } from "../port.ts";

/** Clusters of users in this process: what a probe of each would say. */
export interface TargetClusters extends ClusterProbe, ClusterAccounts {
  /** From now on the cluster at `server` takes this token, or is `away`. */
  serve(server: string, token: string): void;
  /** Holds every answer back until it is let go. */
  hold(isHeld: boolean): void;
  /** Gives tokens of accounts, or lets nobody have any. */
  makeTokens(isMaking: boolean): void;
  /** Accounts that had a Secret with a token without an end, which was removed. */
  cleaned(): readonly string[];
  /** Names of the accounts of ours that stand at `server`. */
  accountsAt(server: string): readonly string[];
  /** From now on all of them serve these kinds, as `kindsMark` has it, or do not say. */
  serveKinds(mark: string | undefined): void;
  /** Accounts that were left with what any account reads. */
  narrowed(): readonly string[];
  /** Accounts that were left with nothing that lets them read. */
  ended(): readonly string[];
  /** Lets an account write by another binding than the owner binding, or not any more. */
  bypass(name: string | undefined): void;
  /** Names of those whom owner bindings let write. */
  holdersAt(): readonly string[];
  /** How often somebody came to remove accounts. */
  removals(): number;
  /** Who asked so far. */
  asked(): readonly ProbeTarget[];
}

export function createTargetClusters(): TargetClusters {
  const tokens = new Map<string, string>();
  const asked: ProbeTarget[] = [];
  const cleaned: string[] = [];
  const accounts = new Map<string, { readonly server: string; readonly mark: string | undefined }>();
  const ownerBindings = new Map<string, EnvironmentOwnerBinding>();
  const narrowed: string[] = [];
  const ended: string[] = [];
  let kindsMark: string | undefined = "kinds-1";
  let bypassed: string | undefined;
  let isMakingTokens = true;
  let removals = 0;
  let gate: { readonly open: Promise<void>; release(): void } | undefined;

  const answer = ({ server, token }: ProbeTarget): ClusterProbeResult => {
    const taken = tokens.get(server);
    if (taken === undefined || taken === "away") return { kind: "unreachable", why: taken === undefined ? "no such host" : "no answer" };
    return { kind: taken === token ? "accepted" : "refused" };
  };
  const takeOwnerBinding = (ownerBinding: EnvironmentOwnerBinding): boolean => {
    const name = ownerBinding.bindings[0]?.metadata.name ?? "";
    if ((ownerBindings.get(name)?.epoch ?? 0) > ownerBinding.epoch) return false;
    ownerBindings.set(name, ownerBinding);
    return true;
  };
  const read = () => (kindsMark === undefined ? {} : { kindsMark });
  return {
    serve: (server, token) => void tokens.set(server, token),
    hold(isHeld) {
      gate?.release();
      gate = undefined;
      if (!isHeld) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = { open: promise, release: resolve };
    },
    asked: () => asked,
    makeTokens(isMaking) {
      isMakingTokens = isMaking;
    },
    accountsAt: (server) => [...accounts].filter(([, account]) => account.server === server).map(([name]) => name),
    async install(target, { account, ownerBinding }, signal) {
      signal.throwIfAborted();
      const result = answer(target);
      if (result.kind !== "accepted") return { kind: "failed", why: result };
      const mark = account.objects.find(({ kind }) => kind === "ServiceAccount")?.metadata.labels?.["argosy.dev/environment"];
      accounts.set(account.at.name, { server: target.server, mark });
      if (ownerBinding !== undefined && !takeOwnerBinding(ownerBinding)) return { kind: "fenced" };
      return { kind: "installed", accountUid: `uid-of-${account.at.name}`, ...read() };
    },
    async issueToken(target, { at }, lifeMs, signal) {
      signal.throwIfAborted();
      const result = answer(target);
      if (result.kind !== "accepted") return { kind: "failed", why: result };
      if (!isMakingTokens) return { kind: "failed", why: { kind: "forbidden" } };
      const madeAt = millis(Date.now());
      return { kind: "issued", token: { token: `token-of-${at.name}`, madeAt, endsAt: millis(madeAt + lifeMs) } };
    },
    async removeEndless(_target, { at }, signal) {
      signal.throwIfAborted();
      cleaned.push(at.name);
      return undefined;
    },
    cleaned: () => cleaned,
    async writeOwnerBinding(target, ownerBinding, signal) {
      signal.throwIfAborted();
      const result = answer(target);
      if (result.kind !== "accepted") return { kind: "failed", why: result };
      if (!takeOwnerBinding(ownerBinding)) return { kind: "fenced" };
      return { kind: "written", ...(ownerBinding.bindings[0]?.subjects.length === 0 ? {} : read()) };
    },
    async narrow(target, account, signal) {
      signal.throwIfAborted();
      if (answer(target).kind !== "accepted" || !accounts.has(account.at.name)) return {};
      narrowed.push(account.at.name);
      return read();
    },
    serveKinds(mark) {
      kindsMark = mark;
    },
    narrowed: () => narrowed,
    ended: () => ended,
    async ask({ server, token }, namespaces, signal) {
      signal.throwIfAborted();
      const name = token?.replace("token-of-", "") ?? "";
      const user = `system:serviceaccount:${ACCOUNTS_NAMESPACE}:${name}`;
      const isSilent = tokens.get(server) === "away";
      const isAllowed =
        name === bypassed ||
        [...ownerBindings.values()].some(({ bindings }) => bindings.some(({ subjects }) => subjects[0]?.name === name));
      const trial = isAllowed ? { status: 201, message: "" } : { status: 403, message: `User "${user}" cannot create resource` };
      const said = isSilent ? { isAllowed: undefined, trial: { status: undefined, message: "" } } : { isAllowed, trial };
      return namespaces.map((namespace) => ({ endpoint: `${server} ${namespace}`, ...said }));
    },
    async endReading(target, account, signal) {
      signal.throwIfAborted();
      const result = answer(target);
      if (result.kind !== "accepted") return result;
      ended.push(account.at.name);
      return undefined;
    },
    async removeAccount(target, account, signal) {
      signal.throwIfAborted();
      const result = answer(target);
      if (result.kind !== "accepted") return result;
      accounts.delete(account.at.name);
      return undefined;
    },
    async removeOthers(target, { mark, names }, signal) {
      signal.throwIfAborted();
      for (const [name, account] of accounts)
        if (account.server === target.server && account.mark === mark && !names.includes(name)) accounts.delete(name);
      return undefined;
    },
    bypass(name) {
      bypassed = name;
    },
    holdersAt: () =>
      [...ownerBindings.values()].flatMap(({ bindings }) => bindings.flatMap(({ subjects }) => subjects.map(({ name }) => name))),
    removals: () => removals,
    async remove(target, { mark }, signal) {
      removals += 1;
      signal.throwIfAborted();
      const result = answer(target);
      if (result.kind !== "accepted") return result;
      for (const [name, account] of accounts) if (account.server === target.server && account.mark === mark) accounts.delete(name);
      return undefined;
    },
    async probe(target, signal) {
      asked.push(target);
      await gate?.open;
      signal.throwIfAborted();
      return answer(target);
    },
  };
}
