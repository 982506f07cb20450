import type { AccessAnswer } from "../../domain/access.ts";
import type { IssuedToken } from "../../domain/account-token.ts";
import type { AccountHolder, AccountOwner, ClusterAccount, Environment, EnvironmentOwnerBinding } from "../../domain/environment.ts";
import type { EgressSpec } from "../../domain/fleet.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { ShownServer } from "../../domain/shown-server.ts";

/** Whom to ask, as whom, and for what. */
export interface ProbeTarget {
  /** URL of the API server. */
  readonly server: string;
  readonly token?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly ca?: string;
  readonly serverName?: string;
  readonly isInsecure: boolean;
  /** The namespace to probe; absent: their list. */
  readonly namespace: string | undefined;
  readonly egress: Pick<EgressSpec, "allow">;
}

/** What an API server, or the way to it, said; see core's `ProbeAnswer` for what each means to a user. */
export type ClusterProbeResult =
  | { readonly kind: "accepted" | "forbidden" | "refused" | "untrusted" | "inside" | "reserved" }
  | { readonly kind: "unreachable"; readonly why: string };

/** Where what gave servers away that no user may reach outlives the process that read it. */
export interface ShownServers {
  read(server: string, signal: AbortSignal): Promise<ShownServer | undefined>;
  keep(shown: ShownServer, signal: AbortSignal): Promise<void>;
}

/** Tries credentials on clusters of strangers: within a deadline, bounded, and only at addresses that may be reached. */
export interface ClusterProbe {
  probe(target: ProbeTarget, signal: AbortSignal): Promise<ClusterProbeResult>;
}

/** What of ours is to go from a user's cluster: everything with this mark. */
export interface AccountTraces {
  readonly mark: string;
  /** Where bindings stand; empty: outside namespaces. */
  readonly namespaces: readonly string[];
  /** What a newer epoch wrote stays; absent: nothing does. */
  readonly epoch?: number;
}

/** Accounts of an environment that are to stay; others with its mark go, but for what a newer epoch wrote. */
export interface AccountsKept extends AccountTraces {
  readonly epoch: number;
  readonly names: readonly string[];
}

export type InstallResult =
  /** `kindsMark`: of the rules by which the cluster is read, see `markOf`; absent: it does not say what it serves. */
  | { readonly kind: "installed"; readonly accountUid: string; readonly kindsMark?: string }
  /** A former binding is on its way out. */
  | { readonly kind: "waiting" }
  /** The owner binding was written under a newer epoch. */
  | { readonly kind: "fenced" }
  | { readonly kind: "failed"; readonly why: ClusterProbeResult };

export type IssueResult =
  | { readonly kind: "issued"; readonly token: IssuedToken }
  | { readonly kind: "failed"; readonly why: ClusterProbeResult };

export type OwnerBindingResult =
  | { readonly kind: "written"; readonly kindsMark?: string }
  | Exclude<InstallResult, { readonly kind: "installed" }>;

export interface AccountWanted {
  readonly account: ClusterAccount;
  readonly ownerBinding?: EnvironmentOwnerBinding;
}

/** Accounts of ours on users' clusters, made and removed with the users' own credentials; the bounds of {@link ClusterProbe} hold. */
export interface ClusterAccounts {
  /** Makes the account, which reads what the cluster serves, and writes its owner binding where one is given. */
  install(target: ProbeTarget, wanted: AccountWanted, signal: AbortSignal): Promise<InstallResult>;
  /**
   * Leaves an account that stands with what any account reads, beside its owner binding. It never rejects for what the cluster does: `kindsMark`
   * is absent where that could not be seen to.
   */
  narrow(target: ProbeTarget, account: ClusterAccount, signal: AbortSignal): Promise<{ readonly kindsMark?: string }>;
  /** Asks for a token of an account that is there. It ends after `lifeMs`, or sooner if the cluster likes. */
  issueToken(target: ProbeTarget, account: Pick<ClusterAccount, "at">, lifeMs: number, signal: AbortSignal): Promise<IssueResult>;
  /** Removes the Secret in which earlier versions kept a token without an end. `undefined`: it is not there. */
  removeEndless(target: ProbeTarget, account: Pick<ClusterAccount, "at">, signal: AbortSignal): Promise<ClusterProbeResult | undefined>;
  writeOwnerBinding(target: ProbeTarget, ownerBinding: EnvironmentOwnerBinding, signal: AbortSignal): Promise<OwnerBindingResult>;
  /** Asks as whoever the target's token belongs to, in each namespace. One that gives no answer is silent; never rejects for it. */
  ask(target: ProbeTarget, namespaces: readonly string[], signal: AbortSignal): Promise<readonly AccessAnswer[]>;
  /** Takes from an account what lets it read, unless a newer epoch made it. It stays, so that it is found where `removeAccount` never comes. */
  endReading(target: ProbeTarget, account: ClusterAccount, signal: AbortSignal): Promise<ClusterProbeResult | undefined>;
  /** Removes one account with what lets it read. `undefined`: nothing of it is left there, or a newer epoch made it anew. */
  removeAccount(target: ProbeTarget, account: ClusterAccount, signal: AbortSignal): Promise<ClusterProbeResult | undefined>;
  /** Removes accounts that nobody holds any more. `undefined`: none is left there. */
  removeOthers(target: ProbeTarget, kept: AccountsKept, signal: AbortSignal): Promise<ClusterProbeResult | undefined>;
  /** `undefined`: nothing of ours is left there. */
  remove(target: ProbeTarget, traces: AccountTraces, signal: AbortSignal): Promise<ClusterProbeResult | undefined>;
}

/** How a visit to an environment for a unit's owner binding ended. `away`: nothing could be done there, and why, for people. */
export type VisitEnd = { readonly kind: "done" | "waiting" | "fenced" } | { readonly kind: "away"; readonly why: string };

/** The owner bindings and accounts of units in environments where accounts are made: what live moves do there. */
export interface EnvironmentOwnerBindings {
  /** Makes an account that may read only, and stores its token. The owner, `former`, may read no more than that either, but for its owner binding. */
  prepare(environment: Environment, holder: AccountHolder, former: AccountHolder, signal: AbortSignal): Promise<VisitEnd>;
  /** Makes the unit's owner binding name this instance's account, or nobody, under an epoch. */
  hand(
    environment: Environment,
    to: { readonly unitId: UnitId; readonly epoch: number; readonly instanceId: InstanceId | undefined },
    signal: AbortSignal,
  ): Promise<VisitEnd>;
  /** Takes from an account what lets it read, as far as its cluster can be reached; `clear` does the rest. */
  endReading(environment: Environment, holder: AccountHolder, signal: AbortSignal): Promise<void>;
  /** Asks as the account whether it may write in each namespace. None: it never had a token, so nobody can act as it. */
  ask(environment: Environment, asked: AskedAccount, signal: AbortSignal): Promise<readonly AccountAnswer[]>;
  /** Removes the account and its token, unless a newer epoch made it anew. */
  clear(environment: Environment, holder: AccountHolder, signal: AbortSignal): Promise<VisitEnd>;
  /** Whether the account's token is stored. */
  isKnown(environment: Environment, owner: AccountOwner, signal: AbortSignal): Promise<boolean>;
}

/** The same with the account's name, as the cluster's authoriser has it. */
export interface AccountAnswer extends AccessAnswer {
  readonly user: string;
}

export interface AskedAccount extends AccountOwner {
  /** Sorted. */
  readonly namespaces: readonly string[];
}
