import type { ResourceType } from "../resource.ts";
import { apiVersionOf } from "../resource.ts";
import { badRequest, invalid } from "./answers.ts";
import type { Json, JsonMap } from "./json.ts";
import { equalJson, isMap, mapAt } from "./json.ts";

/** Kinds whose status is written with the rest of the object. Argo CD's definitions declare no status subresource for theirs. */
const withoutStatusSubresource: ReadonlySet<string> = new Set([
  ...["configmaps", "secrets", "serviceaccounts", "events", "endpoints"].map((plural) => `/${plural}`),
  ...["roles", "rolebindings", "clusterroles", "clusterrolebindings"].map((plural) => `rbac.authorization.k8s.io/${plural}`),
  "coordination.k8s.io/leases",
  "argoproj.io/applications",
  "argoproj.io/appprojects",
]);

export function hasStatusSubresource(type: ResourceType): boolean {
  return !withoutStatusSubresource.has(`${type.group}/${type.plural}`);
}

/** Kinds compiled into the server, as opposed to custom resources: some rules are laxer for them. */
export function isBuiltIn(type: ResourceType): boolean {
  return !type.group.includes(".") || type.group.endsWith(".k8s.io");
}

/** Core and RBAC objects carry no generation (pods do since 1.33; nobody here reads it). */
export function hasGeneration(type: ResourceType): boolean {
  return type.group !== "" && type.group !== "rbac.authorization.k8s.io";
}

export const metadataOf = (object: JsonMap): JsonMap => mapAt(object, "metadata");
export const nameOf = (object: JsonMap): string => String(metadataOf(object)["name"] ?? "");
export const finalizersOf = (object: JsonMap): readonly Json[] => {
  const finalizers = metadataOf(object)["finalizers"];
  return Array.isArray(finalizers) ? finalizers : [];
};

const nameForm = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** The object a user sent, checked against the path it was sent to. */
export function checkIdentity(
  type: ResourceType,
  sent: Json,
  at: { readonly namespace: string; readonly name: string | undefined },
): JsonMap {
  if (!isMap(sent)) throw badRequest("the body of the request was in an unknown format");
  const metadata = metadataOf(sent);
  const name = String(metadata["name"] ?? at.name ?? "");
  if (sent["kind"] !== undefined && type.kind !== "" && (sent["kind"] !== type.kind || sent["apiVersion"] !== apiVersionOf(type))) {
    throw badRequest(`${String(sent["kind"])} in version "${String(sent["apiVersion"])}" cannot be handled as a ${type.kind}`);
  }
  if (at.name !== undefined && name !== at.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${at.name})`);
  if (metadata["namespace"] !== undefined && metadata["namespace"] !== "" && metadata["namespace"] !== at.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return {
    ...sent,
    apiVersion: apiVersionOf(type),
    kind: type.kind === "" ? (sent["kind"] ?? "") : type.kind,
    metadata: { ...metadata, name, ...(at.namespace === "" ? {} : { namespace: at.namespace }) },
  };
}

export function checkName(type: ResourceType, name: string): void {
  if (name === "") throw invalid(type, name, { field: "metadata.name", message: "Required value: name or generateName is required" });
  if (type.group !== "rbac.authorization.k8s.io" && !nameForm.test(name))
    throw invalid(type, name, {
      field: "metadata.name",
      message: `Invalid value: "${name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'`,
    });
}

/**
 * What is stored when `sent` replaces `live`: what the server owns stays as it was, writes to the object leave its status alone and the
 * other way round, and the generation rises when anything but metadata and a separate status changed.
 */
export function mergeUpdate(type: ResourceType, live: JsonMap, options: { readonly sent: JsonMap; readonly isStatus: boolean }): JsonMap {
  const { sent, isStatus } = options;
  const split = hasStatusSubresource(type);
  const next = isStatus ? withStatus(live, sent["status"]) : split ? withStatus(sent, live["status"]) : { ...sent };
  const metadata = isStatus ? { ...metadataOf(live) } : { ...metadataOf(sent) };
  for (const key of ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"]) {
    const value = metadataOf(live)[key];
    if (value === undefined) delete metadata[key];
    else metadata[key] = value;
  }
  for (const key of ["finalizers", "labels", "annotations", "ownerReferences"]) if (isEmpty(metadata[key])) delete metadata[key];
  const changed = !equalJson(contentOf(next, split), contentOf(live, split));
  if (hasGeneration(type) && changed) metadata["generation"] = Number(metadata["generation"] ?? 0) + 1;
  return { ...next, metadata };
}

export function checkUpdate(type: ResourceType, live: JsonMap, sent: JsonMap): void {
  const uid = metadataOf(sent)["uid"];
  if (uid !== undefined && uid !== metadataOf(live)["uid"])
    throw invalid(type, nameOf(live), { field: "metadata.uid", message: `Invalid value: "${String(uid)}": field is immutable` });
  const added = finalizersOf(sent).filter((each) => !finalizersOf(live).includes(each));
  if (metadataOf(live)["deletionTimestamp"] !== undefined && added.length > 0) {
    throw invalid(type, nameOf(live), {
      field: "metadata.finalizers",
      message: "Forbidden: no new finalizers can be added if the object is being deleted",
    });
  }
}

export function withStatus(object: JsonMap, status: Json | undefined): JsonMap {
  const { status: _dropped, ...rest } = object;
  return status === undefined ? rest : { ...rest, status };
}

function contentOf(object: JsonMap, withoutStatus: boolean): JsonMap {
  const { metadata: _metadata, apiVersion: _apiVersion, kind: _kind, status, ...content } = object;
  return withoutStatus || status === undefined ? content : { ...content, status };
}

function isEmpty(value: Json | undefined): boolean {
  return value === null || (Array.isArray(value) && value.length === 0) || (isMap(value) && Object.keys(value).length === 0);
}
