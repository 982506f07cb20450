import { describe, expect, it } from "vitest";
import type { FleetSpec, PoolSpec } from "./fleet.ts";
import { diffFleet, fleetChangesText } from "./fleet-diff.ts";
import { asLoadVector } from "./load.ts";

const aPool = (name: string, changes: Partial<PoolSpec> = {}): PoolSpec => ({
  name,
  class: { region: "eu", tier: "shared", trust: "public" },
  engineClusters: ["eu-1"],
  instances: { min: 1, max: 3 },
  version: undefined,
  capacity: asLoadVector({ applications: 1_000_000, clusterEntries: 60, cachedResources: 1, milliCpu: 2, gitPerMinute: 600_000 }),
  resources: {
    controller: { cpu: "1", memory: "1Gi" },
    repoServer: { cpu: "1", memory: "1Gi", replicas: 1 },
    redis: { cpu: "1", memory: "1Gi" },
  },
  engine: {
    statusProcessors: 1,
    operationProcessors: 1,
    k8sClientQps: 1,
    k8sClientBurst: 1,
    reconciliationSeconds: 120,
    reconciliationJitterSeconds: 60,
  },
  ...changes,
});

const aFleet = (pools: readonly PoolSpec[], changes: Partial<FleetSpec> = {}): FleetSpec => ({
  engineClusters: [{ name: "eu-1", region: "eu", access: { kind: "inCluster" } }],
  versions: { default: "3.5.7", floor: "3.5.1", catalogue: [] },
  pools,
  workspaces: { selector: {}, everyNamespace: true, quota: { deployments: 100, syncsPerMinute: 10 } },
  egress: { allow: [], http: [] },
  deployments: { allowedGroups: ["*"] },
  ...changes,
});

describe("what a fleet document would change", () => {
  it("covers every section that a document has", () => {
    expect(diffFleet(aFleet([]), aFleet([], { deployments: { allowedGroups: [] } }))).toEqual([
      { path: "deployments", change: "changed", fields: [{ path: "allowedGroups", before: '["*"]', after: "[]" }] },
    ]);
    const trusting = { ...aFleet([]).egress, sshKnownHosts: "git.example ssh-ed25519 AAAA" };
    expect(diffFleet(aFleet([]), aFleet([], { egress: trusting }))).toMatchObject([{ path: "egress", change: "changed" }]);
  });

  it("is nothing where it declares the same, in whatever order", () => {
    const fleet = aFleet([aPool("a"), aPool("b")]);
    expect(diffFleet(fleet, aFleet([aPool("b"), aPool("a")]))).toEqual([]);
  });

  it("names pools that come and go", () => {
    expect(diffFleet(aFleet([aPool("a"), aPool("b")]), aFleet([aPool("b"), aPool("c")]))).toEqual([
      { path: "pools.a", change: "removed", fields: [] },
      { path: "pools.c", change: "added", fields: [] },
    ]);
  });

  it("names the fields that differ, in the units of the document", () => {
    const before = aFleet([aPool("a")]);
    const capacity = { ...aPool("a").capacity, applications: 500_000 };
    const after = aFleet([aPool("a", { capacity, instances: { min: 2, max: 3 }, version: "3.5.8" })], {
      egress: { allow: ["10.0.0.0/8"], http: [] },
    });
    expect(diffFleet(before, after)).toEqual([
      { path: "egress", change: "changed", fields: [{ path: "allow", before: "[]", after: '["10.0.0.0/8"]' }] },
      {
        path: "pools.a",
        change: "changed",
        fields: [
          { path: "capacity.applications", before: "1000", after: "500" },
          { path: "instances.min", before: "1", after: "2" },
          { path: "version", before: "not set", after: '"3.5.8"' },
        ],
      },
    ]);
  });

  it("is everything where nothing was declared before", () => {
    expect(diffFleet(undefined, aFleet([aPool("a")])).map(({ path, change }) => `${change} ${path}`)).toEqual([
      "added deployments",
      "added egress",
      "added engineClusters.eu-1",
      "added pools.a",
      "added versions",
      "added workspaces",
    ]);
  });
});

describe("what a document changed, as a sentence", () => {
  it("names the first of it, from what to what in the units of the document, and how much more there is", () => {
    expect(fleetChangesText(diffFleet(aFleet([aPool("a"), aPool("b")]), aFleet([aPool("b", { instances: { min: 2, max: 3 } })])))).toBe(
      "pools.a removed; pools.b changed (instances.min from 1 to 2)",
    );
    const many = Array.from({ length: 7 }, (_, index) => aPool(`p${index}`));
    expect(fleetChangesText(diffFleet(aFleet([]), aFleet(many)))).toMatch(/^pools\.p0 added; .*pools\.p4 added; and 2 more$/);
    const long = aPool("b", { class: { region: "r".repeat(200), tier: "t", trust: "t" } });
    expect(fleetChangesText(diffFleet(aFleet([aPool("b")]), aFleet([long]))).length).toBeLessThan(300);
    expect(fleetChangesText([])).toBe("");
  });
});
