import { describe, expect, it } from "vitest";
import type { FleetSpec } from "../domain/fleet.ts";
import type { Instance } from "../domain/instance.ts";
import { admitsTheSame, closedPolicy, isWorkspace, newUnitOf, workspacePolicy } from "./workspace-policy.ts";

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
      deployments: 7,
      environments: 50,
      syncsPerMinute: 1,
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
      { deployments: 8 },
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
