import type { Environment } from "../domain/environment.ts";
import { sha256 } from "../domain/hash.ts";
import type { EnvironmentId, InstanceId, RepositoryCredentialId, UnitId } from "../domain/ids.ts";
import { DEPLOYER_ROLE } from "../domain/names.ts";

/** Count of the last change of rows an object was written from; together with the epoch it says which of two writers is late. */
export const ANNOTATION_REVISION = "argosy.dev/revision";

/** Ids never stand in names: a digest is opaque to whoever reads it and of one length whatever the id looks like. */
function digest(...parts: readonly string[]): string {
  return sha256(parts.join("|")).slice(0, 20);
}

/** The ServiceAccount that one instance acts as in one unit's namespace; never shared between units or instances. */
export function accountName(unitId: UnitId, instanceId: InstanceId): string {
  return `u-${digest(unitId, instanceId)}`;
}

/** The ServiceAccount by which one instance reads the API cluster and impersonates the accounts of its units. */
export function readAccountName(instanceId: InstanceId): string {
  return `read-${digest(instanceId)}`;
}

/**
 * The AppProject of what a unit deploys into its own namespace. It has the same name on every instance, so that a move changes nothing in
 * an Application's spec.
 */
export function projectName(unitId: UnitId): string {
  return `ws-${digest(unitId)}`;
}

/** The AppProject of what a unit deploys to environments, one for all of them. */
export function environmentProjectName(unitId: UnitId): string {
  return `we-${digest(unitId)}`;
}

/** All AppProjects that a unit may have: metrics of Argo CD say of each request for which project it was. */
export function projectNames(unitId: UnitId): readonly string[] {
  return [projectName(unitId), environmentProjectName(unitId)];
}

/** The owner binding's name in the workspace's namespace; the parts of a split workspace have one each. */
export function ownerBindingName(bucket: number): string {
  return bucket === 0 ? DEPLOYER_ROLE : `${DEPLOYER_ROLE}-${bucket}`;
}

/** Whether this is the name of the owner binding of a part, one other than the first: it does not end with its namespace alone. */
export function isPartBindingName(name: string): boolean {
  return name.startsWith(`${DEPLOYER_ROLE}-`) && /^[1-9]\d*$/.test(name.slice(DEPLOYER_ROLE.length + 1));
}

/** The cluster Secret by which an instance enters the API cluster at `server`. */
export function clusterEntryName(server: string): string {
  return `argosy-cluster-${digest(server)}`;
}

/** The cluster Secret by which an instance with an entry for each workspace enters the API cluster for one unit, and the name of that cluster in Argo CD. */
export function workspaceEntryName(unitId: UnitId): string {
  return `argosy-workspace-${digest(unitId)}`;
}

/** The RoleBinding in a workspace's namespace that lets the account of one unit on one such instance read there. */
export function workspaceReaderName(unitId: UnitId, instanceId: InstanceId): string {
  return `${READER_PREFIX}${digest(unitId, instanceId)}`;
}

const READER_PREFIX = "argosy-reader-";

/** Whether a RoleBinding may be one of those, of whichever unit and instance: much sooner said than of which. */
export function isWorkspaceReaderName(name: string): boolean {
  return name.startsWith(READER_PREFIX);
}

/** The cluster Secret by which an instance enters an environment, and the name of that cluster in Argo CD. */
export function environmentEntryName(environmentId: EnvironmentId): string {
  return `argosy-env-${digest(environmentId)}`;
}

/** What a repository Secret is told apart by from the others of its unit. */
export interface RepositorySecretKey {
  readonly id: RepositoryCredentialId;
  /** Absent: the repository is spelled as its user did. */
  readonly spelling?: string | undefined;
  /** It is for what the unit deploys to environments. */
  readonly isForEnvironments?: boolean;
}

/** The Secret by which an instance reads one repository for one of a unit's projects. */
export function repositorySecretName(unitId: UnitId, { id, spelling, isForEnvironments }: RepositorySecretKey): string {
  const parts = [unitId, id, ...(spelling === undefined ? [] : [spelling])];
  return `argosy-repository-${isForEnvironments === true ? digest("environments", ...parts) : digest(...parts)}`;
}

/** The ClusterRoleBinding that lets an instance's read account read. */
export function readerBindingName(instanceId: InstanceId): string {
  return `argosy-instance-${readAccountName(instanceId)}`;
}

/** The same of versions that let instances read everything. A binding cannot change its role, so that there is another for the other role. */
export function formerReaderBindingName(instanceId: InstanceId): string {
  return `argosy-${readAccountName(instanceId)}`;
}

/** The user's last request to read Git now, as a hash: a new one makes Argo CD refresh. */
export const ANNOTATION_POKE = "argosy.dev/poke";
/** On an Application: Argo CD reads Git again and takes it off. On a cluster entry, a time: Argo CD reads the cluster anew unless it has since. */
export const ANNOTATION_REFRESH = "argocd.argoproj.io/refresh";
/** Entry of an operation's `info` that holds the uid of the GitOpsDeploymentSyncRun it was asked for by. */
export const INFO_RUN = "argosy.dev/sync-run";
/** Stops Argo CD from refreshing an Application; nobody but a move may set it. */
export const ANNOTATION_PAUSE = "argocd.argoproj.io/skip-reconcile";
/** On an Application that a move has put on its target and not activated yet: how far it is, see `ARRIVALS`. */
export const ANNOTATION_ARRIVING = "argosy.dev/arriving";
/** Hash of the status that was copied last to an arriving Application. */
export const ANNOTATION_COPIED = "argosy.dev/copied-status";
/** Written anew, at whatever version it was, on an Application that Argo CD was asked to refresh and did not. */
export const ANNOTATION_NUDGED = "argosy.dev/nudged";
/** When the automated sync began that was ended because it could not bring about what is wanted. */
export const ANNOTATION_STOPPED = "argosy.dev/stopped-sync";

const PARAMETER = "managedEnvironment";

/**
 * An environment's cluster as an instance addresses it. Argo CD tells clusters apart by URL, so the id in the query gives each
 * environment a cluster of its own, also where several are on one API server; the server does not mind the parameter.
 */
export function environmentServer({ id, apiUrl }: Pick<Environment, "id" | "apiUrl">): string {
  return `${apiUrl}?${PARAMETER}=${id}`;
}

/** The environment that a server addressed like this belongs to; `undefined` for any other server. */
export function environmentOfServer(server: string): EnvironmentId | undefined {
  const [, id] = server.split(`?${PARAMETER}=`);
  return id === undefined || id === "" ? undefined : (id as EnvironmentId);
}

/** The API cluster as an instance addresses it for one unit alone; see `environmentServer`. */
export function workspaceServer(server: string, unitId: UnitId): string {
  return `${server}?workspace=${unitId}`;
}

/** A server as a pattern that matches nothing else: projects' destinations are globs. */
export function serverPattern(server: string): string {
  return server.replaceAll(/[*?{}[\]\\!]/g, (character) => `\\${character}`);
}
