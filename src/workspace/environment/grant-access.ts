import { type Millis, millis } from "../../domain/clock.ts";
import {
  type AccountHolder,
  ENVIRONMENT_PURPOSE,
  type Environment,
  type EnvironmentCredential,
  OWNER_PURPOSE,
} from "../../domain/environment.ts";
import type { EgressSpec } from "../../domain/fleet.ts";
import { canonicalJson, sha256 } from "../../domain/hash.ts";
import type { EnvironmentId, WorkspaceId } from "../../domain/ids.ts";
import type { EnvironmentStore } from "../../store/environment/port.ts";
import type { PlacementStore } from "../../store/placement/port.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import type { Log } from "../../telemetry/log.ts";
import {
  accountHolderOf,
  clusterAccount,
  clusterAccountName,
  environmentOwnerBinding,
  hasOtherScope,
  newestOf,
  tracesOf,
} from "./account-objects.ts";
import { type EnvironmentFinding, findingOf, notInstalled } from "./finding.ts";
import { type AccountTokenDeps, createKeepAccountToken, type TokenEnd } from "./keep-account-token.ts";
import { isEntryBehind } from "./next-token-step.ts";
import type { EnvironmentRequest } from "./parse-environment.ts";
import type { ClusterAccounts, InstallResult, ProbeTarget } from "./port.ts";
import type { createAccountRemoval } from "./remove-account.ts";

export interface AccountDeps extends AccountTokenDeps {
  readonly environments: Pick<EnvironmentStore, "putCredential" | "noteAccount">;
  readonly placements: Pick<PlacementStore, "readUnitsOf">;
  readonly shards: Pick<ShardStore, "readUnit">;
  readonly accounts: ClusterAccounts;
  readonly log: Log;
}

/** An environment that wants accounts, and the user's own credential, by which they are made. */
export interface AccountAsk {
  readonly id: EnvironmentId;
  readonly workspaceId: WorkspaceId;
  readonly request: EnvironmentRequest;
  readonly credential: EnvironmentCredential;
  readonly egress: EgressSpec;
}

export type Installed =
  /** Each owner has one; another fingerprint means another credential of any of them. `renewAt`: when the first of their tokens is replaced. */
  | { readonly kind: "installed"; readonly fingerprint: string; readonly renewAt?: Millis }
  /** Nothing of the workspace is placed yet: nobody needs an account. */
  | { readonly kind: "no-owner" }
  /** A unit is handed over at the moment: what stands there for it is the move's. */
  | { readonly kind: "moving" }
  | { readonly kind: "waiting" | "failed"; readonly finding: EnvironmentFinding };

/** What instances enter an environment with. */
export interface EnvironmentAccess {
  /** Stores the user's own credential, or makes accounts. An account is never widened, narrowed or moved: the rights it had would stay. */
  provide(ask: AccountAsk, before: Environment | undefined, signal: AbortSignal): Promise<Installed>;
  /**
   * Removes what nobody enters it with any more, once its row says what they do enter it with. Resolves to false where that has to wait,
   * because an instance may still have the old access (`isChange`) or a unit is handed over there.
   */
  tidy(ask: AccountAsk, before: Environment | undefined, isChange: boolean, signal: AbortSignal): Promise<boolean>;
}

export interface AccessDeps extends AccountDeps {
  readonly removal: ReturnType<typeof createAccountRemoval>;
}

/** Creates the access of one controller. */
export function createEnvironmentAccess({ removal, ...deps }: AccessDeps): EnvironmentAccess {
  const accounts = createAccountController(deps);
  return {
    async provide(ask, before, signal) {
      if (!ask.request.createsAccount) {
        const secret = { id: ask.id, use: { purpose: ENVIRONMENT_PURPOSE }, plaintext: canonicalJson(ask.credential) } as const;
        return { kind: "installed", fingerprint: await deps.environments.putCredential(secret, signal) };
      }
      const isOther = before !== undefined && hasOtherScope(before, ask.request);
      if (isOther && !(await removal.removeFormer(before, ask, signal))) return { kind: "moving" };
      return accounts.install(ask, signal);
    },
    async tidy(ask, before, isChange, signal) {
      if (ask.request.createsAccount) await removal.forget(ask, "user", signal);
      if (ask.request.createsAccount) return accounts.removeEndless(ask, isChange, signal);
      if (before === undefined) return true;
      return !isChange && removal.removeFormer(before, ask, signal);
    },
  };
}

