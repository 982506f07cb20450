import {
  allowsClusterResources,
  type Environment,
  type EnvironmentCredential,
  environmentCredentialKey,
  OWNER_PURPOSE,
} from "../../../domain/environment.ts";
import type { EgressSpec } from "../../../domain/fleet.ts";
import { canonicalJson } from "../../../domain/hash.ts";
import type { EnvironmentId, WorkspaceId } from "../../../domain/ids.ts";
import type { CredentialStore } from "../../../store/credential/port.ts";
import type { EnvironmentStore } from "../../../store/environment/port.ts";
import type { PlacementStore } from "../../../store/placement/port.ts";
import type { Log } from "../../../telemetry/log.ts";
import { accountMark, clusterAccount } from "../account-objects.ts";
import { type Finding, findingOf, notInstalled } from "../finding.ts";
import { parseOwnerCredential } from "../owner-credential.ts";
import type { EnvironmentWish } from "../parse-environment.ts";
import type { ClusterAccounts } from "../port.ts";

export interface AccountDeps {
  readonly environments: EnvironmentStore;
  readonly credentials: CredentialStore;
  readonly placements: Pick<PlacementStore, "readUnitsOf">;
  readonly accounts: ClusterAccounts;
  readonly log: Log;
}

/** An environment that wants an account, and the user's own credential, by which it is made. */
export interface AccountAsk {
  readonly id: EnvironmentId;
  readonly workspaceId: WorkspaceId;
  readonly wish: EnvironmentWish;
  readonly credential: EnvironmentCredential;
  readonly egress: EgressSpec;
}

export type Credentialed =
  | { readonly kind: "credential"; readonly credential: EnvironmentCredential }
  /** Nothing of the workspace is placed yet: nobody needs an account. */
  | { readonly kind: "no-owner" }
  | { readonly kind: "waiting" | "failed"; readonly finding: Finding };

export interface Removal {
  readonly egress: EgressSpec;
  /** What its Secret holds now, if it is still there. */
  readonly credential?: EnvironmentCredential;
}

/** The accounts instances get on users' clusters: made when the unit has an owner, removed when the environment goes. */
export function createAccountController({ environments, credentials, placements, accounts, log }: AccountDeps) {
  const ownerKey = (id: EnvironmentId, workspaceId: WorkspaceId) => environmentCredentialKey(id, workspaceId, OWNER_PURPOSE);

  /** Said before it is done: what may be there is looked for at the end. */
  const install = async ({ id, workspaceId, wish, credential, egress }: AccountAsk, signal: AbortSignal): Promise<Credentialed> => {
    const unit = (await placements.readUnitsOf(workspaceId, signal)).find(({ owner }) => owner !== undefined);
    if (unit?.owner === undefined) return { kind: "no-owner" };
    await environments.putCredential({ id, purpose: OWNER_PURPOSE, plaintext: canonicalJson(credential) }, signal);
    await environments.noteAccount(id, true, signal);
    const holder = { unitId: unit.id, instanceId: unit.owner, epoch: unit.epoch };
    const target = { ...credential, isInsecure: wish.isInsecure, namespace: undefined, egress };
    const done = await accounts.install(target, clusterAccount({ id, ...wish }, holder), signal);
    if (done.kind === "waiting") return { kind: "waiting", finding: notInstalled("waiting for the token of the new service account") };
    if (done.kind === "failed") return { kind: "failed", finding: failureOf(done.why) };
    const { certificate: _, ...rest } = credential;
    return { kind: "credential", credential: { ...rest, token: done.token } };
  };

  /**
   * Removes what an environment has on its cluster, as its row knows it, with the newest credential there is for that server.
   * Returns whether nothing of ours is left there, as far as the user's credential allows to see to it.
   */
  const remove = async (environment: Environment, { egress, credential: newest }: Removal, signal: AbortSignal): Promise<boolean> => {
    const { id, workspaceId, apiUrl, isInsecure, namespaces } = environment;
    const stored = parseOwnerCredential(await credentials.read(ownerKey(id, workspaceId), signal));
    const credential = newest !== undefined && newest.server === stored?.server ? newest : stored;
    if (credential !== undefined) {
      const traces = { mark: accountMark(id), namespaces: allowsClusterResources(environment) ? [] : namespaces };
      const why = await accounts.remove({ ...credential, isInsecure, namespace: undefined, egress }, traces, signal);
      if (why !== undefined) log.warn({ environment: id, apiUrl, why: why.kind }, "Finding no way to remove an account from its cluster");
      if (why?.kind === "unreachable") return false;
    }
    await environments.noteAccount(id, false, signal);
    await credentials.remove(ownerKey(id, workspaceId), signal);
    return true;
  };

  return { install, remove };
}

function failureOf(why: Parameters<typeof findingOf>[0]): Finding {
  if (why.kind === "forbidden" || why.kind === "refused")
    return notInstalled("the credentials may not create a service account, a role and a role binding on the cluster");
  return findingOf(why);
}
