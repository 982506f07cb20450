import type { IssuedToken } from "../domain/account-token.ts";
import { rfc3339Millis } from "../domain/clock.ts";
import { FILTER_PORT, filterAddress } from "../domain/filter-address.ts";
import { canonicalJson, contentHash } from "../domain/hash.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { type Instance, sharesEntry } from "../domain/instance.ts";
import {
  ANNOTATION_TOKEN_ACCOUNT,
  ANNOTATION_TOKEN_ENDS,
  ANNOTATION_TOKEN_HASH,
  ANNOTATION_TOKEN_MADE,
  CANARY_NAMESPACE,
  READER_ROLE,
} from "../domain/names.ts";
import type { ApplicationPlacement, Destination, OwnNamespaces } from "./application-placement.ts";
import { instanceLabels, ownServer, unitFence, unitLabels } from "./application-placement.ts";
import type { DesiredObject } from "./managed-object.ts";
import { desire } from "./managed-object.ts";
import { ANNOTATION_REFRESH, accountName, clusterEntryName, readAccountName, readerBindingName, workspaceEntryName } from "./names.ts";

/**
 * Who an instance is on the API cluster: one account that reads, and may act as the accounts of the instance's units. Of an instance with an entry for
 * each workspace the account alone is there, without any right.
 */
export interface InstanceIdentity {
  readonly account: DesiredObject;
  readonly reader: DesiredObject;
  readonly impersonation: DesiredObject;
}

export function renderIdentity(instanceId: InstanceId, namespaces: OwnNamespaces): InstanceIdentity {
  const at = { namespace: namespaces.accounts, name: readAccountName(instanceId) };
  const base = { labels: instanceLabels(instanceId), annotations: {}, fence: undefined };
  const subjects = [{ kind: "ServiceAccount", name: at.name, namespace: at.namespace }];
  return {
    account: desire({ ...base, kind: "account", at, content: { automountServiceAccountToken: false } }),
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

/** A token of an instance's account; `accountUid`: which account's of that name, for one made anew has tokens of its own. */
export interface EntryToken extends IssuedToken {
  readonly accountUid: string;
}

/** What is to be in an entry: a token, and by when Argo CD is to have read the cluster, so that a cache that was filled before is filled anew. */
export type EntryContent = EntryToken & { readonly refreshAt?: string | undefined };

/**
 * The instance's one entry for the API cluster, built field by field. It names no project, because every tenant of the
 * instance shares it; what a tenant may do there is decided by its own account. It is the only place where the token stands: its
 * annotations say until when it is good, for whoever has to replace it. Where each workspace has an entry, this one is the canaries' alone:
 * its account may read nothing, and its one namespace is empty.
 */
export function renderClusterEntry(
  instance: Pick<Instance, "id" | "namespace" | "entries">,
  destination: Destination,
  content: EntryContent,
): DesiredObject {
  const { server } = destination;
  return desire({
    kind: "entry",
    at: { namespace: instance.namespace, name: clusterEntryName(server) },
    labels: { ...instanceLabels(instance.id), ...CLUSTER_SECRET },
    annotations: tokenAnnotations(content),
    fence: undefined,
    content: {
      type: "Opaque",
      data: {
        ...{ name: base64("api"), server: base64(server) },
        config: instance.entries === "filtered" ? renderFilteredConfig(instance, content) : renderConfig(destination, content),
        ...(sharesEntry(instance) ? {} : { namespaces: base64(CANARY_NAMESPACE) }),
      },
    },
  });
}

/**
 * The entry by which an instance enters the API cluster for one unit and no other: with the account that deploys for it, for its namespace alone. It
 * names no project: Argo CD would permit that one every namespace of the cluster.
 */
export function renderWorkspaceEntry(placement: ApplicationPlacement, destination: Destination, content: EntryContent): DesiredObject {
  const { unit, workspace, instance } = placement;
  const name = workspaceEntryName(unit.id);
  const [server, namespaces] = [ownServer(placement, destination), workspace.namespace];
  return desire({
    kind: "entry",
    at: { namespace: instance.namespace, name },
    labels: { ...unitLabels(placement), ...CLUSTER_SECRET },
    annotations: tokenAnnotations(content),
    fence: unitFence(unit),
    content: {
      type: "Opaque",
      data: {
        ...{ name: base64(name), server: base64(server), namespaces: base64(namespaces) },
        config: renderConfig(destination, content),
      },
    },
  });
}

const CLUSTER_SECRET = { "argocd.argoproj.io/secret-type": "cluster" } as const;

function tokenAnnotations({ token, madeAt, endsAt, accountUid, refreshAt }: EntryContent): Readonly<Record<string, string>> {
  return {
    [ANNOTATION_TOKEN_MADE]: rfc3339Millis(madeAt),
    [ANNOTATION_TOKEN_ENDS]: rfc3339Millis(endsAt),
    [ANNOTATION_TOKEN_ACCOUNT]: accountUid,
    [ANNOTATION_TOKEN_HASH]: contentHash(token),
    ...(refreshAt === undefined ? {} : { [ANNOTATION_REFRESH]: refreshAt }),
  };
}

function renderConfig({ caData }: Destination, { token }: EntryToken): string {
  const tlsClientConfig = caData === "" ? { insecure: false } : { insecure: false, caData };
  return base64(canonicalJson({ bearerToken: token, tlsClientConfig }));
}

/**
 * Through the filter in the instance's pod: a proxy, so that the cluster keeps its address in Applications. What passes for the API server there is
 * not checked, because it is reached by nobody else and by no way out of the pod; the filter checks the API server itself.
 */
function renderFilteredConfig({ id }: Pick<Instance, "id">, { token }: EntryToken): string {
  const proxyUrl = `http://${filterAddress(id)}:${FILTER_PORT}`;
  return base64(canonicalJson({ bearerToken: token, proxyUrl, tlsClientConfig: { insecure: true } }));
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
