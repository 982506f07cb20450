import { describe, expect, it } from "vitest";
import { apiClusterRights, engineClusterRights } from "../../api/doctor/rights.ts";
import { DEPLOYER_ROLE, READER_ROLE } from "../../domain/names.ts";
import { ROLES, type Role } from "../../domain/role.ts";
import type { InstallObject } from "./install-object.ts";
import { accountOfRole, renderAccounts, renderApiClusterObjects, renderEngineClusterObjects } from "./roles.ts";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

const rulesOf = (objects: ReturnType<typeof renderApiClusterObjects>, name?: string): readonly Rule[] =>
  objects
    .filter((object) => name === undefined || object.metadata.name === name)
    .flatMap((object) => (object["rules"] as readonly Rule[] | undefined) ?? []);

describe("the roles an administrator installs", () => {
  it("let Argosy bind and escalate nothing but its own roles", () => {
    const rules = [...rulesOf(renderApiClusterObjects()), ...rulesOf(renderEngineClusterObjects())];
    const strong = rules.filter((rule) => rule.verbs.some((verb) => verb === "bind" || verb === "escalate"));
    expect(strong.length).toBeGreaterThan(0);
    for (const rule of strong) {
      expect(rule.resourceNames?.every((name) => name === DEPLOYER_ROLE || name === READER_ROLE)).toBe(true);
    }
  });

  it("let Argosy impersonate accounts in its own namespace only", () => {
    const objects = [...renderApiClusterObjects(), ...renderEngineClusterObjects()];
    const impersonating = objects.filter((object) => rulesOf([object]).some((rule) => rule.verbs.includes("impersonate")));
    expect(impersonating.map((object) => [object.kind, object.metadata.namespace])).toEqual([["Role", "argosy-accounts"]]);
  });

  it("use no wildcard", () => {
    for (const rule of [...rulesOf(renderApiClusterObjects()), ...rulesOf(renderEngineClusterObjects())])
      expect([...rule.apiGroups, ...rule.resources, ...rule.verbs]).not.toContain("*");
  });

  it("say nothing of what instances read: installed again, they must not take away what Argosy has written there", () => {
    const role = renderApiClusterObjects().find(({ metadata }) => metadata.name === READER_ROLE);
    expect(role).toBeDefined();
    expect(role).not.toHaveProperty("rules");
  });

  it("give the deploying role no right over RBAC, tokens, quotas or limits", () => {
    for (const rule of rulesOf(renderApiClusterObjects(), DEPLOYER_ROLE)) {
      expect(rule.apiGroups).not.toContain("rbac.authorization.k8s.io");
      expect(rule.resources).not.toEqual(expect.arrayContaining([expect.stringMatching(/token|resourcequotas|limitranges/)]));
    }
  });
});

describe("an account for each role", () => {
  const objects = renderAccounts("account-per-role", { hostsInstances: true });
  const rolesBoundTo = (role: Role): readonly InstallObject[] => {
    const isOf = ({ subjects }: InstallObject) =>
      (subjects as readonly { readonly name: string }[] | undefined)?.some(({ name }) => name === accountOfRole(role)) === true;
    const bound = objects
      .filter(isOf)
      .map(({ roleRef, metadata }) => `${(roleRef as { readonly name: string }).name} ${metadata.namespace}`);
    return objects.filter(({ kind, metadata }) => kind.endsWith("Role") && bound.includes(`${metadata.name} ${metadata.namespace}`));
  };
  const verbsOf = (role: Role, resource: string): readonly string[] => [
    ...new Set(rulesOf(rolesBoundTo(role)).flatMap((rule) => (rule.resources.includes(resource) ? rule.verbs : []))),
  ];

  it("has together what one account for all has", () => {
    const together = <T>(of: (roles: readonly Role[]) => readonly T[]): ReadonlySet<string> =>
      new Set(ROLES.flatMap((role) => of([role])).map((right) => JSON.stringify(right)));
    expect(together(apiClusterRights)).toEqual(new Set(apiClusterRights(ROLES).map((right) => JSON.stringify(right))));
    expect(together(engineClusterRights)).toEqual(new Set(engineClusterRights(ROLES).map((right) => JSON.stringify(right))));
  });

  it("lets the role that reads what users write change no right and no Secret, nor act as anybody", () => {
    for (const resource of ["roles", "rolebindings", "clusterroles", "clusterrolebindings"])
      expect(verbsOf("workspace", resource)).toEqual([]);
    expect(verbsOf("workspace", "secrets").toSorted()).toEqual(["get", "list", "watch"]);
    expect(verbsOf("workspace", "serviceaccounts")).toEqual(["list"]);
  });

  it("lets the reconciler alone bind, escalate and impersonate, and nobody but it and the provisioner write rights", () => {
    const holdersOf = (verb: string): readonly Role[] =>
      ROLES.filter((role) => rulesOf(rolesBoundTo(role)).some(({ verbs }) => verbs.includes(verb)));
    for (const verb of ["bind", "escalate", "impersonate"]) expect(holdersOf(verb)).toEqual(["reconciler"]);
    expect(ROLES.filter((role) => verbsOf(role, "rolebindings").includes("create"))).toEqual(["reconciler", "provisioner"]);
  });

  it("keeps what is for instances in ClusterRoles of their own, which another installation leaves out", () => {
    const without = renderAccounts("account-per-role", { hostsInstances: false });
    const more = objects.filter((object) => !without.some((one) => JSON.stringify(one) === JSON.stringify(object)));
    expect(new Set(more.map(({ kind }) => kind))).toEqual(new Set(["ClusterRole", "ClusterRoleBinding"]));
    expect(more.map(({ metadata }) => metadata.name)).toEqual(
      (["scheduler", "reconciler", "provisioner", "health", "api"] as const).flatMap((role) => [
        `argosy-${role}-engine`,
        `argosy-${role}-engine`,
      ]),
    );
  });

  it("names no object twice, alone or beside what a cluster that hosts instances needs", () => {
    for (const layout of ["one-account", "account-per-role"] as const) {
      const all = [...renderAccounts(layout, { hostsInstances: true }), ...renderEngineClusterObjects()];
      const byKey = Map.groupBy(all, ({ kind, metadata }) => `${kind}/${metadata.namespace ?? ""}/${metadata.name}`);
      for (const same of byKey.values()) expect(new Set(same.map((object) => JSON.stringify(object))).size).toBe(1);
    }
  });
});
