import { expect, it } from "vitest";
import { pluralOf, type ResourceType, resourcePath } from "./resource.ts";

const SECRETS: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
const ROLES: ResourceType = {
  ...SECRETS,
  group: "rbac.authorization.k8s.io",
  plural: "clusterroles",
  kind: "ClusterRole",
  namespaced: false,
};

it.each([
  [resourcePath(SECRETS), "secrets"],
  [resourcePath(SECRETS, { namespace: "a", name: "b", subresource: "status" }), "secrets"],
  [resourcePath({ ...SECRETS, plural: "namespaces", namespaced: false }, { name: "a" }), "namespaces"],
  [resourcePath(ROLES, { name: "argosy:reader" }), "clusterroles"],
  ["/version", ""],
  ["/apis", ""],
  ["/api/v1", ""],
])("what %s is about is %j", (path, plural) => {
  expect(pluralOf(path)).toBe(plural);
});
