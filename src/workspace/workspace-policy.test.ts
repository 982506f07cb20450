import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FleetSpec } from "../domain/fleet.ts";
import type { Instance } from "../domain/instance.ts";
import { aNamespace } from "./testing/builders.ts";
import {
  admitsTheSame,
  type ClassedNamespace,
  closedPolicy,
  isWorkspace,
  newUnitOf,
  quotaOf,
  requotedNamespaces,
  workspacePolicy,
} from "./workspace-policy.ts";

const spec = {
  pools: [
    { name: "standard", class: { region: "eu", tier: "shared", trust: "public" } },
    { name: "other", class: { region: "us", tier: "shared", trust: "public" } },
  ],
  workspaces: { selector: { gitops: "yes" }, quota: { deployments: 7, syncsPerMinute: 1 } },
  egress: { allow: ["10.0.0.0/8"], http: [] },
  deployments: { allowedGroups: ["example.org"] },
} as unknown as FleetSpec;
const instances = [
  { name: "eu", namespace: "argocd-eu" },
  { name: "eu-10", namespace: "argocd-eu-10" },
] as unknown as Instance[];

describe("the policy of workspaces", () => {
  it("is what the fleet declares: class of the first pool, selector, quota, egress, names to hide with the longest first", () => {
    expect(workspacePolicy(spec, instances)).toEqual({
      newUnit: { class: "eu/shared/public", trustClass: "public" },
      ...{ classes: [], groups: [] },
      egress: spec.egress,
      selector: { gitops: "yes" },
      everyNamespace: false,
      quota: { deployments: 7, environments: 50, syncsPerMinute: 1 },
      classQuotas: [],
      recordedClasses: new Map(),
      recordedLabels: [],
      instanceNamespaces: new Set(["argocd-eu", "argocd-eu-10"]),
      kinds: { allowedGroups: ["example.org"] },
      hidden: ["argocd-eu-10", "argocd-eu", "eu-10", "eu"],
    });
  });

  it("makes no namespace a workspace that nothing says of, and never the cluster's, ours or an instance's", () => {
    const is = (name: string, policy: { readonly selector?: Record<string, string>; readonly everyNamespace?: boolean }) =>
      isWorkspace(
        { name, labels: { a: "b" } },
        { selector: {}, everyNamespace: false, instanceNamespaces: new Set(["argocd-eu"]), ...policy },
      );
    expect(is("jane", {})).toBe(false);
    expect(is("jane", { everyNamespace: true })).toBe(true);
    expect(is("jane", { selector: { a: "b" } })).toBe(true);
    expect(is("jane", { selector: { a: "c" } })).toBe(false);
    for (const name of ["kube-system", "argosy-system", "argocd-eu"]) expect(is(name, { everyNamespace: true }), name).toBe(false);
  });

  it("admits nothing while there is no pool", () => {
    expect(workspacePolicy({ ...spec, pools: [] }, []).newUnit).toBeUndefined();
  });

  it("gives a workspace the class of the first rule whose labels its namespace has, else that of the first pool", () => {
    const classes = [
      { labels: { "class.argosy.dev/region": "us", "class.argosy.dev/tier": "gold" }, class: "us/gold/public" },
      { labels: { "class.argosy.dev/region": "us" }, class: "us/shared/internal" },
    ];
    const policy = workspacePolicy({ ...spec, workspaces: { ...spec.workspaces, classes } }, []);
    const given = (labels: Record<string, string>) => newUnitOf({ labels }, policy);
    expect(given({})).toEqual({ class: "eu/shared/public", trustClass: "public" });
    expect(given({ "class.argosy.dev/tier": "gold" })).toEqual(given({}));
    expect(given({ "class.argosy.dev/region": "us", team: "a" })).toEqual({ class: "us/shared/internal", trustClass: "internal" });
    expect(given({ "class.argosy.dev/region": "us", "class.argosy.dev/tier": "gold" })).toEqual({
      ...{ class: "us/gold/public", trustClass: "public" },
    });
    expect(newUnitOf({ labels: classes[0]?.labels ?? {} }, { ...policy, newUnit: undefined })).toBeUndefined();
  });

  it("puts a workspace into the groups that its namespace's labels say, and into none where no rule is declared", () => {
    const label = "class.argosy.dev/customer";
    const policy = workspacePolicy({ ...spec, workspaces: { ...spec.workspaces, groups: [{ label, rule: "apart" }] } }, []);
    expect(newUnitOf({ labels: { [label]: "acme" } }, policy)).toEqual({
      ...{ class: "eu/shared/public", trustClass: "public" },
      groups: { apart: { [label]: "acme" } },
    });
    expect(newUnitOf({ labels: { [label]: "acme" } }, workspacePolicy(spec, []))).not.toHaveProperty("groups");
  });

  it("is the same admission with other instances, and another one with another class, quota, selector or egress", () => {
    const policy = workspacePolicy(spec, instances);
    expect(admitsTheSame(policy, workspacePolicy(spec, []))).toBe(true);
    expect(admitsTheSame(policy, closedPolicy)).toBe(false);
    for (const other of [
      { quota: { deployments: 8, environments: 50, syncsPerMinute: 1 } },
      { classQuotas: [{ class: "us/shared/public", deployments: 8 }] },
      { selector: {} },
      { everyNamespace: true },
      { egress: { allow: [], http: [] } },
      { newUnit: undefined },
      { classes: [{ labels: { a: "b" }, class: "us/shared/internal" }] },
      { groups: [{ label: "class.argosy.dev/customer", rule: "apart" as const }] },
    ])
      expect(admitsTheSame(policy, { ...policy, ...other })).toBe(false);
  });
});

