import type { CredentialUse, Environment } from "../../domain/environment.ts";
import type { EnvironmentId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { Withholding } from "../../domain/withholding.ts";
import type { Workspace } from "../../domain/workspace.ts";
import type { Page } from "../operation/port.ts";

/** Whose environment it is. The ids are used only where the rows do not exist yet. */
export interface EnvironmentClaim {
  readonly workspace: Pick<Workspace, "plane" | "apiCluster" | "namespace" | "namespaceUid" | "trustClass">;
  readonly newIds: { readonly workspaceId: WorkspaceId; readonly environmentId: EnvironmentId };
  readonly name: string;
  readonly uid: string;
}

/** An environment as it was just seen to work; its credential is stored already. */
export type Connection = Omit<Environment, "workspaceId" | "name" | "uid" | "state" | "hasAccount" | "unreachableSince" | "withheld">;

/** What an environment is reached with: by whom, the use says. */
export interface EnvironmentSecret {
  readonly id: EnvironmentId;
  readonly use: CredentialUse;
  readonly plaintext: string;
}

/** What became of an environment whose resource is gone; only `gone` is the end of it. */
export type EnvironmentEnd = "gone" | "in-use" | "account-left";

export interface KnownEnvironment extends Pick<Environment, "id" | "uid" | "name" | "state" | "generation"> {
  readonly namespace: string;
}

export interface WithheldEnvironment extends KnownEnvironment {
  readonly withheld: Withholding;
}

/**
 * Written by the workspace controllers, and by the scheduler who withholds: where users deploy to. Whatever changes what the applications that name an environment
 * should be raises their `desiredRevision` and their units', and notifies `unit` and `application`.
 */
export interface EnvironmentStore {
  /**
   * The environment of this resource, made `withdrawn` where there is none; others of its name are leaving from then on. Who claims one
   * that is there changes nothing: it may be behind.
   */
  claim(claim: EnvironmentClaim, signal: AbortSignal): Promise<Pick<Environment, "id" | "workspaceId" | "hasAccount">>;
  /**
   * Stores or replaces, sealed; returns the keyed fingerprint. `GoneError` (`store.environment-gone`) when there is no such row (any
   * more): nothing sealed outlives it.
   */
  putCredential(secret: EnvironmentSecret, signal: AbortSignal): Promise<string>;
  /** Records what works from now on. Returns whether anything but the generation changed; `false` too when there is no such row, or it is withheld. */
  connect(connection: Connection, signal: AbortSignal): Promise<boolean>;
  /**
   * Keeps a connected one from instances: it is withdrawn, and nobody connects it until that has ended. `false`: it is not connected, and
   * nothing is changed.
   */
  withhold(id: EnvironmentId, withholding: Withholding, signal: AbortSignal): Promise<boolean>;
  /** Lets it be connected again; unknown uids, and those that are not withheld, are ignored. */
  endWithholding(uid: string, signal: AbortSignal): Promise<void>;
  /** Those that are withheld, sorted by id. */
  listWithheld(apiCluster: string, signal: AbortSignal): Promise<readonly WithheldEnvironment[]>;
  /** What is known of one by its id, with how it was withheld last. */
  readKnown(id: EnvironmentId, signal: AbortSignal): Promise<(KnownEnvironment & Pick<Environment, "withheld">) | undefined>;
  /** Nothing new may use it until it works again; unknown uids are ignored. */
  withdraw(uid: string, signal: AbortSignal): Promise<void>;
  /**
   * Its resource is gone. The row and its credentials go at once unless something stands for it on an instance, the cascade of
   * an application has to go through it (`in-use`), or it has an account on its cluster: then it is leaving, and this is to be
   * asked again. `after-deployments`: while applications that use it are still wanted, nothing is changed, and it is in use: their
   * deletions come first, for these are to cascade through it.
   */
  recordEnd(uid: string, when: "at-once" | "after-deployments", signal: AbortSignal): Promise<EnvironmentEnd>;
  /**
   * Says, before anything is made on the cluster, that there may be an account of ours; or that there is none any more, for which a
   * workspace that is being deleted may have waited: that notifies its units.
   */
  noteAccount(id: EnvironmentId, hasAccount: boolean, signal: AbortSignal): Promise<void>;
  /** Whoever asked its cluster got an answer, be it what it may, or none. Since when there is none stays the first time. */
  noteReach(uid: string, isReached: boolean, signal: AbortSignal): Promise<void>;
  read(uid: string, signal: AbortSignal): Promise<Environment | undefined>;
  /**
   * Of these environments, and of those of the units' workspaces, the connected ones with accounts of their own where a unit's owner has none, sorted by id.
   * Units that are moved are the move's.
   */
  listWithoutAccount(
    of: { readonly apiCluster: string; readonly environments: readonly EnvironmentId[]; readonly units: readonly UnitId[] },
    signal: AbortSignal,
  ): Promise<readonly KnownEnvironment[]>;
  /** Those of one API cluster that wait for their end, sorted by id. */
  listLeaving(apiCluster: string, signal: AbortSignal): Promise<readonly KnownEnvironment[]>;
  /** Uids of the connected ones of a namespace, sorted by id. */
  listUsed(apiCluster: string, namespace: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Environments of one API cluster, by id, for the sweep that compares them with the resources that exist. */
  listKnown(apiCluster: string, page: Page, signal: AbortSignal): Promise<readonly KnownEnvironment[]>;
}
