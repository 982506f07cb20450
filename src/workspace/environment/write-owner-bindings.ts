import {
  ACCOUNT_PURPOSE,
  type AccountOwner,
  type Environment,
  type EnvironmentCredential,
  environmentCredentialKey,
  OWNER_PURPOSE,
} from "../../domain/environment.ts";
import { canonicalJson } from "../../domain/hash.ts";
import { ACCOUNTS_NAMESPACE } from "../../domain/names.ts";
import type { CredentialStore } from "../../store/credential/port.ts";
import type { EnvironmentStore } from "../../store/environment/port.ts";
import type { FleetStore } from "../../store/fleet/port.ts";
import {
  accountCredential,
  clusterAccount,
  clusterAccountName,
  clusterUser,
  environmentOwnerBinding,
  parseOwnerCredential,
} from "./account-objects.ts";
import { whyAway } from "./finding.ts";
import { type AccountTokenDeps, createKeepAccountToken, type StandingAccount } from "./keep-account-token.ts";
import { kindsOf, nextKnownKinds } from "./known-kinds.ts";
import type { ClusterAccounts, ClusterProbeResult, EnvironmentOwnerBindings, ProbeTarget, VisitEnd } from "./port.ts";

export interface EnvironmentOwnerBindingsDeps extends Omit<AccountTokenDeps, "environments" | "credentials" | "accounts"> {
  readonly store: {
    readonly environments: Pick<EnvironmentStore, "putCredential" | "noteAccount" | "noteReach">;
    readonly credentials: Pick<CredentialStore, "read" | "remove">;
    readonly fleet: Pick<FleetStore, "readFleet">;
  };
  readonly accounts: ClusterAccounts;
}

/** Several times the 15 s for which a move asks whether an old owner is refused, in ms. */
const LASTING_MS = 120_000;

const NO_CREDENTIAL: VisitEnd = { kind: "away", why: "there is no credential to enter it with" };

