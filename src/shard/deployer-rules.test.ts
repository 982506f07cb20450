import { describe, expect, test } from "vitest";
import { type DiscoveredResource, parseDiscovery, parseGroups, parseLegacyResources } from "../domain/parse-discovery.ts";
import { deployerRules, mayDeployInWorkspaces, sameRules } from "./deployer-rules.ts";
import { parseRole, parseRules } from "./parse-rights.ts";

const kind = (group: string, name: string, over: Partial<DiscoveredResource> = {}): DiscoveredResource => ({
  group,
  name,
  namespaced: true,
  verbs: ["create", "get", "list"],
  ...over,
});
const OPEN = { allowedGroups: ["*"], refusedGroups: [] };
const rulesOf = (...resources: readonly DiscoveredResource[]) =>
  deployerRules({ resources, silentGroups: [] }, { present: [], declared: OPEN });

describe("the role that deployments are made under", () => {
  test("holds everything that can be created in a namespace, one sorted rule a group", () => {
    const rules = rulesOf(
      kind("apps", "deployments"),
      kind("", "services"),
      kind("", "configmaps"),
      kind("apps", "deployments/scale"),
      kind("apps", "deployments"),
    );
    expect(rules.map(({ apiGroups, resources }) => [apiGroups, resources])).toEqual([
      [[""], ["configmaps", "services"]],
      [["apps"], ["deployments", "deployments/scale"]],
    ]);
    expect(rules[0]?.verbs).toEqual(["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]);
  });

  test("holds nothing that could widen rights, lift limits, or steer Argosy and Argo CD", () => {
    const forbidden = [
      kind("rbac.authorization.k8s.io", "rolebindings"),
      kind("authorization.openshift.io", "rolebindings"),
      kind("", "serviceaccounts/token"),
      kind("", "resourcequotas"),
      kind("", "limitranges"),
      kind("", "bindings"),
      kind("", "pods/exec"),
      kind("", "pods/binding"),
      kind("", "pods/ephemeralcontainers"),
      kind("apps", "deployments/status"),
      kind("a", "b/scale/deeper"),
      kind("argoproj.io", "applications"),
      kind("managed-gitops.redhat.com", "gitopsdeployments"),
      kind("argosy.dev", "anything"),
      kind("authorization.k8s.io", "localsubjectaccessreviews"),
      kind("", "nodes", { namespaced: false }),
      kind("metrics.k8s.io", "pods", { verbs: ["get", "list"] }),
    ];
    expect(rulesOf(...forbidden)).toEqual([]);
    expect(rulesOf(kind("", "serviceaccounts"))).toHaveLength(1);
  });

  test("never names everything at once", () => {
    const present = [
      { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
      { apiGroups: ["silent"], resources: ["*", "things"], verbs: ["*"] },
      { apiGroups: [], resources: [], verbs: [] },
    ];
    const rules = deployerRules({ resources: [], silentGroups: ["silent", "*"] }, { present, declared: OPEN });
    expect(JSON.stringify(rules)).not.toContain("*");
    expect(rules).toMatchObject([{ apiGroups: ["silent"], resources: ["things"] }]);
  });

  test("keeps what it held of a group whose server is silent, unless that is forbidden", () => {
    const present = [
      kind("metrics.example", "things"),
      kind("gone.example", "others"),
      kind("argoproj.io", "applications"),
      kind("", "resourcequotas"),
    ].map(({ group, name }) => ({ apiGroups: [group], resources: [name], verbs: [] }));
    const rules = deployerRules(
      { resources: [kind("metrics.example", "new")], silentGroups: ["metrics.example", "argoproj.io", ""] },
      { present, declared: OPEN },
    );
    expect(rules).toMatchObject([{ apiGroups: ["metrics.example"], resources: ["new", "things"] }]);
  });

  test("holds no kind by which an operator with more rights could be instructed, whoever installs it", () => {
    const operators = [
      kind("kustomize.toolkit.fluxcd.io", "kustomizations"),
      kind("operators.coreos.com", "subscriptions"),
      kind("kyverno.io", "policies"),
      kind("s3.aws.upbound.io", "buckets"),
      kind("cert-manager.io", "issuers"),
      kind("acme.cert-manager.io", "challenges"),
      kind("tekton.dev", "pipelineruns"),
      kind("helm.cattle.io", "helmcharts"),
    ];
    const others = [kind("apps", "deployments"), kind("notkyverno.io", "things"), kind("example.org", "kyverno.io")];
    const present = operators.map(({ group, name }) => ({ apiGroups: [group], resources: [name], verbs: [] }));
    const silentGroups = operators.map(({ group }) => group);
    const rules = deployerRules({ resources: [...operators, ...others], silentGroups }, { present, declared: { allowedGroups: ["*"] } });
    expect(rules.map(({ apiGroups }) => apiGroups[0])).toEqual(["apps", "example.org", "notkyverno.io"]);
    const narrower = deployerRules(
      { resources: operators, silentGroups: [] },
      { present: [], declared: { allowedGroups: ["*"], refusedGroups: ["tekton.dev"] } },
    );
    expect(narrower.map(({ apiGroups }) => apiGroups[0])).not.toContain("tekton.dev");
    expect(narrower).toHaveLength(operators.length - 1);
  });

  test("holds nothing of an operator that somebody installs, until its group is declared, by its exact name", () => {
    const mayDeploy = (allowedGroups: readonly string[], ...[group, name]: [string, string]) =>
      mayDeployInWorkspaces(kind(group, name), { allowedGroups });
    expect(mayDeploy([], "example.org", "widgets")).toBe(false);
    expect(mayDeploy(["example.org"], "example.org", "widgets")).toBe(true);
    expect(mayDeploy(["example.org"], "deep.example.org", "widgets")).toBe(false);
    expect(mayDeploy(["example.org/gadgets"], "example.org", "widgets")).toBe(false);
    expect(mayDeploy(["example.org/gadgets"], "example.org", "gadgets")).toBe(true);
    expect(mayDeploy(["example.org/gadgets"], "example.org", "gadgets/scale")).toBe(true);
    expect(mayDeploy(["example.org/gadgets"], "example.org", "gadgets/status")).toBe(false);
    expect(mayDeploy(["kyverno.io"], "kyverno.io", "policies")).toBe(false);
    expect(mayDeploy(["rbac.authorization.k8s.io", "core/resourcequotas", "core"], "", "resourcequotas")).toBe(false);
    expect(mayDeploy(["rbac.authorization.k8s.io"], "rbac.authorization.k8s.io", "roles")).toBe(false);
  });

  test("holds of Kubernetes itself what stays in its namespace, and not whatever else these groups have", () => {
    const mayDeploy = (group: string, name: string, declared = {}) => mayDeployInWorkspaces(kind(group, name), declared);
    for (const [group, name] of [
      ["", "pods"],
      ["apps", "deployments"],
      ["apps", "deployments/scale"],
      ["batch", "cronjobs"],
      ["networking.k8s.io", "ingresses"],
    ] as const)
      expect(mayDeploy(group, name), name).toBe(true);
    const others = ["/endpoints", "discovery.k8s.io/endpointslices", "/events", "apps/controllerrevisions", "apps/somethingnew"];
    for (const [group = "", name = ""] of others.map((each) => each.split("/"))) {
      expect(mayDeploy(group, name), name).toBe(false);
      expect(mayDeploy(group, name, { allowedGroups: [`${group || "core"}/${name}`] }), name).toBe(true);
    }
    expect(mayDeploy("networking.k8s.io", "networkpolicies", { refusedGroups: ["networking.k8s.io/networkpolicies"] })).toBe(false);
    expect(mayDeploy("", "configmaps", { refusedGroups: ["core"] })).toBe(false);
    expect(mayDeploy("apps", "deployments", { refusedGroups: ["core"] })).toBe(true);
  });

  test("lets go of what a silent group held once that is no longer allowed", () => {
    const present = ["things", "others"].map((name) => ({ apiGroups: ["metrics.example"], resources: [name], verbs: [] }));
    const rules = deployerRules(
      { resources: [], silentGroups: ["metrics.example"] },
      { present, declared: { allowedGroups: ["metrics.example/things"] } },
    );
    expect(rules).toMatchObject([{ apiGroups: ["metrics.example"], resources: ["things"] }]);
  });

  test("is what it was until something differs", () => {
    const rules = rulesOf(kind("", "pods"));
    expect(sameRules(rules, parseRules(structuredClone(rules)))).toBe(true);
    expect(sameRules(rules, rulesOf(kind("", "pods"), kind("", "secrets")))).toBe(false);
    expect(
      sameRules(
        rules,
        rules.map((rule) => ({ ...rule, resourceNames: ["only-this"] })),
      ),
    ).toBe(false);
  });
});

describe("discovery", () => {
  const list = (...items: readonly unknown[]) => ({ kind: "APIGroupDiscoveryList", items });

  test("is read in the aggregated form, with subresources, and with groups that are out of date", () => {
    const apps = {
      metadata: { name: "apps" },
      versions: [
        {
          version: "v1",
          freshness: "Current",
          resources: [
            { resource: "deployments", scope: "Namespaced", verbs: ["create"], subresources: [{ subresource: "scale", verbs: ["get"] }] },
          ],
        },
      ],
    };
    const stale = { metadata: { name: "late.example" }, versions: [{ version: "v1", freshness: "Stale" }] };
    const core = { metadata: {}, versions: [{ version: "v1", resources: [{ resource: "nodes", scope: "Cluster", verbs: ["create"] }] }] };
    expect(parseDiscovery([list(core), list(apps, stale)])).toEqual({
      resources: [
        { group: "", name: "nodes", namespaced: false, verbs: ["create"] },
        { group: "apps", name: "deployments", namespaced: true, verbs: ["create"] },
        { group: "apps", name: "deployments/scale", namespaced: true, verbs: ["get"] },
      ],
      silentGroups: ["late.example"],
    });
    expect(parseDiscovery([list(core), { kind: "APIGroupList" }])).toBeUndefined();
  });

  test("is read in the old form", () => {
    expect(parseGroups({ groups: [{ name: "apps", versions: [{ groupVersion: "apps/v1" }, { groupVersion: 3 }] }] })).toEqual(["apps/v1"]);
    expect(parseLegacyResources("apps", { resources: [{ name: "deployments", namespaced: true, verbs: ["create", 1] }, 7] })).toEqual([
      { group: "apps", name: "deployments", namespaced: true, verbs: ["create"] },
      { group: "apps", name: "", namespaced: false, verbs: [] },
    ]);
  });
});

describe("rights that were seen", () => {
  const metadata = { name: "n", namespace: "a", uid: "u", resourceVersion: "1" };

  test("a role names the accounts it is about", () => {
    expect(parseRole({ metadata, rules: [{ resourceNames: ["u-1", "u-2"] }, 3] })?.resourceNames).toEqual(new Set(["u-1", "u-2"]));
    expect(parseRole({})).toBeUndefined();
  });
});
