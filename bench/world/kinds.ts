import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";
import { renderCrds } from "../../src/workspace/api/crd.ts";
import { API_GROUP, API_VERSION, USER_KINDS } from "../../src/workspace/api/names.ts";

export const NAMESPACES: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
export const APPLICATIONS: ResourceType = {
  group: "argoproj.io",
  version: "v1alpha1",
  plural: "applications",
  kind: "Application",
  namespaced: true,
};
export const DEPLOYMENTS: ResourceType = {
  group: API_GROUP,
  version: API_VERSION,
  ...USER_KINDS.deployment,
  namespaced: true,
};
/**
 * A copy of the users' kind under another group: limits are measured on the same kind of object, and Argosy does not
 * react to it.
 */
export const BARE_DEPLOYMENTS: ResourceType = { ...DEPLOYMENTS, group: "bench.argosy.dev" };

/** A label on every Application that a limit creates. */
export const BARE_LABEL = "bench.argosy.dev/bare";

const CRDS: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

interface Definition extends KubeObject {
  readonly spec: { readonly group: string };
}

/** The CRD of the users' kind, under the group of `BARE_DEPLOYMENTS`. */
export function bareDefinition(): { readonly type: ResourceType; readonly object: Definition } {
  const { group, plural } = BARE_DEPLOYMENTS;
  const original = renderCrds().find(({ metadata }) => metadata.name === `${plural}.${API_GROUP}`);
  if (original === undefined) throw new Error(`there is no definition of ${plural}`);
  return { type: CRDS, object: { ...original, metadata: { name: `${plural}.${group}` }, spec: { ...original.spec, group } } as Definition };
}
