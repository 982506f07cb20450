import type { Environment } from "../domain/environment.ts";
import { FORBIDDEN_KINDS } from "../domain/forbidden-kinds.ts";
import { DEPLOYER_ROLE, LABEL_MANAGED_BY, LABEL_UNIT, MANAGED_BY } from "../domain/names.ts";
import type { ApplicationPlacement, Destination, OwnNamespaces } from "./application-placement.ts";
import { unitFence, unitLabels } from "./application-placement.ts";
import type { DesiredObject } from "./managed-object.ts";
import { desire } from "./managed-object.ts";
import { accountName, ownerBindingName, projectName } from "./names.ts";
import { type EnvironmentRights, environmentRights } from "./render-environment.ts";

/** What a unit needs on its owner before any of its Applications may stand there. */
export interface UnitObjects {
  readonly account: DesiredObject;
  readonly ownerBinding: DesiredObject;
  readonly project: DesiredObject;
}

export interface UnitSurroundings {
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  readonly repoUrls: readonly string[];
  /** Where else the unit deploys to. */
  readonly environments: readonly Environment[];
}

export function renderUnit(placement: ApplicationPlacement, surroundings: UnitSurroundings): UnitObjects {
  return {
    account: renderAccount(placement, surroundings.namespaces),
    ownerBinding: renderOwnerBinding(placement, surroundings.namespaces),
    project: renderProject(placement, surroundings),
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
 * The register: the only binding that lets anybody of ours write in the workspace's namespace, and its only subject is the
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

const EVERY_KIND = [{ group: "*", kind: "*" }] as const;

/**
 * The tenant's fence inside Argo CD: exactly its repositories, its namespace, synced as its own account, and what its
 * environments let it use. No list of cluster-scoped kinds means none; the other absent lists (roles, source namespaces,
 * windows) mean nothing is granted. Lists of kinds hold for all destinations of a project: with environments they are as wide
 * as the widest of these, and what keeps the own namespace is the account's role alone.
 */
function renderProject(placement: ApplicationPlacement, surroundings: UnitSurroundings): DesiredObject {
  const target = { server: surroundings.destination.server, namespace: placement.workspace.namespace };
  const rights = surroundings.environments.map((environment) => environmentRights(environment));
  const account = `${surroundings.namespaces.accounts}:${accountName(placement.unit.id, placement.instance.id)}`;
  return desire({
    kind: "project",
    at: { namespace: placement.instance.namespace, name: projectName(placement.unit.id) },
    labels: unitLabels(placement),
    annotations: {},
    fence: unitFence(placement.unit),
    content: {
      spec: {
        ...projectFence({ target, rights, repoUrls: surroundings.repoUrls }),
        destinationServiceAccounts: [{ ...target, defaultServiceAccount: account }],
      },
    },
  });
}

/** What a unit's project permits; as whom is said beside it. `target`: its own namespace. */
export function projectFence({
  target,
  rights,
  repoUrls,
}: {
  readonly target: { readonly server: string; readonly namespace: string };
  readonly rights: readonly EnvironmentRights[];
  readonly repoUrls: readonly string[];
}): Readonly<Record<string, unknown>> {
  return {
    sourceRepos: [...new Set(repoUrls)].sort().map(exactly),
    destinations: [target, ...rights.flatMap(({ destinations }) => destinations)],
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