/** Makes the accounts and owner bindings of units on users' clusters, for units that have an owner. */
export function createAccountController(deps: AccountDeps) {
  const { environments, placements, shards, accounts, log } = deps;
  const keepToken = createKeepAccountToken(deps);
  /** Accounts that have no endless token any more, as far as this process has seen to it. */
  const clean = new Set<string>();

  const installOne = async (ask: AccountAsk, holder: AccountHolder, target: ProbeTarget, signal: AbortSignal) => {
    const { id, workspaceId, request, credential } = ask;
    const account = clusterAccount({ id, ...request }, holder);
    const ownerBinding = environmentOwnerBinding({ id, ...request }, holder, holder.instanceId);
    const done = await accounts.install(target, { account, ownerBinding }, signal);
    if (done.kind !== "installed") return done;
    const { accountUid, kindsMark } = done;
    const seen = { kindsMark, role: "owner" } as const;
    return keepToken({ id, workspaceId, owner: holder, account, accountUid, credential, target, seen }, signal);
  };

  /** The user's own credential, which makes and removes accounts. */
  const targetOf = ({ credential, request, egress }: AccountAsk): ProbeTarget => ({
    ...credential,
    isInsecure: request.isInsecure,
    namespace: undefined,
    egress,
  });

  /**
   * Removes the Secrets in which earlier versions kept tokens, each once the instance's entry has the new one. Resolves to false where it is
   * worth coming back soon.
   */
  const removeEndless = async (ask: AccountAsk, isChange: boolean, signal: AbortSignal): Promise<boolean> => {
    const { id, workspaceId, request } = ask;
    const holders = (await placements.readUnitsOf(workspaceId, signal)).flatMap(accountHolderOf);
    const left = holders.filter((holder) => !clean.has(clusterAccountName(id, holder)));
    if (left.length > 0 && isChange) return false;
    for (const holder of left) {
      const unit = await shards.readUnit(holder.unitId, signal);
      if (unit === undefined || isEntryBehind(unit, id, holder.instanceId)) continue;
      const why = await accounts.removeEndless(targetOf(ask), clusterAccount({ id, ...request }, holder), signal);
      if (why === undefined) clean.add(clusterAccountName(id, holder));
      else log.warn({ environment: id, why: why.kind }, "Leaving the Secret of a token without an end on a user's cluster");
    }
    return true;
  };

  /** Said before it is done: what may be there is looked for at the end. */
  const install = async (ask: AccountAsk, signal: AbortSignal): Promise<Installed> => {
    const { id, workspaceId, request, credential } = ask;
    const units = await placements.readUnitsOf(workspaceId, signal);
    const holders = units.flatMap(accountHolderOf);
    if (holders.length === 0) return { kind: "no-owner" };
    if (units.some(({ phase }) => phase === "MOVING")) return { kind: "moving" };
    await environments.putCredential({ id, use: { purpose: OWNER_PURPOSE }, plaintext: canonicalJson(credential) }, signal);
    await environments.noteAccount(id, true, signal);
    const target = targetOf(ask);
    const stored: Stored[] = [];
    for (const holder of holders) {
      const done = await installOne(ask, holder, target, signal);
      if (done.kind !== "stored") return notYet(done);
      stored.push(done);
    }
    const kept = {
      ...tracesOf({ id, ...request }),
      names: holders.map((holder) => clusterAccountName(id, holder)),
      epoch: newestOf(units),
    };
    // What is left there of a former owner can only read: another visit finds it again.
    const why = await accounts.removeOthers(target, kept, signal);
    if (why !== undefined) log.warn({ environment: id, why: why.kind }, "Leaving accounts that nobody holds any more on their cluster");
    const fingerprints = stored.map(({ fingerprint }) => fingerprint).sort();
    return { kind: "installed", fingerprint: sha256(fingerprints.join("|")), ...firstRenewalOf(stored) };
  };

  return { install, removeEndless };
}

const FORGED =
  "the role binding of the service account carries a newer mark than Argosy wrote: delete the role bindings of the cluster whose names begin with r- and that are labelled as managed by argosy";

/** Why an account cannot be used yet, for its user. */
function notYet(end: Exclude<InstallResult, { readonly kind: "installed" }> | Extract<TokenEnd, { readonly kind: "no-token" }>): Installed {
  switch (end.kind) {
    case "waiting":
      return { kind: "waiting", finding: notInstalled(WAITING) };
    case "no-token":
      return { kind: "failed", finding: isRightMissing(end.why) ? notInstalled(NO_TOKEN) : findingOf(end.why) };
    case "fenced":
      return { kind: "failed", finding: notInstalled(FORGED) };
    case "failed":
      return { kind: "failed", finding: failureOf(end.why) };
  }
}

type Stored = Extract<TokenEnd, { readonly kind: "stored" }>;

function firstRenewalOf(stored: readonly Stored[]): { readonly renewAt?: Millis } {
  const times = stored.flatMap(({ renewAt }) => renewAt ?? []);
  return times.length === 0 ? {} : { renewAt: millis(Math.min(...times)) };
}

export const WAITING = "waiting for the end of a former service account or role binding";
export const NO_TOKEN =
  "the credentials may not create tokens of service accounts on the cluster: let them create serviceaccounts/token in the namespace argosy-accounts. Until then a token that was made before stays in use";

function isRightMissing({ kind }: Parameters<typeof findingOf>[0]): boolean {
  return kind === "forbidden" || kind === "refused";
}

function failureOf(why: Parameters<typeof findingOf>[0]): EnvironmentFinding {
  if (isRightMissing(why))
    return notInstalled("the credentials may not create a service account, a role and a role binding on the cluster");
  return findingOf(why);
}
