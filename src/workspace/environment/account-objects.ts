import type { EngineObject } from "../../domain/engine.ts";
import { allowsClusterResources, type ClusterAccount, type Environment } from "../../domain/environment.ts";
import { canonicalJson, sha256 } from "../../domain/hash.ts";
import type { EnvironmentId, InstanceId, UnitId } from "../../domain/ids.ts";
import { ACCOUNTS_NAMESPACE, ANNOTATION_EPOCH, LABEL_ENVIRONMENT, LABEL_MANAGED_BY, MANAGED_BY } from "../../domain/names.ts";

/** Whose account it is: the unit's owner's, under this epoch. Never shared between units, environments or instances. */
export interface AccountHolder {
  readonly unitId: UnitId;
  readonly instanceId: InstanceId;
  readonly epoch: number;
}

/** What marks everything of ours for one environment on its cluster; opaque, because its users see it there. */
export function accountMark(id: EnvironmentId): string {
  return sha256(id).slice(0, 20);
}

/**
 * The account an instance deploys with on a user's cluster, in a namespace of our own, with a token and the register: the
 * binding whose only subject it is. It may do everything, in the environment's namespaces where these are listed and outside
 * namespaces is not allowed, else everywhere, as users know it.
 */
export function clusterAccount(
  environment: Pick<Environment, "id" | "namespaces" | "clusterResources">,
  { unitId, instanceId, epoch }: AccountHolder,
): ClusterAccount {
  const name = `u-${sha256([unitId, instanceId, environment.id].join("|")).slice(0, 20)}`;
  const labels = { [LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_ENVIRONMENT]: accountMark(environment.id) };
  const at = { namespace: ACCOUNTS_NAMESPACE, name };
  const subjects = [{ kind: "ServiceAccount", name, namespace: ACCOUNTS_NAMESPACE }];
  const rights = (scope: "Cluster" | "", metadata: { readonly namespace?: string }): readonly EngineObject[] => [
    { ...RBAC, kind: `${scope}Role`, metadata: { ...metadata, name, labels }, rules: EVERYTHING },
    {
      ...RBAC,
      kind: `${scope}RoleBinding`,
      metadata: { ...metadata, name, labels, annotations: { [ANNOTATION_EPOCH]: String(epoch) } },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: `${scope}Role`, name },
      subjects,
    },
  ];
  return {
    token: at,
    objects: [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: ACCOUNTS_NAMESPACE, labels: { [LABEL_MANAGED_BY]: MANAGED_BY } } },
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { ...at, labels }, automountServiceAccountToken: false },
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { ...at, labels, annotations: { "kubernetes.io/service-account.name": name } },
        type: "kubernetes.io/service-account-token",
      },
      ...(allowsClusterResources(environment)
        ? rights("Cluster", {})
        : environment.namespaces.flatMap((namespace) => rights("", { namespace }))),
    ],
  };
}

/** Whether an account of `before` would have other rights than are wished for now, or stands elsewhere. */
export function hasOtherScope(
  before: Pick<Environment, "apiUrl" | "namespaces" | "clusterResources">,
  wish: Pick<Environment, "apiUrl" | "namespaces" | "clusterResources">,
): boolean {
  const scope = ({ apiUrl, namespaces, clusterResources }: typeof wish) => canonicalJson([apiUrl, namespaces, clusterResources]);
  return before.apiUrl !== "" && scope(before) !== scope(wish);
}

const RBAC = { apiVersion: "rbac.authorization.k8s.io/v1" } as const;
const EVERYTHING = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] as const;