/** Makes accounts and owner bindings for live moves, with the users' own credentials as they worked last. */
export function createEnvironmentOwnerBindings({ store, accounts, ...deps }: EnvironmentOwnerBindingsDeps): EnvironmentOwnerBindings {
  const { environments, credentials, fleet } = store;
  const keepToken = createKeepAccountToken({ ...deps, ...store, accounts });

  const credentialOf = async (environment: Environment, account: AccountOwner | undefined, signal: AbortSignal) => {
    const use = account === undefined ? ({ purpose: OWNER_PURPOSE } as const) : ({ purpose: ACCOUNT_PURPOSE, account } as const);
    return parseOwnerCredential(await credentials.read(environmentCredentialKey(environment.id, environment.workspaceId, use), signal));
  };
  const targetOf = async ({ isInsecure }: Environment, credential: EnvironmentCredential, signal: AbortSignal): Promise<ProbeTarget> => {
    const egress = (await fleet.readFleet(signal))?.spec.egress ?? { allow: [] };
    return { ...credential, isInsecure, namespace: undefined, egress };
  };
  /** Whoever asks for a move learns at once what this one found. */
  const noting = async (
    { uid, unreachableSince }: Environment,
    why: ClusterProbeResult | undefined,
    signal: AbortSignal,
  ): Promise<VisitEnd> => {
    if (why !== undefined || unreachableSince !== undefined) await environments.noteReach(uid, why === undefined, signal);
    return why === undefined ? { kind: "done" } : { kind: "away", why: whyAway(why) };
  };
  const asOwner = async (
    environment: Environment,
    visit: (target: ProbeTarget, credential: EnvironmentCredential) => Promise<VisitEnd>,
    signal: AbortSignal,
  ): Promise<VisitEnd> => {
    const credential = await credentialOf(environment, undefined, signal);
    return credential === undefined ? NO_CREDENTIAL : visit(await targetOf(environment, credential, signal), credential);
  };

  /**
   * The account's credential, with a token that is good for as long as asking may take: one that ends meanwhile would be no answer, and the
   * move would wait for one. What cannot be replaced is used as it is.
   */
  const lasting = async (
    environment: Environment,
    owner: AccountOwner,
    signal: AbortSignal,
  ): Promise<EnvironmentCredential | undefined> => {
    const stored = await credentialOf(environment, owner, signal);
    if (stored?.issued === undefined || stored.issued.endsAt - deps.clock.now() > LASTING_MS) return stored;
    const credential = await credentialOf(environment, undefined, signal);
    if (credential === undefined) return stored;
    const { id, workspaceId } = environment;
    const account = { at: { namespace: ACCOUNTS_NAMESPACE, name: clusterAccountName(id, owner) } };
    const target = await targetOf(environment, credential, signal);
    await keepToken({ id, workspaceId, owner, account, accountUid: stored.issued.accountUid, credential, target }, signal);
    return (await credentialOf(environment, owner, signal)) ?? stored;
  };

  /** Stores beside an account's token what was seen of what it reads, if there is a token and that is new. */
  const noteKinds = async (
    { id, workspaceId }: Environment,
    { unitId, instanceId }: AccountOwner,
    { kindsMark: mark, role }: NonNullable<StandingAccount["seen"]>,
    signal: AbortSignal,
  ): Promise<void> => {
    const use = { purpose: ACCOUNT_PURPOSE, account: { unitId, instanceId } } as const;
    const stored = parseOwnerCredential(await credentials.read(environmentCredentialKey(id, workspaceId, use), signal));
    if (stored === undefined) return;
    const known = kindsOf(stored);
    const { readable: _readable, readAgainAt: _readAgainAt, token, issued, ...way } = stored;
    const next = nextKnownKinds(known, { mark, role, now: deps.clock.now() });
    if (canonicalJson(next) === canonicalJson(known)) return;
    const plaintext = accountCredential(way, { ...(token && { token }), ...(issued && { issued }) }, next);
    await environments.putCredential({ id, use, plaintext }, signal);
  };

  return {
    prepare: (environment, holder, former, signal) =>
      asOwner(
        environment,
        async (target, credential) => {
          await environments.noteAccount(environment.id, true, signal);
          const account = clusterAccount(environment, holder);
          const done = await accounts.install(target, { account }, signal);
          if (done.kind === "failed") return noting(environment, done.why, signal);
          if (done.kind !== "installed") return done;
          const { id, workspaceId } = environment;
          const { accountUid, kindsMark } = done;
          const narrowed = await accounts.narrow(target, clusterAccount(environment, former), signal);
          await noteKinds(environment, former, { kindsMark: narrowed.kindsMark, role: "reader" }, signal);
          const seen = { kindsMark, role: "reader" } as const;
          const end = await keepToken({ id, workspaceId, owner: holder, account, accountUid, credential, target, seen }, signal);
          return noting(environment, end.kind === "no-token" ? end.why : undefined, signal);
        },
        signal,
      ),
    hand: (environment, { instanceId, ...placement }, signal) =>
      asOwner(
        environment,
        async (target) => {
          const done = await accounts.writeOwnerBinding(target, environmentOwnerBinding(environment, placement, instanceId), signal);
          if (done.kind === "failed") return noting(environment, done.why, signal);
          if (done.kind !== "written") return done;
          const { unitId } = placement;
          const { kindsMark } = done;
          if (instanceId !== undefined) await noteKinds(environment, { unitId, instanceId }, { kindsMark, role: "becoming" }, signal);
          return noting(environment, undefined, signal);
        },
        signal,
      ),
    async endReading(environment, holder, signal) {
      const credential = await credentialOf(environment, undefined, signal);
      if (credential === undefined) return;
      const why = await accounts.endReading(await targetOf(environment, credential, signal), clusterAccount(environment, holder), signal);
      if (why !== undefined)
        deps.log.warn({ environment: environment.id, why: why.kind }, "Leaving a former owner's account with what lets it read");
    },
    async ask(environment, { namespaces, ...account }, signal) {
      const credential = await lasting(environment, account, signal);
      if (credential === undefined) return [];
      const answers = await accounts.ask(await targetOf(environment, credential, signal), namespaces, signal);
      const user = clusterUser(environment.id, account);
      return answers.map((answer, index) => ({ ...answer, user, endpoint: `${environment.id} ${namespaces[index]}` }));
    },
    clear: (environment, holder, signal) =>
      asOwner(
        environment,
        async (target) => {
          const why = await accounts.removeAccount(target, clusterAccount(environment, holder), signal);
          if (why !== undefined) return noting(environment, why, signal);
          const use = { purpose: ACCOUNT_PURPOSE, account: holder } as const;
          await credentials.remove(environmentCredentialKey(environment.id, environment.workspaceId, use), signal);
          return noting(environment, undefined, signal);
        },
        signal,
      ),
    isKnown: async (environment, owner, signal) => (await credentialOf(environment, owner, signal)) !== undefined,
  };
}
