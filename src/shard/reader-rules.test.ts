import { describe, expect, test } from "vitest";
import type { DiscoveredResource } from "../domain/parse-discovery.ts";
import type { PolicyRule } from "./deployer-rules.ts";
import { deployerRules } from "./deployer-rules.ts";
import { readerRules, withoutAwaited } from "./reader-rules.ts";

const kind = (group: string, name: string, over: Partial<DiscoveredResource> = {}): DiscoveredResource => ({
  group,
  name,
  namespaced: true,
  verbs: ["create", "get", "list", "watch"],
  ...over,
});
const declared = { present: [], declared: { allowedGroups: ["*"], refusedGroups: ["refused.example"] } };
const kindsIn = (rules: readonly PolicyRule[]) =>
  rules.flatMap(({ apiGroups, resources }) => resources.map((name) => `${name}.${apiGroups[0]}`));

describe("the role that instances read by", () => {
  const resources = [
    kind("", "configmaps"),
    kind("", "pods"),
    kind("apps", "deployments"),
    kind("apps", "deployments/scale"),
    ...["exec", "attach", "portforward", "proxy", "log", "eviction", "ephemeralcontainers"].map((sub) => kind("", `pods/${sub}`)),
    kind("", "services/proxy"),
    kind("", "nodes", { namespaced: false }),
    kind("", "nodes/proxy", { namespaced: false }),
    kind("", "serviceaccounts/token"),
    kind("", "events"),
    kind("", "resourcequotas"),
    kind("coordination.k8s.io", "leases"),
    kind("rbac.authorization.k8s.io", "roles"),
    kind("argoproj.io", "applications"),
    kind("managed-gitops.redhat.com", "gitopsdeployments"),
    kind("things.refused.example", "things"),
    kind("metrics.k8s.io", "pods", { verbs: ["get", "list"] }),
  ];

  test("reads the kinds that may be deployed and what tells of new ones, and nothing by which commands are run", () => {
    const rules = readerRules({ resources, silentGroups: [] }, declared);
    expect(kindsIn(rules)).toEqual([
      "configmaps.",
      "pods.",
      "customresourcedefinitions.apiextensions.k8s.io",
      "apiservices.apiregistration.k8s.io",
      "deployments.apps",
    ]);
    for (const { verbs } of rules) expect(verbs).toEqual(["get", "list", "watch"]);
  });

  test("keeps what it read of a group whose server is silent, and takes no wildcard over", () => {
    const present = [
      { apiGroups: ["*"], resources: ["*"], verbs: ["get"] },
      { apiGroups: ["silent.example"], resources: ["*", "things", "things/scale"], verbs: ["get"] },
    ];
    const rules = readerRules({ resources: [], silentGroups: ["silent.example", "*"] }, { ...declared, present });
    expect(JSON.stringify(rules)).not.toContain("*");
    expect(kindsIn(rules)).toContain("things.silent.example");
    expect(kindsIn(rules)).not.toContain("things/scale.silent.example");
  });
});

describe("a kind that instances may not watch yet", () => {
  const discovery = { resources: [kind("apps", "deployments"), kind("apps", "deployments/scale"), kind("", "events")], silentGroups: [] };
  const wanted = deployerRules(discovery, declared);
  const awaited = readerRules(discovery, declared);

  test("is not deployed, and its subresources neither; what nobody watches is", () => {
    expect(kindsIn(withoutAwaited(wanted, { present: [], awaited }))).toEqual(["events."]);
  });

  test("goes on being deployed where it was before", () => {
    const present = [{ apiGroups: ["apps"], resources: ["deployments", "deployments/scale"], verbs: [] }];
    expect(withoutAwaited(wanted, { present, awaited })).toEqual(wanted);
  });

  test("is deployed once nothing is awaited", () => {
    expect(withoutAwaited(wanted, { present: [], awaited: [] })).toEqual(wanted);
  });
});
