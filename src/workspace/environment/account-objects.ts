import type { EngineObject } from "../../domain/engine.ts";
import {
  type AccountHolder,
  type AccountOwner,
  allowsClusterResources,
  type ClusterAccount,
  type Environment,
  type EnvironmentCredential,
  type EnvironmentOwnerBinding,
} from "../../domain/environment.ts";
import { canonicalJson, sha256 } from "../../domain/hash.ts";
import type { EnvironmentId, InstanceId, UnitId } from "../../domain/ids.ts";
import { ACCOUNTS_NAMESPACE, ANNOTATION_EPOCH, LABEL_ENVIRONMENT, LABEL_MANAGED_BY, MANAGED_BY } from "../../domain/names.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import type { KnownKinds } from "./known-kinds.ts";
import { builtInRules } from "./reading-rules.ts";

type Place = Pick<Environment, "id" | "namespaces" | "clusterResources">;

/** What marks everything of ours for one environment on its cluster; opaque, because its users see it there. */
export function accountMark(id: EnvironmentId): string {
  return sha256(id).slice(0, 20);
}

/** The name an instance's account has there for a unit, and what lets it read. Never shared between units, environments or instances. */
export function clusterAccountName(id: EnvironmentId, { unitId, instanceId }: AccountOwner): string {
  return `u-${sha256([unitId, instanceId, id].join("|")).slice(0, 20)}`;
}

/** The account's name as the cluster's authoriser has it. */
export function clusterUser(id: EnvironmentId, owner: AccountOwner): string {
  return `system:serviceaccount:${ACCOUNTS_NAMESPACE}:${clusterAccountName(id, owner)}`;
}

/**
 * The account an instance deploys with on a user's cluster, in a namespace of our own. By itself it may only read, which is what an
 * instance needs to get to know a cluster before it owns anything there: whole objects of what every API server has, as it is rendered here,
 * and of what that cluster serves, once it has said so. The owner binding lets it write. Its tokens stand nowhere there.
 */
export function clusterAccount(environment: Place, { epoch, ...owner }: AccountHolder): ClusterAccount {
  const name = clusterAccountName(environment.id, owner);
  const labels = labelsOf(environment.id);
  const annotations = { [ANNOTATION_EPOCH]: String(epoch) };
  const at = { namespace: ACCOUNTS_NAMESPACE, name };
  const reading = scopesOf(environment).flatMap((scope): readonly EngineObject[] => [
    {
      ...RBAC,
      kind: `${scope.kind}Role`,
      metadata: { ...scope.at, name, labels },
      rules: builtInRules({ isNamespaced: scope.kind === "" }),
    },
    {
      ...RBAC,
      kind: `${scope.kind}RoleBinding`,
      metadata: { ...scope.at, name, labels },
      roleRef: roleRefOf(scope, name),
      subjects: [subjectOf(name)],
    },
  ]);
  return {
    at,
    epoch,
    objects: [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: ACCOUNTS_NAMESPACE, labels: { [LABEL_MANAGED_BY]: MANAGED_BY } } },
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { ...at, labels, annotations }, automountServiceAccountToken: false },
      ...reading,
    ],
  };
}

/**
 * The owner binding of a unit in an environment: its only subject is the account of the instance that owns the unit, or nobody.
 * Whoever is bound may do everything, in the environment's namespaces where these are listed and outside namespaces is not allowed, else
 * everywhere, as users know it.
 */
export function environmentOwnerBinding(
  environment: Place,
  { unitId, epoch }: { readonly unitId: UnitId; readonly epoch: number },
  instanceId: InstanceId | undefined,
): EnvironmentOwnerBinding {
  const name = `r-${sha256([unitId, environment.id].join("|")).slice(0, 20)}`;
  const labels = labelsOf(environment.id);
  const annotations = { [ANNOTATION_EPOCH]: String(epoch) };
  const scopes = scopesOf(environment);
  const subjects = instanceId === undefined ? [] : [subjectOf(clusterAccountName(environment.id, { unitId, instanceId }))];
  return {
    epoch,
    roles: scopes.map((scope) => ({ ...RBAC, kind: `${scope.kind}Role`, metadata: { ...scope.at, name, labels }, rules: EVERYTHING })),
    bindings: scopes.map((scope) => ({
      ...RBAC,
      kind: `${scope.kind}RoleBinding`,
      metadata: { ...scope.at, name, labels, annotations },
      roleRef: roleRefOf(scope, name),
      subjects,
    })),
  };
}

/** Whether an account of `before` would have other rights than are desired now, or stands elsewhere. */
export function hasOtherScope(
  before: Pick<Environment, "apiUrl" | "namespaces" | "clusterResources">,
  request: Pick<Environment, "apiUrl" | "namespaces" | "clusterResources">,
): boolean {
  const scope = ({ apiUrl, namespaces, clusterResources }: typeof request) => canonicalJson([apiUrl, namespaces, clusterResources]);
  return before.apiUrl !== "" && scope(before) !== scope(request);
}

interface Scope {
  readonly kind: "Cluster" | "";
  readonly at: { readonly namespace?: string };
}

function scopesOf(environment: Place): readonly Scope[] {
  if (allowsClusterResources(environment)) return [{ kind: "Cluster", at: {} }];
  return environment.namespaces.map((namespace) => ({ kind: "", at: { namespace } }));
}

function labelsOf(id: EnvironmentId): Readonly<Record<string, string>> {
  return { [LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_ENVIRONMENT]: accountMark(id) };
}

function roleRefOf({ kind }: Scope, name: string) {
  return { apiGroup: "rbac.authorization.k8s.io", kind: `${kind}Role`, name };
}

function subjectOf(name: string) {
  return { kind: "ServiceAccount", name, namespace: ACCOUNTS_NAMESPACE };
}

const RBAC = { apiVersion: "rbac.authorization.k8s.io/v1" } as const;
const EVERYTHING = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] as const;

/** Who needs an account for a unit: its owner, if it has one. */
export function accountHolderOf({ id: unitId, owner: instanceId, epoch }: PlacementUnit): readonly AccountHolder[] {
  return instanceId === undefined ? [] : [{ unitId, instanceId, epoch }];
}

/** Whoever read these knows of nothing newer. */
export function newestOf(units: readonly PlacementUnit[]): number {
  return Math.max(0, ...units.map(({ epoch }) => epoch));
}

/** By what everything of ours for an environment is found on its cluster. */
export function tracesOf(environment: Pick<Environment, "id" | "namespaces" | "clusterResources">) {
  return { mark: accountMark(environment.id), namespaces: allowsClusterResources(environment) ? [] : environment.namespaces };
}

/** Reads back what was stored as the user's own credential; `undefined` for what is none. */
export function parseOwnerCredential(stored: string | undefined): EnvironmentCredential | undefined {
  if (stored === undefined) return undefined;
  try {
    const read = JSON.parse(stored) as EnvironmentCredential | null;
    return typeof read?.server === "string" ? read : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What is stored of an account of ours: the way its user's credential leads, the account's token in place of what it proves itself by, and
 * which kinds its instance has read.
 */
export function accountCredential(
  credential: EnvironmentCredential,
  token: Pick<EnvironmentCredential, "token" | "issued">,
  kinds: KnownKinds,
): string {
  const { certificate: _, ...rest } = credential;
  return canonicalJson({ ...rest, ...token, ...kinds });
}
