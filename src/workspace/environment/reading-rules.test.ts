import { describe, expect, it } from "vitest";
import type { DiscoveredResource } from "../../domain/parse-discovery.ts";
import { builtInRules, markOf, readingRules } from "./reading-rules.ts";

const EVERYWHERE = { isNamespaced: false };
const kind = (group: string, name: string, over: Partial<DiscoveredResource> = {}): DiscoveredResource => ({
  group,
  name,
  namespaced: true,
  verbs: ["create", "get", "list", "watch"],
  ...over,
});
const rulesOf = (resources: readonly DiscoveredResource[], { isNamespaced } = EVERYWHERE, silentGroups: readonly string[] = []) =>
  readingRules({ resources, silentGroups }, { isNamespaced });
/** The rules beside that of the core group, as `group: resources`. */
const beside = (...args: Parameters<typeof rulesOf>) =>
  rulesOf(...args)
    ?.slice(1)
    .map(({ apiGroups, resources }) => `${apiGroups.join(" ")}: ${resources.join(" ")}`);

describe("the rules by which an account reads a user's cluster", () => {
  it("name whole objects of the core group, whatever the cluster says of it, and nothing by which commands are run", () => {
    const said = ["pods", "pods/exec", "nodes/proxy", "secrets", "*", "endpoints", "events"].map((name) => kind("", name));
    const [core, ...others] = rulesOf(said) ?? [];
    expect(core).toEqual({
      apiGroups: [""],
      resources: [
        ...["configmaps", "limitranges", "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates"],
        ...["replicationcontrollers", "resourcequotas", "secrets", "serviceaccounts", "services"],
      ],
      verbs: ["get", "list", "watch"],
    });
    expect(others).toEqual([]);
  });

  it("name groups of definitions whole, so that a kind that is new in one needs no visit", () => {
    const own = [kind("shop.example", "orders"), kind("shop.example", "orders/status"), kind("shop.example", "carts")];
    const apps = [kind("apps", "deployments"), kind("apps", "deployments/scale"), kind("apps", "deployments/status")];
    expect(beside([...own, ...apps])).toEqual(["apps shop.example: *"]);
  });

  it("name each kind of a group that shows any other subresource, without it", () => {
    const machines = ["virtualmachineinstances", "virtualmachineinstances/console", "virtualmachineinstances/vnc"];
    expect(beside(machines.map((name) => kind("subresources.kubevirt.io", name)))).toEqual([
      "subresources.kubevirt.io: virtualmachineinstances",
    ]);
    const images = ["imagestreams", "imagestreams/layers", "imagestreams/status", "imagestreamtags"];
    expect(beside(images.map((name) => kind("image.openshift.io", name)))).toEqual(["image.openshift.io: imagestreams imagestreamtags"]);
    expect(beside([kind("cluster.karmada.io", "clusters"), kind("cluster.karmada.io", "clusters/proxy")])).toEqual([
      "cluster.karmada.io: clusters",
    ]);
  });

  it("leave out a group that has nothing but subresources, or nothing that is read", () => {
    expect(beside([kind("only.example", "things/console")])).toEqual([]);
    expect(beside([kind("authorization.k8s.io", "subjectaccessreviews", { verbs: ["create"] })])).toEqual([]);
  });

  it("leave out what the settings of instances leave out", () => {
    const leases = [kind("coordination.k8s.io", "leases"), kind("coordination.k8s.io", "leasecandidates")];
    expect(beside([...leases, kind("events.k8s.io", "events"), kind("discovery.k8s.io", "endpointslices")])).toEqual([
      "coordination.k8s.io: leasecandidates",
    ]);
  });

  it("name what a silent server last said kind by kind: which subresources it has by now, nobody knows", () => {
    expect(beside([kind("metrics.k8s.io", "pods", { verbs: ["get", "list"] })], EVERYWHERE, ["metrics.k8s.io"])).toEqual([
      "metrics.k8s.io: pods",
    ]);
  });

  it("name in a namespace what stands in namespaces", () => {
    const resources = [
      kind("a.example", "things"),
      kind("a.example", "walls", { namespaced: false }),
      kind("b.example", "b", { namespaced: false }),
    ];
    expect(beside(resources, { isNamespaced: true })).toEqual(["a.example: *"]);
    expect(rulesOf([], { isNamespaced: true })?.[0]?.resources).not.toContain("nodes");
    expect(rulesOf([], { isNamespaced: true })?.[0]?.resources).toContain("secrets");
  });

  it.each(["*", "", "a b", "A.example", "a/b", `${"x".repeat(254)}`, "\u0000"])(
    "take no group from a cluster that calls one %j",
    (group) => {
      expect(beside([kind(group, "things")])).toEqual([]);
    },
  );

  it.each(["*", "", "Things", "a b", "things/*", "pods/exec/more"])("take no wildcard from a cluster that calls a resource %j", (name) => {
    const said = beside([kind("odd.example", "good"), kind("odd.example", name)]);
    expect(said).toEqual(["odd.example: good"]);
  });

  it("are a few hundred bytes for a usual cluster, and none for one that names more than a role holds", () => {
    const groups = (count: number) => Array.from({ length: count }, (_, index) => kind(`group-${index}.provider.example`, "things"));
    expect(JSON.stringify(rulesOf(groups(30))).length).toBeLessThan(2_000);
    expect(rulesOf(groups(2_000))).toHaveLength(2);
    expect(rulesOf(groups(2_001))).toBeUndefined();
    const long = Array.from({ length: 1_000 }, (_, index) => kind("g.example", `${"x".repeat(240)}${index}`));
    expect(rulesOf([...long, kind("g.example", "things/console")])).toBeUndefined();
  });

  it("are the same whatever order a cluster names them in, and have the same mark", () => {
    const resources = [
      kind("b.example", "b"),
      kind("a.example", "a"),
      kind("c.example", "d/vnc"),
      kind("c.example", "d"),
      kind("c.example", "a"),
    ];
    expect(rulesOf(resources)).toEqual(rulesOf(resources.toReversed()));
    expect(markOf(rulesOf(resources) ?? [])).toBe(markOf(rulesOf(resources.toReversed()) ?? []));
    expect(markOf(rulesOf(resources) ?? [])).not.toBe(markOf(rulesOf(resources.slice(1)) ?? []));
  });

  it.each([true, false])("have no wildcard but for known groups where the cluster says nothing (in a namespace: %s)", (isNamespaced) => {
    const rules = builtInRules({ isNamespaced });
    expect(rules[0]).toEqual(rulesOf([], { isNamespaced })?.[0]);
    expect(rules.flatMap(({ apiGroups }) => apiGroups)).not.toContain("*");
    expect(rules.filter(({ resources }) => resources.includes("*")).flatMap(({ apiGroups }) => apiGroups)).toContain("apps");
  });
});
