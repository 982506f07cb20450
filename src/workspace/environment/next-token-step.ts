import { isRenewalDue, isRenewalOverdue, type TokenLife } from "../../domain/account-token.ts";
import type { Millis } from "../../domain/clock.ts";
import type { EnvironmentCredential } from "../../domain/environment.ts";
import type { EnvironmentId, InstanceId } from "../../domain/ids.ts";
import type { ShardObject } from "../../domain/shard-object.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";

/** A token by which an instance can enter an environment now, and which ends if `issued` says so. */
export type StandingToken = Pick<EnvironmentCredential, "token" | "issued">;

export type TokenStep =
  | { readonly kind: "keep"; readonly token: StandingToken }
  /** `standing`: what is used until then; absent: nothing that works. */
  | { readonly kind: "renew"; readonly standing?: StandingToken };

/** Decides what is to be done about the stored token of an account on a user's cluster, by what is stored alone. */
export function nextTokenStep(
  stored: EnvironmentCredential | undefined,
  {
    account,
    accountUid,
    now,
    life,
  }: { readonly account: string; readonly accountUid: string; readonly now: Millis; readonly life: TokenLife },
): TokenStep {
  if (stored?.token === undefined) return { kind: "renew" };
  const { token, issued } = stored;
  if (issued === undefined) return { kind: "renew", standing: { token } };
  if (issued.accountUid !== accountUid) return { kind: "renew" };
  if (!isRenewalDue(issued, account, { now, life })) return { kind: "keep", token: { token, issued } };
  return issued.endsAt > now ? { kind: "renew", standing: { token, issued } } : { kind: "renew" };
}

/**
 * Whether the user is to hear that a token could not be replaced. What is away for a moment is not worth it while the present token is good
 * for long; what only the user can mend is.
 */
export function isWorthTelling(standing: StandingToken | undefined, why: { readonly kind: string }, now: Millis): boolean {
  if (standing === undefined || why.kind === "forbidden" || why.kind === "refused") return true;
  return standing.issued !== undefined && isRenewalOverdue(standing.issued, now);
}

/** Whether an instance may still enter an environment with an earlier token, by what is recorded of its entry. */
export function isEntryBehind(
  {
    unit,
    environments,
    acknowledged,
  }: {
    readonly unit: Pick<PlacementUnit, "desiredRevision">;
    readonly environments: readonly { readonly id: EnvironmentId }[];
    readonly acknowledged: readonly ShardObject[];
  },
  id: EnvironmentId,
  instanceId: InstanceId,
): boolean {
  const entry = acknowledged.find((one) => one.kind === "cluster-entry" && one.subject === id && one.instanceId === instanceId);
  if (entry === undefined) return environments.some((one) => one.id === id);
  return entry.appliedRevision < unit.desiredRevision;
}
