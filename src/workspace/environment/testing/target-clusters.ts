import type { ClusterAccounts, ClusterProbe, ProbeResult, ProbeTarget } from "../port.ts";

/** Clusters of users in this process: what a probe of each would say. */
export interface TargetClusters extends ClusterProbe, ClusterAccounts {
  /** From now on the cluster at `server` takes this token, or is `away`. */
  serve(server: string, token: string): void;
  /** Holds every answer back until it is let go. */
  hold(isHeld: boolean): void;
  /** Makes tokens of new accounts, or is slow with them. */
  makeTokens(isMaking: boolean): void;
  /** Names of the accounts of ours that stand at `server`. */
  accountsAt(server: string): readonly string[];
  /** How often somebody came to remove accounts. */
  removals(): number;
  /** Who asked so far. */
  asked(): readonly ProbeTarget[];
}

export function createTargetClusters(): TargetClusters {
  const tokens = new Map<string, string>();
  const asked: ProbeTarget[] = [];
  const accounts = new Map<string, { readonly server: string; readonly mark: string | undefined }>();
  let isMakingTokens = true;
  let removals = 0;
  let gate: { readonly open: Promise<void>; release(): void } | undefined;

  const answer = ({ server, token }: ProbeTarget): ProbeResult => {
    const taken = tokens.get(server);
    if (taken === undefined || taken === "away") return { kind: "unreachable", why: taken === undefined ? "no such host" : "no answer" };
    return { kind: taken === token ? "accepted" : "refused" };
  };
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
    async install(target, account, signal) {
      signal.throwIfAborted();
      const result = answer(target);
      if (result.kind !== "accepted") return { kind: "failed", why: result };
      const mark = account.objects.find(({ kind }) => kind === "ServiceAccount")?.metadata.labels?.["argosy.dev/environment"];
      accounts.set(account.token.name, { server: target.server, mark });
      return isMakingTokens ? { kind: "installed", token: `token-of-${account.token.name}` } : { kind: "waiting" };
    },
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
