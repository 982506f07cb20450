import { describe, expect, it } from "vitest";
import type { EnvironmentId, InstanceId, UnitId } from "../../domain/ids.ts";
import { accountMark, clusterAccount, environmentOwnerBinding } from "./account-objects.ts";
import { builtInRules } from "./reading-rules.ts";

const HOLDER = { unitId: "unit-1" as UnitId, instanceId: "instance-1" as InstanceId, epoch: 7 };
const environment = (over: { readonly namespaces?: readonly string[]; readonly clusterResources?: boolean } = {}) => ({
  id: "environment-1" as EnvironmentId,
  namespaces: [],
  clusterResources: false,
  ...over,
});
const kindsOf = (over = {}) =>
  clusterAccount(environment(over), HOLDER).objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? "-"}`);

describe("an account on a user's cluster", () => {
  it("may do everything everywhere when no namespaces are listed, by an owner binding that carries the epoch", () => {
    expect(kindsOf()).toEqual(["Namespace -", "ServiceAccount argosy-accounts", "ClusterRole -", "ClusterRoleBinding -"]);
    const { at } = clusterAccount(environment(), HOLDER);
    const { roles, bindings } = environmentOwnerBinding(environment(), HOLDER, HOLDER.instanceId);
    expect(roles).toMatchObject([{ kind: "ClusterRole", rules: [{ verbs: ["*"] }] }]);
    expect(bindings).toMatchObject([
      {
        metadata: { annotations: { "argosy.dev/epoch": "7" } },
        subjects: [{ kind: "ServiceAccount", name: at.name, namespace: "argosy-accounts" }],
      },
    ]);
  });

  it("may only read by itself: the owner binding lets it write, and has one name whoever the owner is", () => {
    const { objects } = clusterAccount(environment(), HOLDER);
    const rules = objects.filter(({ kind }) => kind === "ClusterRole").map((role) => role["rules"]);
    expect(rules).toEqual([builtInRules({ isNamespaced: false })]);
    const ownerBindings = [HOLDER.instanceId, "instance-2" as InstanceId, undefined].map((to) =>
      environmentOwnerBinding(environment(), HOLDER, to),
    );
    expect(new Set(ownerBindings.map(({ bindings }) => bindings[0]?.metadata.name)).size).toBe(1);
    expect(ownerBindings.map(({ bindings }) => bindings[0]?.subjects.length)).toEqual([1, 1, 0]);
  });

  it("is bound in the listed namespaces only, unless objects outside them are allowed", () => {
    expect(kindsOf({ namespaces: ["a", "b"] }).slice(2)).toEqual(["Role a", "RoleBinding a", "Role b", "RoleBinding b"]);
    expect(kindsOf({ namespaces: ["a"], clusterResources: true }).slice(2)).toEqual(["ClusterRole -", "ClusterRoleBinding -"]);
  });

  it("has no token that stands in its cluster", () => {
    expect(clusterAccount(environment(), HOLDER).objects.filter(({ kind }) => kind === "Secret")).toEqual([]);
  });

  it("is another for each unit, environment and instance", () => {
    const names = [
      clusterAccount(environment(), HOLDER),
      clusterAccount(environment(), { ...HOLDER, unitId: "unit-2" as UnitId }),
      clusterAccount(environment(), { ...HOLDER, instanceId: "instance-2" as InstanceId }),
      clusterAccount({ ...environment(), id: "environment-2" as EnvironmentId }, HOLDER),
    ].map(({ at }) => at.name);
    expect(new Set(names).size).toBe(4);
  });

  it("tells its users no id or name of ours", () => {
    const text = JSON.stringify(clusterAccount(environment(), HOLDER));
    for (const id of ["unit-1", "instance-1", "environment-1"]) expect(text).not.toContain(id);
    expect(text).toContain(accountMark(environment().id));
  });
});
