import type { ClusterAccount } from "../../domain/environment.ts";
import type { EgressSpec } from "../../domain/fleet.ts";

/** Whom to ask, as whom, and for what. */
export interface ProbeTarget {
  /** URL of the API server. */
  readonly server: string;
  readonly token?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly ca?: string;
  readonly serverName?: string;
  readonly isInsecure: boolean;
  /** The namespace to look at; absent: their list. */
  readonly namespace: string | undefined;
  readonly egress: Pick<EgressSpec, "allow">;
}

/** What an API server, or the way to it, said; see core's `ProbeAnswer` for what each means to a user. */
export type ProbeResult =
  | { readonly kind: "accepted" | "forbidden" | "refused" | "untrusted" | "inside" | "reserved" }
  | { readonly kind: "unreachable"; readonly why: string };

/** Tries credentials on clusters of strangers: within a deadline, bounded, and only at addresses that may be reached. */
export interface ClusterProbe {
  probe(target: ProbeTarget, signal: AbortSignal): Promise<ProbeResult>;
}

/** What of ours is to go from a user's cluster: everything with this mark. */
export interface AccountTraces {
  readonly mark: string;
  /** Where bindings stand; empty: outside namespaces. */
  readonly namespaces: readonly string[];
}

export type InstallResult =
  | { readonly kind: "installed"; readonly token: string }
  /** The cluster has not made the token yet. */
  | { readonly kind: "waiting" }
  | { readonly kind: "failed"; readonly why: ProbeResult };

/** Accounts of ours on users' clusters, made and removed with the users' own credentials; the bounds of {@link ClusterProbe} hold. */
export interface ClusterAccounts {
  install(target: ProbeTarget, account: ClusterAccount, signal: AbortSignal): Promise<InstallResult>;
  /** `undefined`: nothing of ours is left there. */
  remove(target: ProbeTarget, traces: AccountTraces, signal: AbortSignal): Promise<ProbeResult | undefined>;
}
