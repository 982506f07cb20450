import { describe, expect, it } from "vitest";
import { aFleet, aPool } from "../store/testing/builders.ts";
import { millis } from "./clock.ts";
import type { CatalogueEntry, FleetSpec } from "./fleet.ts";
import { approvalsFor, firstMaker, GUARDED, isSamePerson, stateOfProposal } from "./fleet-approval.ts";

const release = (version: string, over: Partial<CatalogueEntry> = {}): CatalogueEntry => ({
  ...{ version, image: `argocd:v${version}`, redisImage: "redis:8", crds: "/crds" },
  ...over,
});
const cluster = { name: "engine", region: "eu", access: { kind: "inCluster" as const } };
const versions = (...catalogue: readonly CatalogueEntry[]) => ({ default: "3.5.7", floor: "3.0.0", catalogue });
const BEFORE = aFleet({
  engineClusters: [cluster],
  versions: versions(release("3.5.7")),
  egress: { allow: ["10.1.0.0/16"], http: [], certificateAuthorities: [{ host: "git.example", certificates: "PEM" }] },
  deployments: { allowedGroups: [], refusedGroups: ["kyverno.io"] },
});
const egress = (over: Partial<FleetSpec["egress"]>): Partial<FleetSpec> => ({ egress: { ...BEFORE.egress, ...over } });
const trusting = (name: string, trust: string) => aPool(name, { class: { region: "eu", tier: "shared", trust } });

describe("what needs a second person", () => {
  it.each<[string, Partial<FleetSpec>, readonly string[]]>([
    ["nothing", {}, []],
    ["quotas", { workspaces: { ...BEFORE.workspaces, quota: { deployments: 1, syncsPerMinute: 1 } } }, []],
    ["quotas of classes", { workspaces: { ...BEFORE.workspaces, classQuotas: [{ class: "eu/shared/public", deployments: 1 }] } }, []],
    ["sizes of pools", { pools: [aPool("standard", { instances: { min: 3, max: 4 } })] }, []],
    ["another pool of a trust that is there", { pools: [aPool("standard"), aPool("more")] }, []],
    ["entries for each workspace", { pools: [aPool("standard", { entries: "per-workspace" })] }, []],
    ["a release that is left out", { versions: versions() }, []],
    ["the releases that one may come from", { versions: versions(release("3.5.7", { upgradesFrom: ["3.4"] })) }, []],
    ["what new instances get", { versions: { ...BEFORE.versions, default: "3.5.6" } }, []],
    ["the order of releases and clusters", { engineClusters: [...BEFORE.engineClusters].reverse() }, []],
    [
      "a release",
      { versions: versions(release("3.5.7"), release("3.5.8")) },
      ["versions.catalogue.3.5.8.crds", "versions.catalogue.3.5.8.image", "versions.catalogue.3.5.8.redisImage"],
    ],
    ["an image", { versions: versions(release("3.5.7", { image: "mine:v3.5.7" })) }, ["versions.catalogue.3.5.7.image"]],
    ["the image of redis", { versions: versions(release("3.5.7", { redisImage: "mine:8" })) }, ["versions.catalogue.3.5.7.redisImage"]],
    ["where definitions are", { versions: versions(release("3.5.7", { crds: "/mine" })) }, ["versions.catalogue.3.5.7.crds"]],
    ["addresses inside", egress({ allow: ["0.0.0.0/0"] }), ["egress.allow"]],
    ["addresses that are left out", egress({ allow: [] }), ["egress.allow"]],
    ["API servers", egress({ apiServers: ["10.0.0.1/32"] }), ["egress.apiServers"]],
    ["hosts over plain HTTP", egress({ http: ["git.example"] }), ["egress.http"]],
    ["certificate authorities", egress({ certificateAuthorities: [] }), ["egress.certificateAuthorities"]],
    ["host keys", egress({ sshKnownHosts: "git.example ssh-ed25519 AAAA" }), ["egress.sshKnownHosts"]],
    ["another engine cluster", { engineClusters: [cluster, { ...cluster, name: "other" }] }, ["engineClusters.other"]],
    ["the kubeconfig of one", { engineClusters: [{ ...cluster, access: { kind: "secret", secret: "a/b" } }] }, ["engineClusters.engine"]],
    ["an engine cluster that is left out", { engineClusters: [] }, ["engineClusters.engine"]],
    ["refused groups", { deployments: { allowedGroups: [], refusedGroups: [] } }, ["deployments.refusedGroups"]],
    ["allowed groups", { deployments: { ...BEFORE.deployments, allowedGroups: ["example.org"] } }, ["deployments.allowedGroups"]],
    ["which namespaces are workspaces", { workspaces: { ...BEFORE.workspaces, selector: { team: "a" } } }, ["workspaces.selector"]],
    ["that every namespace is one", { workspaces: { selector: {}, quota: BEFORE.workspaces.quota } }, ["workspaces.everyNamespace"]],
    [
      "which workspaces get another class",
      { workspaces: { ...BEFORE.workspaces, classes: [{ labels: { "class.argosy.dev/a": "b" }, class: "eu/shared/public" }] } },
      ["workspaces.classes"],
    ],
    ["the trust of a pool", { pools: [trusting("standard", "internal")] }, ["pools.standard.class.trust"]],
    ["a pool of a new trust", { pools: [aPool("standard"), trusting("mine", "internal")] }, ["pools.mine.class.trust"]],
  ])("%s", (_what, change, paths) => {
    const needs = approvalsFor(BEFORE, { ...BEFORE, ...change });
    expect(needs.map(({ path }) => path)).toEqual(paths);
    for (const { reason, before, after } of needs) expect([reason !== "", before === after]).toEqual([true, false]);
  });

  it("is an entry that workspaces are to share from now on, in a pool or as the first of all", () => {
    const apart = { ...BEFORE, pools: [aPool("standard", { entries: "per-workspace" })] };
    const needs = (pools: FleetSpec["pools"]) => approvalsFor(apart, { ...apart, pools }).map(({ path }) => path);
    expect(needs([aPool("standard")])).toEqual(["pools.standard.entries"]);
    expect(needs([...apart.pools, aPool("more")])).toEqual(["pools.more.entries"]);
    expect(needs([...apart.pools, aPool("more", { entries: "per-workspace" })])).toEqual([]);
    expect(needs([])).toEqual([]);
  });

  it("is found where a whole section goes, and where nothing was declared", () => {
    const { certificateAuthorities: _authorities, ...rest } = BEFORE.egress;
    expect(approvalsFor(BEFORE, { ...BEFORE, egress: rest })).toMatchObject([
      { path: "egress.certificateAuthorities", before: expect.stringContaining("git.example"), after: "not set" },
    ]);
    expect(approvalsFor(undefined, BEFORE).map(({ path }) => path)).toContain("egress.allow");
  });

  it("has a line for each field, once", () => {
    expect(new Set(GUARDED.map(({ path }) => path)).size).toBe(GUARDED.length);
  });
});