describe("how much a workspace may have", () => {
  const [EU, US, GOLD] = ["eu/shared/public", "us/shared/public", "us/gold/public"];
  const US_LABEL = { "class.argosy.dev/region": "us" };
  const byClass = {
    ...spec,
    workspaces: {
      ...spec.workspaces,
      classes: [{ labels: US_LABEL, class: US }],
      classQuotas: [
        { class: US, deployments: 70, syncsPerMinute: 2 },
        { class: GOLD, deployments: 700, environments: 3 },
      ],
    },
  } as FleetSpec;
  const recorded = (classes: readonly string[], over: Partial<ClassedNamespace> = {}): ClassedNamespace => ({
    ...{ namespace: "jane", namespaceUid: "namespace-uid-1", classes },
    ...over,
  });
  const policyOf = (...known: readonly ClassedNamespace[]) => workspacePolicy(byClass, [], known);
  const deployments = (policy: ReturnType<typeof policyOf>, labels: Record<string, string> = {}) =>
    quotaOf(aNamespace({ labels }), policy).deployments;

  it("goes by the classes that its units have and are to have, whatever its labels ask for", () => {
    expect(deployments(policyOf(recorded([EU])), US_LABEL)).toBe(7);
    expect(deployments(policyOf(recorded([US])))).toBe(70);
    expect(deployments(policyOf(recorded([US, GOLD].sort())))).toBe(70);
    expect(deployments(policyOf(recorded([GOLD]), recorded([US], { namespace: "bob", namespaceUid: "namespace-uid-2" })))).toBe(700);
  });

  it("goes by the class that was assigned while it has no unit, and before that by its labels, and the first pool", () => {
    expect(deployments(policyOf(recorded([], { assigned: GOLD })), US_LABEL)).toBe(700);
    expect(deployments(policyOf(recorded([EU], { assigned: GOLD })), US_LABEL)).toBe(7);
    expect(deployments(policyOf(recorded([])), US_LABEL)).toBe(70);
    expect(deployments(policyOf(), US_LABEL)).toBe(70);
    expect(deployments(policyOf())).toBe(7);
  });

  it("is that of the namespace's own uid, and what all may have while the namespace is not seen", () => {
    expect(deployments(policyOf(recorded([GOLD], { namespaceUid: "of the one before" })))).toBe(7);
    expect(quotaOf(undefined, policyOf(recorded([GOLD])))).toEqual({ deployments: 7, environments: 50, syncsPerMinute: 1 });
  });

  it("is a function of the class alone: labels that users set, names and other workspaces change nothing", () => {
    const labels = fc.dictionary(fc.string(), fc.string());
    const classes = fc.uniqueArray(fc.constantFrom(EU, US, GOLD), { minLength: 1 });
    const others = fc.array(fc.record({ namespace: fc.string(), namespaceUid: fc.uuid(), classes, assigned: fc.constantFrom(US, GOLD) }));
    fc.assert(
      fc.property(fc.tuple(labels, labels), classes, fc.tuple(others, others), ([mine, theirs], own, [some, more]) => {
        const one = { name: "jane", uid: "a", labels: mine };
        const other = { name: "bob", uid: "b", labels: theirs };
        const first = policyOf(...some, recorded(own, { namespaceUid: "a" }));
        const second = policyOf(recorded(own, { namespaceUid: "b", namespace: "bob" }), ...more);
        expect(quotaOf(one, first)).toEqual(quotaOf(other, second));
        expect(quotaOf({ uid: "new", labels: mine }, first)).toEqual(quotaOf({ uid: "new", labels: theirs }, second));
      }),
    );
  });

  it("is another one for those namespaces alone whose classes now say something else", () => {
    const seen = ["jane", "bob", "eve"].map((name, index) => aNamespace({ name, uid: `namespace-uid-${index + 1}` }));
    const requoted = (before: readonly ClassedNamespace[], now: readonly ClassedNamespace[]) =>
      requotedNamespaces(policyOf(...before), policyOf(...now), (name) => seen.find((one) => one.name === name));
    const bob = (classes: readonly string[]) => recorded(classes, { namespace: "bob", namespaceUid: "namespace-uid-2" });
    expect(requoted([recorded([EU]), bob([US])], [recorded([US]), bob([US])])).toEqual(["jane"]);
    expect(requoted([recorded([EU]), bob([US])], [recorded([GOLD]), bob([GOLD, US])])).toEqual(["bob", "jane"]);
    expect(requoted([], [recorded([EU])])).toEqual([]);
    expect(requoted([recorded([GOLD])], [])).toEqual(["jane"]);
    expect(requoted([recorded([EU])], [recorded(["eu/other/public"])])).toEqual([]);
    expect(requoted([recorded([EU], { namespaceUid: "of the one before" })], [])).toEqual([]);
    expect(requoted([], [recorded([US], { namespace: "unseen" })])).toEqual([]);
  });
});
