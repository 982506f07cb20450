import { canonicalJson } from "../domain/hash.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { READER_ROLE } from "../domain/names.ts";
import type { Destination, OwnNamespaces } from "./application-placement.ts";
import { instanceLabels } from "./application-placement.ts";
import type { DesiredObject } from "./managed-object.ts";
import { desire } from "./managed-object.ts";
import { accountName, clusterEntryName, readAccountName, readerBindingName } from "./names.ts";

/** Who an instance is on the API cluster: one account that reads, and may act as the accounts of the instance's units. */
export interface InstanceIdentity {
  readonly account: DesiredObject;
  readonly token: DesiredObject;
  readonly reader: DesiredObject;
  readonly impersonation: DesiredObject;
}

export function renderIdentity(instanceId: InstanceId, namespaces: OwnNamespaces): InstanceIdentity {
  const at = { namespace: namespaces.accounts, name: readAccountName(instanceId) };
  const base = { labels: instanceLabels(instanceId), annotations: {}, fence: undefined };
  const subjects = [{ kind: "ServiceAccount", name: at.name, namespace: at.namespace }];
  return {
    account: desire({ ...base, kind: "account", at, content: { automountServiceAccountToken: false } }),
    token: desire({
      ...base,
      kind: "token",
      at,
      annotations: { "kubernetes.io/service-account.name": at.name },
      content: { type: "kubernetes.io/service-account-token" },
    }),
    reader: desire({
      ...base,
      kind: "reader",
      at: { namespace: "", name: readerBindingName(instanceId) },
      content: { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: READER_ROLE }, subjects },
    }),
    impersonation: desire({
      ...base,
      kind: "binding",
      at,
      content: { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: at.name }, subjects },
    }),
  };
}

/**
 * The right to act as the accounts of exactly these units. Without units there is no rule at all: a rule without resource
 * names would allow every account.
 */
export function renderImpersonation(instanceId: InstanceId, units: readonly UnitId[], namespaces: OwnNamespaces): DesiredObject {
  const resourceNames = [...new Set(units.map((unit) => accountName(unit, instanceId)))].sort();
  return desire({
    kind: "role",
    at: { namespace: namespaces.accounts, name: readAccountName(instanceId) },
    labels: instanceLabels(instanceId),
    annotations: {},
    fence: undefined,
    content: {
      rules: resourceNames.length === 0 ? [] : [{ apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"], resourceNames }],
    },
  });
}

/**
 * The instance's one entry for the API cluster, built field by field. It names no project, because every tenant of the
 * instance shares it; what a tenant may do there is decided by its own account.
 */
export function renderClusterEntry(instance: Pick<Instance, "id" | "namespace">, destination: Destination, token: string): DesiredObject {
  const config = {
    bearerToken: token,
    tlsClientConfig: destination.caData === "" ? { insecure: false } : { insecure: false, caData: destination.caData },
  };
  return desire({
    kind: "entry",
    at: { namespace: instance.namespace, name: clusterEntryName(destination.server) },
    labels: { ...instanceLabels(instance.id), "argocd.argoproj.io/secret-type": "cluster" },
    annotations: {},
    fence: undefined,
    content: {
      type: "Opaque",
      data: { name: base64("api"), server: base64(destination.server), config: base64(canonicalJson(config)) },
    },
  });
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
