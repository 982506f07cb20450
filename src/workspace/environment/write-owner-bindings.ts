import {
  ACCOUNT_PURPOSE,
  type AccountOwner,
  type Environment,
  type EnvironmentCredential,
  environmentCredentialKey,
  OWNER_PURPOSE,
} from "../../domain/environment.ts";
import type { CredentialStore } from "../../store/credential/port.ts";
import type { EnvironmentStore } from "../../store/environment/port.ts";
import type { FleetStore } from "../../store/fleet/port.ts";
import { accountCredential, clusterAccount, clusterUser, environmentOwnerBinding, parseOwnerCredential } from "./account-objects.ts";
import { whyAway } from "./finding.ts";
import type { ClusterAccounts, ClusterProbeResult, EnvironmentOwnerBindings, ProbeTarget, VisitEnd } from "./port.ts";

export interface EnvironmentOwnerBindingsDeps {
  readonly store: {
    readonly environments: Pick<EnvironmentStore, "putCredential" | "noteAccount" | "noteReach">;
    readonly credentials: Pick<CredentialStore, "read" | "remove">;
    readonly fleet: Pick<FleetStore, "readFleet">;
  };
  readonly accounts: ClusterAccounts;
}

const NO_CREDENTIAL: VisitEnd = { kind: "away", why: "there is no credential to enter it with" };

/** Makes accounts and owner bindings for live moves, with the users' own credentials as they worked last. */
export function createEnvironmentOwnerBindings({ store, accounts }: EnvironmentOwnerBindingsDeps): EnvironmentOwnerBindings {
  const { environments, credentials, fleet } = store;

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

  return {
    prepare: (environment, holder, signal) =>
      asOwner(
        environment,
        async (target, credential) => {
          await environments.noteAccount(environment.id, true, signal);
          const done = await accounts.install(target, { account: clusterAccount(environment, holder) }, signal);
          if (done.kind === "failed") return noting(environment, done.why, signal);
          if (done.kind !== "installed") return done;
          const use = { purpose: ACCOUNT_PURPOSE, account: holder } as const;
          const plaintext = accountCredential(credential, done.token);
          await environments.putCredential({ id: environment.id, use, plaintext }, signal);
          return noting(environment, undefined, signal);
        },
        signal,
      ),
    hand: (environment, { instanceId, ...placement }, signal) =>
      asOwner(
        environment,
        async (target) => {
          const done = await accounts.writeOwnerBinding(target, environmentOwnerBinding(environment, placement, instanceId), signal);
          if (done.kind === "failed") return noting(environment, done.why, signal);
          return done.kind === "written" ? noting(environment, undefined, signal) : done;
        },
        signal,
      ),
    async ask(environment, { namespaces, ...account }, signal) {
      const credential = await credentialOf(environment, account, signal);
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
