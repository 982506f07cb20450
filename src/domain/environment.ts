import type { TokenSpan } from "./account-token.ts";
import type { Millis } from "./clock.ts";
import type { EngineObject } from "./engine.ts";
import type { CredentialId, EnvironmentId, InstanceId, UnitId, WorkspaceId } from "./ids.ts";
import type { Withholding } from "./withholding.ts";

/**
 * `connected`: its credential was seen to work, and applications may use it. `withdrawn`: its user has to mend something
 * first. `leaving`: its resource is gone, and something still stands for it. Only what an application that is being deleted has
 * to take with it goes through an environment that is not connected.
 */
export const ENVIRONMENT_STATES = ["connected", "withdrawn", "leaving"] as const;
export type EnvironmentState = (typeof ENVIRONMENT_STATES)[number];

/** A cluster a workspace deploys to: a copy of one GitOpsDeploymentManagedEnvironment, as it was when it last worked. */
export interface Environment {
  readonly id: EnvironmentId;
  readonly workspaceId: WorkspaceId;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly state: EnvironmentState;
  /** URL of the API server, without query and without a slash at its end. */
  readonly apiUrl: string;
  /** Namespaces that may be used, sorted; empty: all of them. */
  readonly namespaces: readonly string[];
  /** Whether objects outside namespaces may be deployed although namespaces are listed. */
  readonly clusterResources: boolean;
  readonly isInsecure: boolean;
  /** Whether instances get an account of their own on the cluster instead of the user's credential. */
  readonly createsAccount: boolean;
  /** Whether there may be an account of ours on the cluster. */
  readonly hasAccount: boolean;
  /** Of the credentials: another one means another credential. */
  readonly fingerprint: string;
  /** Since when nobody got an answer from its cluster; absent: the last one who asked did. */
  readonly unreachableSince: Millis | undefined;
  /** That it is kept from instances, or was, because of what caching it took; absent: it never was. */
  readonly withheld?: Withholding;
}

/** Whose account on a user's cluster it is: of one unit on one instance. Accounts and their tokens are never shared. */
export interface AccountOwner {
  readonly unitId: UnitId;
  readonly instanceId: InstanceId;
}

/** The same as of one placement: what is written for it carries the epoch, and gives way to what a newer one wrote. */
export interface AccountHolder extends AccountOwner {
  readonly epoch: number;
}

/** What a stored credential of an environment is for; its id is the environment's. */
export const ENVIRONMENT_PURPOSE = "environment";

/** The same for the user's own credential, by which accounts of ours are made and removed; see {@link ownerCredentialId}. */
export const OWNER_PURPOSE = "environment-owner";

/** The same for the token of an account of ours. */
export const ACCOUNT_PURPOSE = "environment-account";

/** Which of an environment's credentials. */
export type CredentialUse =
  | { readonly purpose: typeof ENVIRONMENT_PURPOSE | typeof OWNER_PURPOSE }
  | { readonly purpose: typeof ACCOUNT_PURPOSE; readonly account: AccountOwner };

export function ownerCredentialId(id: EnvironmentId): CredentialId {
  return `${id}.owner` as CredentialId;
}

/** How ids of accounts' credentials of an environment begin. */
export function accountCredentialPrefix(id: EnvironmentId): string {
  return `${id}.account.`;
}

/** Where a credential of an environment is stored. */
export function environmentCredentialKey(
  id: EnvironmentId,
  owner: WorkspaceId,
  use: CredentialUse,
): { readonly id: CredentialId; readonly owner: WorkspaceId; readonly purpose: string } {
  return { id: credentialIdOf(id, use), owner, purpose: use.purpose };
}

function credentialIdOf(id: EnvironmentId, use: CredentialUse): CredentialId {
  switch (use.purpose) {
    case ENVIRONMENT_PURPOSE:
      return id as string as CredentialId;
    case OWNER_PURPOSE:
      return ownerCredentialId(id);
    case ACCOUNT_PURPOSE:
      return `${accountCredentialPrefix(id)}${use.account.unitId}.${use.account.instanceId}` as CredentialId;
  }
}

/** What an instance enters an environment with for a unit: an account of its own where these are made, else what its user gave. */
export function entryCredentialKey({ id, workspaceId, createsAccount }: Environment, account: AccountOwner) {
  return environmentCredentialKey(
    id,
    workspaceId,
    createsAccount ? { purpose: ACCOUNT_PURPOSE, account } : { purpose: ENVIRONMENT_PURPOSE },
  );
}

/** A credential of an environment as it is stored. */
export interface EnvironmentCredential {
  /** The `apiUrl` it belongs to: it is never shown to another server. */
  readonly server: string;
  readonly token?: string;
  /** PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** PEM; the system's authorities if absent. */
  readonly ca?: string;
  /** Name the server's certificate is checked against instead of the URL's host. */
  readonly serverName?: string;
  /** Of a token of an account of ours: until when it is good, and which account's of that name it is. Absent: it does not end. */
  readonly issued?: TokenSpan & { readonly accountUid: string };
  /** Of an account of ours that was not the owner when it was seen last: a mark of the rules that it read by. */
  readonly readable?: string;
  /** The instance is to read the cluster anew, unless it has since. */
  readonly readAgainAt?: Millis;
}

/** Whether objects outside namespaces may be deployed there. */
export function allowsClusterResources({ namespaces, clusterResources }: Pick<Environment, "namespaces" | "clusterResources">): boolean {
  return namespaces.length === 0 || clusterResources;
}

/** An account of ours on a user's cluster, which by itself may only read. */
export interface ClusterAccount {
  /** In the order in which they are made. */
  readonly objects: readonly EngineObject[];
  /** The ServiceAccount among them. */
  readonly at: { readonly namespace: string; readonly name: string };
  /** Under which epoch it was made: what a newer one wrote is not touched. */
  readonly epoch: number;
}

/** The bindings in an environment by which alone a unit's objects may be written there: one, or one in each of its namespaces. */
export interface EnvironmentOwnerBinding {
  /** What they bind, made before them. */
  readonly roles: readonly EngineObject[];
  /** With the epoch, and nobody or the owner's account. */
  readonly bindings: readonly OwnerRoleBinding[];
  readonly epoch: number;
}

export interface OwnerRoleBinding extends EngineObject {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[];
}
