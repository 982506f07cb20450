import type { EngineObject } from "./engine.ts";
import type { CredentialId, EnvironmentId, WorkspaceId } from "./ids.ts";

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
  /** Of the credential: another one means another credential. */
  readonly fingerprint: string;
}

/** What a stored credential of an environment is for; its id is the environment's. */
export const ENVIRONMENT_PURPOSE = "environment";

/** The same for the user's own credential, by which an account of ours is made and removed; see {@link ownerCredentialId}. */
export const OWNER_PURPOSE = "environment-owner";

export function ownerCredentialId(id: EnvironmentId): CredentialId {
  return `${id}.owner` as CredentialId;
}

/** Where a credential of an environment is stored. */
export function environmentCredentialKey(
  id: EnvironmentId,
  owner: WorkspaceId,
  purpose: typeof ENVIRONMENT_PURPOSE | typeof OWNER_PURPOSE,
): { readonly id: CredentialId; readonly owner: WorkspaceId; readonly purpose: string } {
  return { id: purpose === OWNER_PURPOSE ? ownerCredentialId(id) : (id as string as CredentialId), owner, purpose };
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
}

/** Whether objects outside namespaces may be deployed there. */
export function allowsClusterResources({ namespaces, clusterResources }: Pick<Environment, "namespaces" | "clusterResources">): boolean {
  return namespaces.length === 0 || clusterResources;
}

/** An account of ours on a user's cluster. */
export interface ClusterAccount {
  /** In the order in which they are made. */
  readonly objects: readonly EngineObject[];
  /** The Secret among them that the cluster fills with the token. */
  readonly token: { readonly namespace: string; readonly name: string };
}
