import {
  ACCOUNT_PURPOSE,
  ENVIRONMENT_PURPOSE,
  type Environment,
  type EnvironmentCredential,
  environmentCredentialKey,
  OWNER_PURPOSE,
} from "../../domain/environment.ts";
import type { EgressSpec } from "../../domain/fleet.ts";
import type { CredentialStore } from "../../store/credential/port.ts";
import type { EnvironmentStore } from "../../store/environment/port.ts";
import type { PlacementStore } from "../../store/placement/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { accountHolderOf, newestOf, parseOwnerCredential, tracesOf } from "./account-objects.ts";
import type { ClusterAccounts } from "./port.ts";

export interface RemovalDeps {
  readonly environments: Pick<EnvironmentStore, "noteAccount">;
  readonly credentials: Pick<CredentialStore, "read" | "remove">;
  readonly placements: Pick<PlacementStore, "readUnitsOf">;
  readonly accounts: Pick<ClusterAccounts, "remove">;
  readonly log: Log;
}

export interface Removal {
  readonly egress: EgressSpec;
  /** What its Secret holds now, if it is still there. */
  readonly credential?: EnvironmentCredential;
  /** What a newer epoch wrote stays; absent: nothing does. */
  readonly epoch?: number;
}

/** Removes the accounts and owner bindings of units on users' clusters, and what was stored of them. */
export function createAccountRemoval({ environments, credentials, placements, accounts, log }: RemovalDeps) {
  /** What was stored to enter it with, of no use once its accounts are gone or nobody enters it as its user any more. */
  const forget = async ({ id, workspaceId }: Pick<Environment, "id" | "workspaceId">, which: "accounts" | "user", signal: AbortSignal) => {
    if (which === "user") return credentials.remove(environmentCredentialKey(id, workspaceId, { purpose: ENVIRONMENT_PURPOSE }), signal);
    for (const account of (await placements.readUnitsOf(workspaceId, signal)).flatMap(accountHolderOf))
      await credentials.remove(environmentCredentialKey(id, workspaceId, { purpose: ACCOUNT_PURPOSE, account }), signal);
  };

  /**
   * Removes what an environment has on its cluster, as its row knows it, with the newest credential there is for that server.
   * Returns whether nothing of ours is left there, as far as the user's credential allows to see to it.
   */
  const remove = async (
    environment: Environment,
    { egress, credential: newest, epoch }: Removal,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const { id, workspaceId, apiUrl, isInsecure } = environment;
    const ownerKey = environmentCredentialKey(id, workspaceId, { purpose: OWNER_PURPOSE });
    const stored = parseOwnerCredential(await credentials.read(ownerKey, signal));
    const credential = newest !== undefined && newest.server === stored?.server ? newest : stored;
    if (credential !== undefined) {
      const traces = { ...tracesOf(environment), ...(epoch === undefined ? {} : { epoch }) };
      const why = await accounts.remove({ ...credential, isInsecure, namespace: undefined, egress }, traces, signal);
      if (why !== undefined) log.warn({ environment: id, apiUrl, why: why.kind }, "Finding no way to remove an account from its cluster");
      if (why?.kind === "unreachable") return false;
    }
    await environments.noteAccount(id, false, signal);
    await forget(environment, "accounts", signal);
    await credentials.remove(ownerKey, signal);
    return true;
  };

  /** The same before accounts with other rights are made; false: a unit is handed over there at the moment. */
  const removeFormer = async (environment: Environment, removal: Omit<Removal, "epoch">, signal: AbortSignal): Promise<boolean> => {
    const units = await placements.readUnitsOf(environment.workspaceId, signal);
    if (units.some(({ phase }) => phase === "MOVING")) return false;
    return remove(environment, { ...removal, epoch: newestOf(units) }, signal);
  };

  return { remove, removeFormer, forget };
}
