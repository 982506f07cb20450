import type { Environment } from "../domain/environment.ts";
import { FORBIDDEN_KINDS } from "../domain/forbidden-kinds.ts";
import { sharesEntry } from "../domain/instance.ts";
import { DEPLOYER_ROLE, LABEL_MANAGED_BY, LABEL_UNIT, MANAGED_BY, READER_ROLE } from "../domain/names.ts";
import type { ApplicationPlacement, Destination, OwnNamespaces } from "./application-placement.ts";
import { ownServer, unitFence, unitLabels } from "./application-placement.ts";
import type { DesiredObject } from "./managed-object.ts";
import { desire } from "./managed-object.ts";
import { accountName, environmentProjectName, ownerBindingName, projectName, serverPattern, workspaceReaderName } from "./names.ts";
import { type EnvironmentRights, environmentRights } from "./render-environment.ts";

/** What a unit needs on its owner before any of its Applications may stand there. */
export interface UnitObjects {
  readonly account: DesiredObject;
  readonly ownerBinding: DesiredObject;
  /** What it deploys into its own namespace goes by this one. */
  readonly project: DesiredObject;
  /** What it deploys to environments goes by this one. Only a unit with environments has it. */
  readonly environmentProject: DesiredObject;
}

export interface UnitSurroundings {
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  readonly repoUrls: readonly string[];
  /** Those of them that are deployed to environments. */
  readonly environmentRepoUrls: readonly string[];
  /** Where else the unit deploys to. */
  readonly environments: readonly Environment[];
  /** Applications that a version before made still name the own namespace's project for an environment: it goes on to permit these. */
  readonly isProjectShared?: boolean;
}

export function renderUnit(placement: ApplicationPlacement, surroundings: UnitSurroundings): UnitObjects {
  return {
    account: renderAccount(placement, surroundings.namespaces),
    ownerBinding: renderOwnerBinding(placement, surroundings.namespaces),
    project: renderProject(placement, surroundings),
    environmentProject: renderEnvironmentProject(placement, surroundings),
  };
}

/** The identity the owner deploys as. It stands in our namespace: in the user's, whoever may edit there could make its token. */
function renderAccount(placement: ApplicationPlacement, namespaces: OwnNamespaces): DesiredObject {
  return desire({
    kind: "account",
    at: { namespace: namespaces.accounts, name: accountName(placement.unit.id, placement.instance.id) },
    labels: unitLabels(placement),
    annotations: {},
    fence: unitFence(placement.unit),
    content: { automountServiceAccountToken: false },
  });
}

/**
 * The owner binding: the only binding that lets anybody of ours write in the workspace's namespace, and its only subject is the
 * owner's account. The instance is not named on it: users see this object.
 */
export function renderOwnerBinding(placement: ApplicationPlacement, namespaces: OwnNamespaces): DesiredObject {
  return desire({
    kind: "binding",
    at: { namespace: placement.workspace.namespace, name: ownerBindingName(placement.unit.bucket) },
    labels: { [LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_UNIT]: placement.unit.id },
    annotations: {},
    fence: unitFence(placement.unit),
    content: {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: DEPLOYER_ROLE },
      subjects: [{ kind: "ServiceAccount", name: accountName(placement.unit.id, placement.instance.id), namespace: namespaces.accounts }],
    },
  });
}

/**
 * Lets the account of one unit on one instance read the workspace's namespace, owner or not: an instance compares before it is the owner, and until
 * it was emptied. It has no fence. Whoever writes it writes the same, and users may write in it what they like: a forged fence would keep us out.
 */
export function renderReader(
  { unit, workspace, instance }: Pick<ApplicationPlacement, "unit" | "workspace" | "instance">,
  namespaces: OwnNamespaces,
): DesiredObject {
  return desire({
    kind: "binding",
    at: { namespace: workspace.namespace, name: workspaceReaderName(unit.id, instance.id) },
    labels: { [LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_UNIT]: unit.id },
    annotations: {},
    fence: undefined,
    content: {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: READER_ROLE },
      subjects: [{ kind: "ServiceAccount", name: accountName(unit.id, instance.id), namespace: namespaces.accounts }],
    },
  });
}

const EVERY_KIND = [{ group: "*", kind: "*" }] as const;

/**
 * The tenant's fence inside Argo CD for its own namespace: exactly its repositories and that namespace, synced as its own account. No list
 * of cluster-scoped kinds means none, not even to compare with; the other absent lists (roles, source namespaces, windows) mean
 * nothing is granted.
 */
function renderProject(placement: ApplicationPlacement, surroundings: UnitSurroundings): DesiredObject {
  const isShared = sharesEntry(placement.instance);
  const server = ownServer(placement, surroundings.destination);
  const target = { server: isShared ? server : serverPattern(server), namespace: placement.workspace.namespace };
  const rights = surroundings.isProjectShared === true ? surroundings.environments.map((one) => environmentRights(one)) : [];
  const account = `${surroundings.namespaces.accounts}:${accountName(placement.unit.id, placement.instance.id)}`;
  return desire({
    kind: "project",
    at: { namespace: placement.instance.namespace, name: projectName(placement.unit.id) },
    labels: unitLabels(placement),
    annotations: {},
    fence: unitFence(placement.unit),
    content: {
      spec: {
        ...projectFence({ targets: [target], rights, repoUrls: surroundings.repoUrls }),
        // An entry of the unit's own is that account's already.
        ...(isShared ? { destinationServiceAccounts: [{ ...target, defaultServiceAccount: account }] } : {}),
      },
    },
  });
}

/**
 * The tenant's fence inside Argo CD for its environments. Lists of kinds hold for all destinations of a project: they are as wide as the
 * widest of the environments, and what keeps each cluster is the credential that its user has given for it.
 */
function renderEnvironmentProject(placement: ApplicationPlacement, surroundings: UnitSurroundings): DesiredObject {
  const rights = surroundings.environments.map((one) => environmentRights(one));
  return desire({
    kind: "project",
    at: { namespace: placement.instance.namespace, name: environmentProjectName(placement.unit.id) },
    labels: unitLabels(placement),
    annotations: {},
    fence: unitFence(placement.unit),
    content: { spec: projectFence({ targets: [], rights, repoUrls: surroundings.environmentRepoUrls }) },
  });
}

/** What a unit's project permits; as whom is said beside it. `targets`: its own namespace, where it is for that. */
export function projectFence({
  targets,
  rights,
  repoUrls,
}: {
  readonly targets: readonly { readonly server: string; readonly namespace: string }[];
  readonly rights: readonly EnvironmentRights[];
  readonly repoUrls: readonly string[];
}): Readonly<Record<string, unknown>> {
  return {
    sourceRepos: [...new Set(repoUrls)].sort().map(exactly),
    destinations: [...targets, ...rights.flatMap(({ destinations }) => destinations)],
    ...(rights.some(({ allowsClusterResources }) => allowsClusterResources) ? { clusterResourceWhitelist: EVERY_KIND } : {}),
    ...(rights.length === 0 ? { namespaceResourceBlacklist: FORBIDDEN_KINDS } : {}),
  };
}

/**
 * Argo CD reads `sourceRepos` as glob patterns and offers no way to quote: URLs are normalised before they are compared. A
 * character that would make a pattern of a URL is percent-encoded, so that such a URL permits nothing rather than too much.
 */
function exactly(repoUrl: string): string {
  return repoUrl.replaceAll(/[*{}[\]\\!]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
