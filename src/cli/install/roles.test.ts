import { describe, expect, it } from "vitest";
import { DEPLOYER_ROLE, READER_ROLE } from "../../domain/names.ts";
import { renderApiClusterObjects, renderEngineClusterObjects } from "./roles.ts";

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

  it("never use a wildcard but for reading", () => {
    for (const rule of [...rulesOf(renderApiClusterObjects()), ...rulesOf(renderEngineClusterObjects())]) {
      const hasWildcard = [...rule.apiGroups, ...rule.resources, ...rule.verbs].includes("*");
      if (hasWildcard) expect(rule.verbs).toEqual(["get", "list", "watch"]);
    }
  });

  it("give the deploying role no right over RBAC, tokens, quotas or limits", () => {
    for (const rule of rulesOf(renderApiClusterObjects(), DEPLOYER_ROLE)) {
      expect(rule.apiGroups).not.toContain("rbac.authorization.k8s.io");
      expect(rule.resources).not.toEqual(expect.arrayContaining([expect.stringMatching(/token|resourcequotas|limitranges/)]));
    }
  });
});
