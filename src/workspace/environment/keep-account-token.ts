import { renewalOf, type TokenLife } from "../../domain/account-token.ts";
import type { Clock, Millis } from "../../domain/clock.ts";
import {
  ACCOUNT_PURPOSE,
  type AccountOwner,
  type ClusterAccount,
  type EnvironmentCredential,
  environmentCredentialKey,
} from "../../domain/environment.ts";
import type { EnvironmentId, WorkspaceId } from "../../domain/ids.ts";
import type { CredentialStore } from "../../store/credential/port.ts";
import type { EnvironmentStore } from "../../store/environment/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { accountCredential, parseOwnerCredential } from "./account-objects.ts";
import { type AccountRole, kindsOf, nextKnownKinds } from "./known-kinds.ts";
import { isWorthTelling, nextTokenStep, type StandingToken } from "./next-token-step.ts";
import type { ClusterAccounts, ClusterProbeResult, ProbeTarget } from "./port.ts";

export interface AccountTokenDeps {
  readonly environments: Pick<EnvironmentStore, "putCredential">;
  readonly credentials: Pick<CredentialStore, "read">;
  readonly accounts: Pick<ClusterAccounts, "issueToken">;
  readonly tokenLife: TokenLife;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** An account that stands on a user's cluster. */
export interface StandingAccount {
  readonly id: EnvironmentId;
  readonly workspaceId: WorkspaceId;
  readonly owner: AccountOwner;
  readonly account: Pick<ClusterAccount, "at">;
  readonly accountUid: string;
  /** The user's own, by which tokens are asked for. */
  readonly credential: EnvironmentCredential;
  readonly target: ProbeTarget;
  /** How the account stands there, where that was seen: by which rules the cluster is read, and whether it is the owner. */
  readonly seen?: { readonly kindsMark: string | undefined; readonly role: AccountRole };
}

export type TokenEnd =
  /** Another fingerprint means another token. `renewAt`: absent where it could not be replaced now. */
  | { readonly kind: "stored"; readonly fingerprint: string; readonly renewAt?: Millis }
  | { readonly kind: "no-token"; readonly why: ClusterProbeResult };

/**
 * Returns what sees to it that a token of an account of ours is stored which is good, and replaces it well before its end. Times stand beside
 * the token, sealed. While no new one is to be had the present one stays; the user hears of it when it is his to mend, or when the end is near.
 */
export function createKeepAccountToken(deps: AccountTokenDeps) {
  const { environments, credentials, accounts, clock, log, tokenLife: life } = deps;
  const renewals = deps.metrics.counter(
    "argosy_environment_token_renewals_total",
    "Tokens by which instances enter users' clusters that were replaced, or could not be.",
    ["result"],
  );

  return async (standing: StandingAccount, signal: AbortSignal): Promise<TokenEnd> => {
    const { id, workspaceId, owner, account, accountUid, credential, target, seen } = standing;
    const use = { purpose: ACCOUNT_PURPOSE, account: owner } as const;
    const store = async (token: StandingToken): Promise<Extract<TokenEnd, { readonly kind: "stored" }>> => {
      const known = kindsOf(stored?.issued?.accountUid === accountUid ? stored : undefined);
      const kinds = seen === undefined ? known : nextKnownKinds(known, { mark: seen.kindsMark, role: seen.role, now: clock.now() });
      const fingerprint = await environments.putCredential({ id, use, plaintext: accountCredential(credential, token, kinds) }, signal);
      return { kind: "stored", fingerprint, ...(token.issued && { renewAt: renewalOf(token.issued, account.at.name, life) }) };
    };
    const stored = parseOwnerCredential(await credentials.read(environmentCredentialKey(id, workspaceId, use), signal));
    const step = nextTokenStep(stored, { account: account.at.name, accountUid, now: clock.now(), life });
    if (step.kind === "keep") return store(step.token);
    const issued = await accounts.issueToken(target, account, life.lifeMs, signal);
    renewals.add(1, { result: issued.kind === "issued" ? "renewed" : "failed" });
    if (issued.kind === "issued") {
      const { token, madeAt, endsAt } = issued.token;
      return store({ token, issued: { madeAt, endsAt, accountUid } });
    }
    log.warn({ environment: id, why: issued.why, goodUntil: step.standing?.issued?.endsAt }, "Getting no new token on a user's cluster");
    if (step.standing === undefined || isWorthTelling(step.standing, issued.why, clock.now())) return { kind: "no-token", why: issued.why };
    const { fingerprint } = await store(step.standing);
    return { kind: "stored", fingerprint };
  };
}