describe("a proposal", () => {
  const proposal = { base: 3, expiresAt: millis(100), end: undefined };
  const end = { as: "REJECTED", actor: "anna", at: millis(50), reason: "no" } as const;
  it.each([
    [proposal, 99, 3, "OPEN"],
    [proposal, 100, 3, "EXPIRED"],
    [proposal, 99, 4, "OUTDATED"],
    [{ ...proposal, end }, 200, 4, "REJECTED"],
  ])("is, %j at %d with revision %d in force: %s", (one, now, revision, state) => {
    expect(stateOfProposal(one, { now: millis(now), revision })).toBe(state);
  });

  it("is made with a token behind which is whoever made the first of a line of tokens", () => {
    const makers = new Map([
      ["first", "database:root"],
      ["second", "first"],
      ["third", "second"],
      ["of-before", undefined],
      ["of-oidc", "oidc:corp:anna"],
      ["one", "other"],
      ["other", "one"],
    ]);
    const found = ["first", "second", "third", "of-before", "of-oidc", "oidc:corp:anna", "unknown"].map((name) => firstMaker(name, makers));
    expect(found).toEqual(["first", "first", "first", "of-before", "oidc:corp:anna", "oidc:corp:anna", "unknown"]);
    expect(firstMaker("one", makers)).toBe("other");
  });

  it.each([
    [{ actor: "otto" }, { actor: "otto" }, true],
    [{ actor: "otto" }, { actor: "anna" }, false],
    [{ actor: "otto", owner: "o@example" }, { actor: "otto-admin", owner: "o@example" }, true],
    [{ actor: "otto", owner: "o@example" }, { actor: "anna" }, false],
    [{ actor: "otto", owner: "o@example" }, { actor: "anna", owner: "a@example" }, false],
  ])("counts %j and %j as one person: %s", (one, other, isSame) => {
    expect(isSamePerson(one, other)).toBe(isSame);
  });
});
