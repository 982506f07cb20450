import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAddressRange } from "./address-range.ts";
import type { Complaint } from "./complaint.ts";
import { parseFleetDocument } from "./parse-fleet.ts";

type Json = Record<string, unknown>;

function aDocument(changes: Json = {}): Json {
  return {
    apiVersion: "argosy.dev/v1alpha1",
    kind: "Fleet",
    engineClusters: [{ name: "eu-1", region: "eu", kubeconfigSecret: "argosy-system/eu-1" }],
    versions: {
      default: "3.5.7",
      floor: "3.5.1",
      catalogue: [
        { version: "3.5.7", image: "images.example/argocd:v3.5.7", redisImage: "images.example/redis:8.2.3", crds: "/crds/3.5.7" },
      ],
    },
    pools: [aPool()],
    workspaces: { everyNamespace: true },
    ...changes,
  };
}

function aPool(changes: Json = {}): Json {
  return {
    name: "standard",
    class: { region: "eu", tier: "shared", trust: "public" },
    engineClusters: ["eu-1"],
    instances: { min: 2, max: 20 },
    capacity: { applications: 1000, clusterEntries: 60, cachedResources: 250_000, milliCpu: 2000, gitPerMinute: 600 },
    ...changes,
  };
}

function complaintsOf(document: unknown): readonly Complaint[] {
  const parsed = parseFleetDocument(document);
  return parsed.ok ? [] : parsed.complaints;
}

describe("a Fleet document", () => {
  it("has rollouts begin with the channels that say so, and with no other", () => {
    const channel = { name: "early", default: "3.5.7", versions: ["3.5.7"] };
    const channelsOf = (first: object) => {
      const parsed = parseFleetDocument(
        aDocument({ versions: { ...(aDocument()["versions"] as Json), channels: [{ ...channel, ...first }] } }),
      );
      return parsed.ok ? parsed.spec.versions.channels : parsed.complaints;
    };
    expect(channelsOf({ first: true })).toEqual([{ ...channel, first: true }]);
    expect(channelsOf({ first: false })).toEqual([channel]);
    expect(channelsOf({})).toEqual([channel]);
    expect(channelsOf({ first: "yes" })).toMatchObject([{ path: "versions.channels[0].first" }]);
  });

  it("gets its defaults, and amounts in the units that planning counts", () => {
    const parsed = parseFleetDocument(aDocument());
    expect(parsed).toEqual({
      ok: true,
      saysGroups: false,
      spec: {
        engineClusters: [{ name: "eu-1", region: "eu", access: { kind: "secret", secret: "argosy-system/eu-1" } }],
        versions: aDocument()["versions"],
        pools: [
          {
            ...aPool(),
            version: undefined,
            capacity: { applications: 1_000_000, clusterEntries: 60, cachedResources: 250_000, milliCpu: 2000, gitPerMinute: 600_000 },
            resources: {
              controller: { cpu: "2", memory: "4Gi" },
              repoServer: { cpu: "1", memory: "1Gi", replicas: 1 },
              redis: { cpu: "250m", memory: "256Mi" },
            },
            engine: {
              ...{ statusProcessors: 20, operationProcessors: 10, k8sClientQps: 200, k8sClientBurst: 400 },
              ...{ reconciliationSeconds: 120, reconciliationJitterSeconds: 60 },
            },
          },
        ],
        workspaces: {
          ...{ selector: {}, everyNamespace: true },
          quota: { deployments: 100, syncsPerMinute: 20, environments: 15, environmentObjects: 20_480 },
        },
        egress: { allow: [], http: [] },
        deployments: { allowedGroups: [] },
      },
    });
  });

  it("may put a pool into a version channel, which is part of its class", () => {
    const rapid = { region: "eu", tier: "shared", trust: "public", channel: "rapid" };
    expect(parseFleetDocument(aDocument({ pools: [aPool({ class: rapid })] }))).toMatchObject({ spec: { pools: [{ class: rapid }] } });
    expect(complaintsOf(aDocument({ pools: [aPool({ class: { ...rapid, channel: "a/b" } })] }))).toMatchObject([
      { path: "pools[0].class.channel" },
    ]);
  });

  it("may say how a cluster's pods are reached", () => {
    const cluster = { name: "eu-1", region: "eu", kubeconfigSecret: "eu-1" };
    const parse = (reach: string) => parseFleetDocument(aDocument({ engineClusters: [{ ...cluster, reach }] }));
    expect(parse("address")).toMatchObject({ spec: { engineClusters: [{ reach: "address", access: { kind: "secret" } }] } });
    expect(parse("pigeon")).toEqual({
      ok: false,
      complaints: [{ path: "engineClusters[0].reach", message: "is not address or proxy", remedy: "Give address or proxy" }],
    });
  });

  it("means a Secret of Argosy's own namespace by a name alone", () => {
    const parse = (kubeconfigSecret: string) =>
      parseFleetDocument(aDocument({ engineClusters: [{ name: "eu-1", region: "eu", kubeconfigSecret }] }));
    expect(parse("eu-1")).toEqual(parse("argosy-system/eu-1"));
    expect(parse("eu-1")).toMatchObject({ spec: { engineClusters: [{ access: { kind: "secret", secret: "argosy-system/eu-1" } }] } });
  });

  it("may give amounts as numbers, and Argosy's own cluster without a Secret", () => {
    const pool = aPool({ resources: { controller: { cpu: 4 }, repoServer: { replicas: 3, disk: "50Gi" } } });
    const parsed = parseFleetDocument(aDocument({ pools: [pool], engineClusters: [{ name: "eu-1", region: "eu", inCluster: true }] }));
    expect(parsed).toMatchObject({
      ok: true,
      spec: {
        engineClusters: [{ access: { kind: "inCluster" } }],
        pools: [{ resources: { controller: { cpu: "4", memory: "4Gi" }, repoServer: { replicas: 3, disk: "50Gi" } } }],
      },
    });
  });

  it("may say up to where resources are raised, which is nothing where it does not", () => {
    const specOf = (resources: Json) => {
      const parsed = parseFleetDocument(aDocument({ pools: [aPool({ resources })] }));
      return parsed.ok ? parsed.spec.pools[0]?.resources : parsed.complaints;
    };
    const max = { controller: { cpu: 4, memory: "8Gi" }, repoServer: { disk: "20Gi" } };
    expect(specOf({ max })).toMatchObject({ max: { controller: { cpu: "4", memory: "8Gi" }, repoServer: { disk: "20Gi" } } });
    expect(specOf({})).not.toHaveProperty("max");
    // What is given in one component alone is nothing in the other, and as much as is declared is nothing to raise.
    expect(specOf({ repoServer: { memory: "2Gi" }, max: { repoServer: { memory: "2Gi" } } })).toMatchObject({
      max: { repoServer: { memory: "2Gi" } },
    });
  });

  it("never says less for a maximum than for what is declared", () => {
    const said = (resources: Json) => complaintsOf(aDocument({ pools: [aPool({ resources })] }));
    const remedy = "Give as much or more, or leave it out";
    const max = { controller: { cpu: "1500m", memory: "3Gi" }, repoServer: { memory: "512Mi", disk: "10Gi" } };
    expect(said({ max })).toEqual([
      { path: "pools[0].resources.max.controller.cpu", message: "is less than pools[0].resources.controller.cpu, 2", remedy },
      { path: "pools[0].resources.max.controller.memory", message: "is less than pools[0].resources.controller.memory, 4Gi", remedy },
      { path: "pools[0].resources.max.repoServer.memory", message: "is less than pools[0].resources.repoServer.memory, 1Gi", remedy },
      { path: "pools[0].resources.max.repoServer.disk", message: "is less than pools[0].resources.repoServer.disk, 20Gi", remedy },
    ]);
    expect(said({ controller: { cpu: 1, memory: "4Gi" }, repoServer: { memory: "256Mi", disk: "5Gi" }, max })).toMatchObject([
      { path: "pools[0].resources.max.controller.memory" },
    ]);
    expect(said({ max: {} })).toEqual([
      {
        path: "pools[0].resources.max",
        message: "names no amount",
        remedy: "Name one, such as controller: { memory: 8Gi }, or remove it",
      },
    ]);
    expect(said({ max: { controller: { memory: "much", disk: "1Gi" }, redis: { memory: "1Gi" } } }).map(({ path }) => path)).toEqual([
      "pools[0].resources.max.controller.memory",
      "pools[0].resources.max.controller.disk",
      "pools[0].resources.max.redis",
    ]);
  });

  it("gets all complaints about its form at once, with path and remedy", () => {
    const pool = aPool({ capcity: {}, instances: { min: -1, max: "many" }, resources: { controller: { memory: "much" } } });
    expect(complaintsOf(aDocument({ kind: "Flee", pools: [pool], egres: {}, wholly: 1 }))).toEqual([
      { path: "kind", message: "is not Fleet", remedy: "Give Fleet" },
      { path: "pools[0].instances.min", message: "is less than 0", remedy: "Give at least 0" },
      { path: "pools[0].instances.max", message: "is not a whole number", remedy: "Give a whole number" },
      {
        path: "pools[0].resources.controller.memory",
        message: "is not an amount like 2, 500m or 4Gi",
        remedy: "Give an amount like 2, 500m or 4Gi",
      },
      { path: "pools[0].capcity", message: "is no field of a Fleet", remedy: "Did you mean pools[0].capacity?" },
      { path: "egres", message: "is no field of a Fleet", remedy: "Did you mean egress?" },
      {
        path: "wholly",
        message: "is no field of a Fleet",
        remedy:
          "Remove it, or use one of apiVersion, kind, engineClusters, versions, pools, workspaces, rebalancing, cost, egress, deployments",
      },
    ]);
  });

  it("gets complaints about form and about rules between fields at once, and none that follows from a malformed field", () => {
    const document = aDocument({
      engineClusters: [
        { name: "eu-1", region: "eu" },
        { name: "US_1", region: "us", inCluster: true },
      ],
      versions: { ...(aDocument()["versions"] as Json), default: "3.6.0", floor: "new" },
      pools: [
        aPool({ engineClusters: ["eu-1", "us-1"], instances: { min: 5, max: 3 }, version: "three" }),
        aPool({ instances: { min: "two", max: 1 }, capacity: {}, class: { region: "us", tier: "shared", trust: "public" } }),
      ],
      egress: { allow: ["10.1.2.3/8", 7], sshKnownHosts: "git.example" },
    });
    expect(complaintsOf(document).map(({ path, message }) => `${path} ${message}`)).toEqual([
      expect.stringMatching(/^engineClusters\[1\]\.name is not a name/),
      expect.stringMatching(/^versions\.floor is not a release number/),
      expect.stringMatching(/^pools\[0\]\.version is not a release number/),
      "pools[1].instances.min is not a whole number",
      ...["applications", "clusterEntries", "cachedResources", "milliCpu", "gitPerMinute"].map(
        (one) => `pools[1].capacity.${one} is missing`,
      ),
      expect.stringMatching(/^egress\.allow\[1\] is not a range/),
      "engineClusters[0] says no way to reach it",
      "versions.default is not in versions.catalogue",
      "pools[1].name is there twice (first at [0])",
      "pools[0].instances.min is more than instances.max",
      "pools[1].engineClusters[0] is in region eu, the pool's class in us",
      "egress.allow[0] is no range of addresses",
      "egress.sshKnownHosts has a line that names no host key (line 1)",
    ]);
  });

  it.each([
    ["no pools", { pools: 5 }],
    ["no engine clusters", { engineClusters: [] }],
    ["releases that are not a list", { versions: { default: "3.5.7", catalogue: {} } }],
    ["a release without a number", { versions: { default: "3.5.7", catalogue: [{ image: "a:b" }] } }],
    ["channels of the wrong form", { versions: { ...(aDocument()["versions"] as Json), channels: [5, { name: "a" }] } }],
    ["hosts of the wrong form", { egress: { certificateAuthorities: [null], allow: null, sshKnownHosts: {} } }],
  ])("with %s gets that complaint and none that follows from it", (_what, changes) => {
    const complaints = complaintsOf(aDocument(changes));
    const at = Object.keys(changes)[0] ?? "";
    expect(complaints.length).toBeGreaterThan(0);
    expect(complaints.filter(({ path }) => !path.startsWith(at))).toEqual([]);
  });

  it("that is wrong in a hundred thousand places is answered in a moment", () => {
    const pools = Array.from({ length: 100_000 }, () => 1);
    expect(complaintsOf(aDocument({ pools })).length).toBeGreaterThan(0);
  });

  it("gets complaints about missing fields and numbers out of bounds", () => {
    const { class: _class, ...rest } = aPool({ instances: { min: 1, max: 5000 } });
    expect(complaintsOf(aDocument({ pools: [rest] }))).toEqual([
      { path: "pools[0].class", message: "is missing", remedy: "Give a group of fields" },
      { path: "pools[0].instances.max", message: "is more than 1000", remedy: "Give at most 1000" },
    ]);
  });

  it.each<[string, Json, Complaint]>([
    [
      "names twice",
      { pools: [aPool(), aPool()] },
      { path: "pools[1].name", message: "is there twice (first at [0])", remedy: "Remove one of the two" },
    ],
    [
      "clusters without a way to reach them",
      { engineClusters: [{ name: "eu-1", region: "eu" }] },
      {
        path: "engineClusters[0]",
        message: "says no way to reach it",
        remedy: "Give either inCluster: true or kubeconfigSecret: <name>",
      },
    ],
    [
      "clusters with two ways to reach them",
      { engineClusters: [{ name: "eu-1", region: "eu", inCluster: true, kubeconfigSecret: "argosy-system/b" }] },
      {
        path: "engineClusters[0]",
        message: "says two ways to reach it",
        remedy: "Give either inCluster: true or kubeconfigSecret: <name>",
      },
    ],
    [
      "Secrets of other namespaces than Argosy's own",
      { engineClusters: [{ name: "eu-1", region: "eu", kubeconfigSecret: "team-payments/kubeconfig" }] },
      {
        path: "engineClusters[0].kubeconfigSecret",
        message: "is in a namespace that is not Argosy's own",
        remedy: "Put the Secret into argosy-system, and give its name alone",
      },
    ],
    [
      "Secrets below a Secret",
      { engineClusters: [{ name: "eu-1", region: "eu", kubeconfigSecret: "argosy-system/../team-payments/kubeconfig" }] },
      {
        path: "engineClusters[0].kubeconfigSecret",
        message: "is not the name of a Secret in argosy-system with the key kubeconfig",
        remedy: "Give the name of a Secret in argosy-system with the key kubeconfig",
      },
    ],
    [
      "clusters that are misspelt",
      { pools: [aPool({ engineClusters: ["eu-2"] })] },
      { path: "pools[0].engineClusters[0]", message: "is no engine cluster of this fleet", remedy: "Did you mean eu-1?" },
    ],
    [
      "clusters nobody declared",
      { pools: [aPool({ engineClusters: ["somewhere"] })] },
      { path: "pools[0].engineClusters[0]", message: "is no engine cluster of this fleet", remedy: "Use one of eu-1" },
    ],
    [
      "clusters of another region",
      { pools: [aPool({ class: { region: "us", tier: "shared", trust: "public" } })] },
      {
        path: "pools[0].engineClusters[0]",
        message: "is in region eu, the pool's class in us",
        remedy: "Use clusters of the class's region",
      },
    ],
    [
      "a minimum above the maximum of instances",
      { pools: [aPool({ instances: { min: 3, max: 2 } })] },
      { path: "pools[0].instances.min", message: "is more than instances.max", remedy: "Raise max or lower min" },
    ],
    [
      "versions without an image",
      { pools: [aPool({ version: "3.5.6" })] },
      { path: "pools[0].version", message: "is not in versions.catalogue", remedy: "Add it there, or use one of 3.5.7" },
    ],
    [
      "versions below the floor",
      { versions: { ...(aDocument()["versions"] as Json), floor: "3.6.0" } },
      {
        path: "versions.default",
        message: "is older than versions.floor (3.6.0)",
        remedy: "Use a newer release: older ones have known vulnerabilities",
      },
    ],
    [
      "versions below the floor of their minor",
      { versions: { ...(aDocument()["versions"] as Json), floor: ["3.5.8", "3.4.7"] } },
      {
        path: "versions.default",
        message: "is older than versions.floor (3.5.8 / 3.4.7)",
        remedy: "Use a newer release: older ones have known vulnerabilities",
      },
    ],
    [
      "channels whose default they do not have",
      { versions: { ...(aDocument()["versions"] as Json), channels: [{ name: "slow", default: "3.5.6", versions: ["3.5.7"] }] } },
      { path: "versions.channels[0].default", message: "is not among the channel's versions", remedy: "Add it there, or use one of 3.5.7" },
    ],
    [
      "channels with releases that are not in the catalogue",
      { versions: { ...(aDocument()["versions"] as Json), channels: [{ name: "slow", default: "3.5.6", versions: ["3.5.6"] }] } },
      { path: "versions.channels[0].versions[0]", message: "is not in versions.catalogue", remedy: "Add it there, or use one of 3.5.7" },
    ],
    [
      "pools with a release their channel does not have",
      {
        versions: {
          ...{ default: "3.5.7", floor: "3.5.1" },
          catalogue: ["3.5.6", "3.5.7"].map((version) => ({ version, image: "argocd:v1", redisImage: "redis:8", crds: "/crds" })),
          channels: [{ name: "slow", default: "3.5.6", versions: ["3.5.6"] }],
        },
        pools: [aPool({ version: "3.5.7", class: { region: "eu", tier: "shared", trust: "public", channel: "slow" } })],
      },
      { path: "pools[0].version", message: "is not among the versions of channel slow", remedy: "Use one of 3.5.6" },
    ],
    [
      "malformed address ranges",
      { egress: { allow: ["10.1.0.0/16", "10.1.2.3/16"] } },
      {
        path: "egress.allow[1]",
        message: "is no range of addresses",
        remedy: "Give its first address and the length of its prefix, like 10.1.0.0/16",
      },
    ],
  ])("may not have %s", (_what, changes, complaint) => {
    expect(complaintsOf(aDocument(changes))).toContainEqual(complaint);
  });

  it("may have an old release in a mixed fleet, once the floor is as low", () => {
    const release = { version: "3.3.10", image: "argocd:v3.3.10", redisImage: "redis:8", crds: "/crds", upgradesFrom: ["3.3", "3.2.12"] };
    const versions = (floor: unknown) => ({ default: "3.3.10", floor, catalogue: [release] });
    expect(complaintsOf(aDocument({ versions: versions(["3.5.1", "3.4.7", "3.3.14"]) }))).toMatchObject([
      { path: "versions.default", message: "is older than versions.floor (3.5.1 / 3.4.7 / 3.3.14)" },
    ]);
    const parsed = parseFleetDocument(aDocument({ versions: versions("3.3.10") }));
    expect(parsed).toMatchObject({ ok: true, spec: { versions: { floor: "3.3.10", catalogue: [release] } } });
  });

  it("of any shape is parsed or refused, and no complaint repeats a value", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true }), (anything) => {
        const parsed = parseFleetDocument(anything);
        expect(parsed.ok ? 0 : parsed.complaints.length).toBeGreaterThan(0);
      }),
    );
    expect(
      JSON.stringify(complaintsOf(aDocument({ engineClusters: [{ name: "eu-1", region: "eu", kubeconfigSecret: "hunter2 hunter2" }] }))),
    ).not.toContain("hunter2");
  });
});

describe("a range of addresses", () => {
  it.each(["0.0.0.0/0", "10.1.0.0/16", "192.168.7.9/32", "::/0", "fd00::/8", "2001:db8::1/128", "1:2:3:4:5:6:7:0/112", "127.0.0.0/8"])(
    "%s is one",
    (text) => {
      expect(isAddressRange(text)).toBe(true);
    },
  );
  it.each([
    "",
    "10.1.0.0",
    "10.1.0.0/33",
    "10.1.0.1/16",
    "256.0.0.0/8",
    "01.0.0.0/8",
    "10.0.0.0/08",
    "10.0.0/8",
    "::1/127",
    "1::2::/64",
    "::/129",
    "12345::/16",
    "1:2:3:4:5:6:7/112",
    "1:2:3:4:5:6:7:8::/128",
    "10.0.0.0/8/8",
    "a/8",
  ])("%s is none", (text) => {
    expect(isAddressRange(text)).toBe(false);
  });
});

describe("what nobody deploys to the API cluster", () => {
  const refusedOf = (deployments: Json) => {
    const parsed = parseFleetDocument(aDocument({ deployments }));
    return parsed.ok ? parsed.spec.deployments : parsed.complaints.map(({ path }) => path);
  };

  it("is what is declared, word for word, also when that is nothing", () => {
    expect(refusedOf({ refusedGroups: ["kyverno.io"] })).toEqual({ allowedGroups: [], refusedGroups: ["kyverno.io"] });
    expect(refusedOf({ refusedGroups: [] })).toEqual({ allowedGroups: [], refusedGroups: [] });
    expect(refusedOf({ allowedGroups: ["*"] })).toEqual({ allowedGroups: ["*"] });
  });

  it("is every group that is not Kubernetes' own where no group is declared", () => {
    expect(refusedOf({})).toEqual({ allowedGroups: [] });
    expect(parseFleetDocument(aDocument({ deployments: { allowedGroups: [] } }))).toMatchObject({ ok: true, saysGroups: true });
    expect(parseFleetDocument(aDocument({ deployments: { refusedGroups: [] } }))).toMatchObject({ ok: true, saysGroups: false });
  });

  it.each(["*.kyverno.io", "Kyverno.io", "", "kyverno.io/", "a.io/Things", "a.io/b/c", ".io"])(
    "is refused where it is no group: %j",
    (group) => {
      expect(refusedOf({ refusedGroups: [group] })).toEqual(["deployments.refusedGroups[0]"]);
      expect(refusedOf({ allowedGroups: [group] })).toEqual(["deployments.allowedGroups[0]"]);
    },
  );

  it("cannot be allowed where it is refused, or never is", () => {
    const said = (deployments: Json) => complaintsOf(aDocument({ deployments }));
    expect(said({ allowedGroups: ["example.org", "source.toolkit.fluxcd.io"] })).toEqual([
      {
        path: "deployments.allowedGroups[1]",
        message: "is refused, and refusals come first",
        remedy: expect.stringContaining("give deployments.refusedGroups without it, as it is without a list: cattle.io,"),
      },
    ]);
    expect(said({ allowedGroups: ["source.toolkit.fluxcd.io"], refusedGroups: [] })).toEqual([]);
    expect(said({ allowedGroups: ["a.io/things"], refusedGroups: ["a.io"] })).toMatchObject([{ path: "deployments.allowedGroups[0]" }]);
    expect(said({ allowedGroups: ["a.io"], refusedGroups: ["a.io/things"] })).toEqual([]);
    for (const never of ["rbac.authorization.k8s.io", "core/limitranges", "argoproj.io/applications"])
      expect(said({ allowedGroups: [never], refusedGroups: [] })).toMatchObject([{ message: expect.stringContaining("never allowed") }]);
  });
});

describe("what a controller has to hold", () => {
  const CAPACITY = { applications: 1000, clusterEntries: 60, cachedResources: 250_000, milliCpu: 2000, gitPerMinute: 600 };
  const withMemory = (memory: unknown, over: Json = {}) =>
    aPool({ capacity: { ...CAPACITY, ...over }, resources: { controller: { memory } } });
  const said = (pool: Json) => complaintsOf(aDocument({ pools: [pool] }));

  it("fits into its memory, or the declaration is refused with the figures and what would fit", () => {
    expect(said(withMemory("4Gi"))).toEqual([]);
    expect(said(withMemory("2Gi"))).toEqual([
      {
        path: "pools[0].capacity",
        message:
          "needs 3777 MiB of memory (2370 for clusterEntries, 1250 for cachedResources, 60 for applications, 97 for Argo CD itself), and resources.controller.memory is 2048 MiB",
        remedy: "Lower what needs most, or raise pools[0].resources.controller.memory to 3777Mi",
      },
    ]);
    expect(said(withMemory("3777Mi"))).toEqual([]);
    expect(said(withMemory("3776Mi"))).toHaveLength(1);
    expect(said(withMemory(4_294_967_296))).toEqual([]);
  });

  it("is held against the memory that a document without one means", () => {
    expect(said(aPool({ capacity: { ...CAPACITY, clusterEntries: 200 } }))).toMatchObject([{ path: "pools[0].capacity" }]);
    for (const resources of [{}, { controller: {} }, { redis: { memory: "1Gi" } }])
      expect(said(aPool({ capacity: { ...CAPACITY, clusterEntries: 200 }, resources }))).toMatchObject([{ path: "pools[0].capacity" }]);
  });

  describe("where each workspace has an entry of its own", () => {
    const apart = (pool: Json) => ({ ...pool, entries: "per-workspace" });

    it("is what its entries say: a workspace takes one of them, and the remedy names what to change", () => {
      expect(said(apart(withMemory("2Gi", { clusterEntries: 60 })))).toEqual([
        {
          path: "pools[0].capacity",
          message:
            "needs 3777 MiB of memory (2370 for clusterEntries, of which each workspace takes one, 1250 for cachedResources, 60 for applications, 97 for Argo CD itself), and resources.controller.memory is 2048 MiB",
          remedy: "Lower what needs most, or raise pools[0].resources.controller.memory to 3777Mi",
        },
      ]);
    });

    it("is refused with so few entries that no workspace gets one", () => {
      expect(said(apart(withMemory("4Gi", { clusterEntries: 1 })))).toEqual([
        {
          path: "pools[0].capacity.clusterEntries",
          message: "leaves no entry for a workspace: with pools[0].entries per-workspace each takes one",
          remedy: expect.stringContaining("Give at least 2"),
        },
      ]);
      expect(said(apart(withMemory("4Gi", { clusterEntries: 2 })))).toEqual([]);
      expect(said(withMemory("4Gi", { clusterEntries: 1 }))).toEqual([]);
    });

    it("leaves environments what is left of a workspace's quarter", () => {
      const quotaOf = (pool: Json, quota: Json = {}) =>
        parseFleetDocument(aDocument({ pools: [pool], workspaces: { everyNamespace: true, quota } }));
      expect(quotaOf(apart(withMemory("4Gi", { clusterEntries: 60 })))).toMatchObject({
        spec: { pools: [{ entries: "per-workspace" }], workspaces: { quota: { environments: 14 } } },
      });
      expect(quotaOf(apart(withMemory("4Gi", { clusterEntries: 60 })), { environments: 15 })).toMatchObject({
        complaints: [{ path: "workspaces.quota.environments", remedy: "Give at most 14, or raise capacity.clusterEntries there" }],
      });
    });

    it("is declared by these words alone", () => {
      expect(said({ ...withMemory("4Gi"), entries: "own" })).toMatchObject([{ path: "pools[0].entries" }]);
      const shared = parseFleetDocument(aDocument({ pools: [{ ...withMemory("4Gi"), entries: "shared" }] }));
      expect(shared.ok && shared.spec.pools[0]).not.toHaveProperty("entries");
      const filtered = parseFleetDocument(aDocument({ pools: [{ ...withMemory("4Gi"), entries: "filtered" }] }));
      expect(filtered).toMatchObject({ ok: true, spec: { pools: [{ entries: "filtered" }] } });
    });
  });

  it("is not judged where an amount of it is malformed", () => {
    expect(said(withMemory("much")).map(({ path }) => path)).toEqual(["pools[0].resources.controller.memory"]);
    expect(said(withMemory("1Gi", { clusterEntries: "many" })).map(({ path }) => path)).toEqual(["pools[0].capacity.clusterEntries"]);
    expect(said(aPool({ resources: 7, capacity: { ...CAPACITY, clusterEntries: 200 } })).map(({ path }) => path)).toEqual([
      "pools[0].resources",
    ]);
  });

  it("is not taken by one workspace, or one environment, alone: the smallest pool bounds both", () => {
    const small = aPool({
      name: "small",
      capacity: { ...CAPACITY, clusterEntries: 30, cachedResources: 1000 },
      resources: { controller: { memory: "2Gi" } },
    });
    const saidOf = (quota: Json) => complaintsOf(aDocument({ pools: [aPool(), small], workspaces: { everyNamespace: true, quota } }));
    expect(saidOf({ environments: 7, environmentObjects: 51_200 })).toEqual([]);
    expect(saidOf({ environments: 8, environmentObjects: 51_201 })).toEqual([
      {
        path: "workspaces.quota.environments",
        message: "lets one workspace take more than a quarter of the 30 cluster entries of the smallest pool",
        remedy: "Give at most 7, or raise capacity.clusterEntries there",
      },
      {
        path: "workspaces.quota.environmentObjects",
        message: "lets one environment take more than half of the 2048 MiB of the smallest controller, at 20 KiB an object",
        remedy: "Give at most 51200, or raise resources.controller.memory there",
      },
    ]);
  });

  it("gives each workspace a quarter of the smallest pool where nothing is declared, and one at least", () => {
    const quotaOf = (pool: Json) => {
      const parsed = parseFleetDocument(aDocument({ pools: [aPool(), { ...pool, name: "small" }] }));
      return parsed.ok ? parsed.spec.workspaces.quota : parsed.complaints;
    };
    expect(quotaOf(withMemory("2Gi", { clusterEntries: 3, cachedResources: 1000 }))).toMatchObject({
      environments: 1,
      environmentObjects: 10_240,
    });
    expect(quotaOf(withMemory("16Gi", { clusterEntries: 200 }))).toMatchObject({ environments: 15, environmentObjects: 20_480 });
    const large = parseFleetDocument(aDocument({ pools: [withMemory("64Gi", { clusterEntries: 1000 })] }));
    expect(large).toMatchObject({ spec: { workspaces: { quota: { environments: 50, environmentObjects: 100_000 } } } });
    expect(parseFleetDocument(aDocument({ pools: [] }))).toMatchObject({ spec: { workspaces: { quota: { environments: 50 } } } });
  });
});

describe("what a workspace of a class may have", () => {
  const small = aPool({
    name: "small",
    class: { region: "eu", tier: "small", trust: "public" },
    capacity: { applications: 1000, clusterEntries: 30, cachedResources: 1000, milliCpu: 2000, gitPerMinute: 600 },
    resources: { controller: { memory: "2Gi" } },
  });
  const [USUAL, SMALL] = ["eu/shared/public", "eu/small/public"];
  const parsed = (classQuotas: unknown, quota: Json = {}) =>
    parseFleetDocument(aDocument({ pools: [aPool(), small], workspaces: { everyNamespace: true, quota, classQuotas } }));
  const said = (classQuotas: unknown, quota: Json = {}) => {
    const result = parsed(classQuotas, quota);
    return result.ok ? [] : result.complaints;
  };

  it("is bounded by the smallest pool of that class, and what all others may have by the pools of all other classes", () => {
    expect(said([{ class: USUAL, environments: 15, environmentObjects: 100_000 }])).toEqual([]);
    expect(
      said([{ class: SMALL, environments: 7, environmentObjects: 51_200 }], { environments: 15, environmentObjects: 100_000 }),
    ).toEqual([]);
    expect(said([{ class: SMALL, environments: 8, environmentObjects: 51_201 }])).toEqual([
      {
        path: "workspaces.classQuotas[0].environments",
        message: "lets one workspace take more than a quarter of the 30 cluster entries of the smallest pool of its class",
        remedy: "Give at most 7, or raise capacity.clusterEntries there",
      },
      {
        path: "workspaces.classQuotas[0].environmentObjects",
        message: "lets one environment take more than half of the 2048 MiB of the smallest controller of its class, at 20 KiB an object",
        remedy: "Give at most 51200, or raise resources.controller.memory there",
      },
    ]);
    expect(said([{ class: SMALL, environments: 7 }], { environments: 16, environmentObjects: 51_201 })).toMatchObject([
      { path: "workspaces.quota.environments", remedy: expect.stringContaining("Give at most 15") },
      { path: "workspaces.quota.environmentObjects", remedy: expect.stringContaining("Give at most 51200") },
    ]);
    expect(said([{ class: SMALL, deployments: 7 }], { environments: 8 })).toMatchObject([{ path: "workspaces.quota.environments" }]);
  });

  it("is as it was written, and leaves what all others may have to follow from the pools of all other classes", () => {
    const specOf = (classQuotas: unknown, quota: Json = {}) => {
      const result = parsed(classQuotas, quota);
      return result.ok ? result.spec.workspaces : result.complaints;
    };
    const own = { class: SMALL, deployments: 5, syncsPerMinute: 1, environments: 2, environmentObjects: 1_000 };
    expect(specOf([own, { class: USUAL, deployments: 900 }])).toMatchObject({
      quota: { deployments: 100, syncsPerMinute: 20, environments: 15, environmentObjects: 20_480 },
      classQuotas: [own, { class: USUAL, deployments: 900 }],
    });
    expect(specOf([{ class: SMALL, deployments: 5 }])).toMatchObject({
      quota: { environments: 7, environmentObjects: 10_240 },
      classQuotas: [{ class: SMALL, deployments: 5 }],
    });
    expect(specOf([own, { ...own, class: USUAL }])).toMatchObject({ quota: { environments: 7, environmentObjects: 10_240 } });
    expect(specOf(undefined)).not.toHaveProperty("classQuotas");
  });

  it("is said for each class of a pool once, in numbers, and says something", () => {
    const one = { class: USUAL, deployments: 5 };
    expect(said([one, one])).toMatchObject([{ path: "workspaces.classQuotas[1].class", message: "is there twice (first at [0])" }]);
    expect(said([{ ...one, class: "eu/smal/public" }])).toMatchObject([
      { path: "workspaces.classQuotas[0].class", message: "is the class of no pool", remedy: "Did you mean eu/small/public?" },
    ]);
    expect(said([{ class: USUAL }])).toEqual([
      {
        path: "workspaces.classQuotas[0]",
        message: "says no number, so it changes nothing",
        remedy: "Give deployments, syncsPerMinute, environments or environmentObjects",
      },
    ]);
    expect(said([{ deployments: 5 }])).toMatchObject([{ path: "workspaces.classQuotas[0].class", message: "is missing" }]);
    expect(said([{ ...one, deployments: 0, disk: "1Gi" }])).toMatchObject([
      { path: "workspaces.classQuotas[0].deployments", message: "is less than 1" },
      { path: "workspaces.classQuotas[0].disk", message: "is no field of a Fleet" },
    ]);
    expect(said({ [USUAL]: one })).toHaveLength(1);
    expect(said([7, null])).toHaveLength(2);
  });

  it("is not judged where its class, or that of a pool, is malformed", () => {
    expect(said([{ class: "eu", environments: 99 }], { environments: 99 }).map(({ path }) => path)).toEqual([
      "workspaces.classQuotas[0].class",
    ]);
    const broken = aPool({ name: "broken", class: { region: "eu", tier: "small", trust: 7 } });
    const document = aDocument({
      pools: [aPool(), broken],
      workspaces: { everyNamespace: true, classQuotas: [{ class: SMALL, environments: 15 }] },
    });
    expect(complaintsOf(document).map(({ path }) => path)).toEqual(["pools[1].class.trust"]);
  });
});

describe("which namespaces are workspaces", () => {
  const said = (workspaces: unknown) => complaintsOf(workspaces === undefined ? aDocument({ workspaces: {} }) : aDocument({ workspaces }));

  it.each([
    ["nothing", undefined],
    ["a selector without labels", { selector: {} }],
    ["a quota alone", { quota: { deployments: 1 } }],
    ["that not every one is", { everyNamespace: false }],
  ])("has to be said: %s is none", (_what, workspaces) => {
    expect(said(workspaces)).toEqual([
      {
        path: "workspaces.selector",
        message: expect.stringContaining("no namespace"),
        remedy: expect.stringContaining("everyNamespace: true"),
      },
    ]);
  });

  it("is asked for where the section is missing too", () => {
    const { workspaces: _left, ...rest } = aDocument();
    expect(complaintsOf(rest)).toMatchObject([{ path: "workspaces.selector" }]);
  });

  it("is said once, by labels or by the word for all of them", () => {
    expect(said({ selector: { a: "b" } })).toEqual([]);
    expect(said({ selector: { a: "b" }, everyNamespace: false })).toEqual([]);
    expect(said({ selector: {}, everyNamespace: true })).toEqual([]);
    expect(said({ selector: { a: "b" }, everyNamespace: true })).toMatchObject([{ path: "workspaces.selector" }]);
    expect(said({ selector: 1, everyNamespace: true })).toMatchObject([{ message: "is not labels with their values" }]);
    expect(said(7)).toHaveLength(1);
  });
});

describe("how much of an instance's CPU a workspace should take", () => {
  const said = (...cpuShares: unknown[]) => complaintsOf(aDocument({ workspaces: { everyNamespace: true, cpuShares } }));

  it("is a share of at most all, for each class of a pool once", () => {
    const one = { class: "eu/shared/public", share: 0.25 };
    expect(said(one)).toEqual([]);
    expect(said(one, one)).toMatchObject([{ path: "workspaces.cpuShares[1].class", message: "is there twice (first at [0])" }]);
    expect(said({ ...one, class: "eu/shared/publik" })).toMatchObject([{ remedy: "Did you mean eu/shared/public?" }]);
    expect(said({ ...one, share: 0 })).toMatchObject([{ path: "workspaces.cpuShares[0].share", message: "is less than 0.01" }]);
    expect(said({ ...one, share: 25 })).toMatchObject([{ path: "workspaces.cpuShares[0].share", message: "is more than 1" }]);
    expect(said({ class: "eu/shared/public" })).toHaveLength(1);
  });
});

describe("what is shown of cost", () => {
  const said = (cost: unknown) => complaintsOf(aDocument({ cost }));

  it("goes by prices that are numbers, and by labels that are named once", () => {
    const prices = { cpuCoreHour: 0.04, memoryGibHour: 0 };
    expect(said({ prices, labels: ["team", "example.com/cost-center"] })).toEqual([]);
    expect(said({})).toEqual([]);
    expect(said({ prices: { cpuCoreHour: 1 } })).toMatchObject([{ path: "cost.prices.memoryGibHour" }]);
    expect(said({ prices: { ...prices, cpuCoreHour: -1 } })).toMatchObject([
      { path: "cost.prices.cpuCoreHour", message: "is less than 0" },
    ]);
    expect(said({ prices: { ...prices, cpuCoreHour: "1 €" } })).toMatchObject([{ path: "cost.prices.cpuCoreHour" }]);
    expect(said({ labels: ["team", "team"] })).toMatchObject([{ path: "cost.labels[1]", message: "is there twice (first at [0])" }]);
    expect(said({ labels: ["no label"] })).toMatchObject([
      { path: "cost.labels[0]", remedy: expect.stringContaining("the key of a label") },
    ]);
    expect(said({ labels: [] })).toHaveLength(1);
  });
});

describe("which workspaces get another class", () => {
  const ofRebalancing = (...rebalancing: unknown[]) => complaintsOf(aDocument({ rebalancing }));

  describe("with groups of workspaces", () => {
    const APART = { label: "class.argosy.dev/customer", rule: "apart" };
    const TOGETHER = { label: "class.argosy.dev/product", rule: "together" };
    const of = (...groups: unknown[]) => complaintsOf(aDocument({ workspaces: { everyNamespace: true, groups } }));

    it("takes labels that users cannot set, each once, and one that puts workspaces together", () => {
      expect(of(APART, { ...APART, label: "class.argosy.dev/stage" }, TOGETHER)).toEqual([]);
      expect(of({ label: "team", rule: "apart" })).toMatchObject([
        { path: "workspaces.groups[0].label", message: "is a label that whoever may write the namespace sets" },
      ]);
      expect(of(APART, { ...APART, rule: "together" })).toMatchObject([
        { path: "workspaces.groups[1].label", message: "is there twice (first at [0])" },
      ]);
      expect(of(TOGETHER, APART, { ...TOGETHER, label: "class.argosy.dev/site" })).toMatchObject([
        { path: "workspaces.groups[2].rule", message: "is together, as that of [0]" },
      ]);
    });

    it("takes no other form", () => {
      expect(of({ ...APART, rule: "alone" })).toMatchObject([{ path: "workspaces.groups[0].rule", remedy: "Give apart or together" }]);
      expect(of({ rule: "apart" })).toMatchObject([{ path: "workspaces.groups[0].label", message: "is missing" }]);
      expect(of({ ...APART, values: ["a"] })).toMatchObject([{ path: "workspaces.groups[0].values", message: "is no field of a Fleet" }]);
    });
  });

  describe("with declared peaks", () => {
    const PEAK = { name: "mornings", schedule: "0 8 * * 1-5", timezone: "Europe/Berlin", duration: "3h", factor: 1.5 };
    const of = (peaks: unknown, instances: Json = { scaling: "auto" }) =>
      complaintsOf(aDocument({ pools: [aPool({ instances: { min: 2, max: 20, ...instances, peaks } })] })).map(
        ({ path, message }) => `${path.replace("pools[0].instances.", "")} ${message}`,
      );
    const without = (field: keyof typeof PEAK, over: Json = {}) => {
      const { [field]: _left, ...rest } = PEAK;
      return { ...rest, ...over };
    };

    it("may have several, that overlap too", () => {
      expect(of([PEAK, { ...without("factor"), name: "launch", instances: 20 }])).toEqual([]);
      expect(of([without("timezone", { schedule: "*/15 0,12 29 2 *", duration: "31d" })])).toEqual([]);
      expect(of([])).toEqual([]);
    });

    it.each([
      ["a schedule of four fields", { ...PEAK, schedule: "0 8 * *" }, "peaks[0].schedule is no cron schedule"],
      ["an hour that no day has", { ...PEAK, schedule: "0 24 * * *" }, "peaks[0].schedule is no cron schedule"],
      ["names of days", { ...PEAK, schedule: "0 8 * * MON" }, "peaks[0].schedule is not five fields of cron in digits"],
      ["a day that no month has", { ...PEAK, schedule: "0 8 31 2 *" }, "peaks[0].schedule is met on no day of any year"],
      ["an unknown time zone", { ...PEAK, timezone: "Europe/Berlim" }, "peaks[0].timezone is no time zone"],
      ["a time zone that is no name", { ...PEAK, timezone: "../etc" }, "peaks[0].timezone is not a time zone like Europe/Berlin"],
      ["no time", { ...PEAK, duration: "0h" }, "peaks[0].duration is not a time like 30m, 3h or 2d"],
      ["a number for a time", { ...PEAK, duration: 3 }, "peaks[0].duration is not a time like 30m, 3h or 2d"],
      ["more than a month", { ...PEAK, duration: "32d" }, "peaks[0].duration is more than 31d"],
      ["no size", without("factor"), "peaks[0] does not say how large it is"],
      ["two sizes", { ...PEAK, instances: 3 }, "peaks[0] says in two ways how large it is"],
      ["a factor of nothing more", { ...PEAK, factor: 1 }, "peaks[0].factor is less than 1.01"],
      ["more than may be", without("factor", { instances: 21 }), "peaks[0].instances is more than instances.max of the pool"],
      ["an unknown field", { ...PEAK, cron: "0 8 * * *" }, "peaks[0].cron is no field of a Fleet"],
    ])("has no peak with %s", (_what, peak, complaint) => {
      const complaints = of([peak]);
      expect(complaints).toHaveLength(1);
      expect(complaints[0]?.slice(0, complaint.length)).toBe(complaint);
    });

    it("names each once, and has none where nothing would let the instances go", () => {
      expect(of([PEAK, PEAK])).toEqual(["peaks[1].name is there twice (first at [0])"]);
      for (const fixed of [{}, { scaling: "fixed" }])
        expect(of([PEAK], fixed)).toEqual([expect.stringMatching(/^peaks has no effect in a pool of a fixed size/)]);
      expect(of([PEAK], { scaling: "sometimes" })).toEqual(["scaling is not fixed or auto"]);
    });
  });

  it("that is evened out is that of a pool, and is named once", () => {
    const mine = { class: "eu/shared/public", mode: "auto" };
    expect(ofRebalancing(mine)).toEqual([]);
    expect(ofRebalancing(mine, { ...mine, mode: "off" })).toMatchObject([
      { path: "rebalancing[1].class", message: "is there twice (first at [0])" },
    ]);
    expect(ofRebalancing({ ...mine, class: "eu/shared/publik" })).toMatchObject([
      { path: "rebalancing[0].class", message: "is the class of no pool", remedy: "Did you mean eu/shared/public?" },
    ]);
    expect(ofRebalancing({ ...mine, mode: "on", movesPerDay: 0 })).toMatchObject([
      { path: "rebalancing[0].mode", remedy: "Give off, propose or auto" },
      { path: "rebalancing[0].movesPerDay", message: "is less than 1" },
    ]);
  });

  const said = (...classes: unknown[]) => complaintsOf(aDocument({ workspaces: { everyNamespace: true, classes } }));
  const rule = (labels: unknown, name: unknown = "eu/shared/public") => ({ labels, class: name });
  const US = { "class.argosy.dev/region": "us" };

  it("is said by labels that users cannot set, and the class of a pool", () => {
    expect(said(rule(US), rule({ "class.argosy.dev/region": "eu" }))).toEqual([]);
    expect(said(rule({ team: "a" }))).toMatchObject([
      { path: "workspaces.classes[0].labels.team", remedy: expect.stringContaining("class.argosy.dev/") },
    ]);
    expect(said(rule({ "class.argosy.dev/": "a" }))).toHaveLength(1);
    expect(said(rule({ "class.argosy.dev.example/a": "a" }))).toHaveLength(1);
    expect(said(rule(US, "eu/shared"))).toMatchObject([{ message: "is not a class like eu/shared/public" }]);
    expect(said(rule(US, 7), rule(7), 7)).toHaveLength(3);
  });

  it("is the class of a pool: of another one a workspace would wait for ever", () => {
    expect(said(rule(US, "eu/shared/publik"))).toEqual([
      { path: "workspaces.classes[0].class", message: "is the class of no pool", remedy: "Did you mean eu/shared/public?" },
    ]);
    expect(said(rule(US, "us/dedicated/internal"))).toMatchObject([{ remedy: expect.stringContaining("or declare a pool of it") }]);
    const { pools } = aDocument();
    const [pool] = pools as readonly { readonly class: object }[];
    const slow = { ...pool, class: { ...pool?.class, channel: "slow" } };
    const document = { workspaces: { everyNamespace: true, classes: [rule(US, "eu/shared/public/slow")] } };
    expect(complaintsOf(aDocument({ ...document, pools: [slow] })).map(({ path }) => path)).not.toContain("workspaces.classes[0].class");
    expect(complaintsOf(aDocument({ ...document, pools: [{ ...pool, class: 7 }] })).map(({ path }) => path)).not.toContain(
      "workspaces.classes[0].class",
    );
  });

  it("is said so that each rule can count", () => {
    expect(said(rule({}))).toMatchObject([{ path: "workspaces.classes[0].labels", message: "names no label" }]);
    const both = { ...US, "class.argosy.dev/tier": "gold" };
    expect(said(rule(both), rule(US))).toEqual([]);
    expect(said(rule(US), rule(both))).toMatchObject([
      { path: "workspaces.classes[1]", message: "is never reached: every namespace with its labels has those of [0]" },
    ]);
    expect(said(rule(US), rule(US))).toHaveLength(1);
    expect(said(rule({ "class.argosy.dev/region": 7 }), rule(both))).toHaveLength(1);
  });
});

describe("how Git hosts prove themselves", () => {
  const PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const LINE = "[git.inside.example]:2222 ssh-ed25519 AAAAC3Nz";
  const egressOf = (egress: Json) => {
    const parsed = parseFleetDocument(aDocument({ egress }));
    return parsed.ok ? parsed.spec.egress : parsed.complaints.map(({ path }) => path);
  };

  it("is absent unless it is declared", () => {
    expect(egressOf({})).toEqual({ allow: [], http: [] });
    const declared = {
      apiServers: ["10.0.0.1/32"],
      certificateAuthorities: [{ host: "git.inside.example", certificates: PEM + PEM }],
      sshKnownHosts: `# ours\n\n${LINE} us\n`,
    };
    expect(egressOf(declared)).toEqual({ allow: [], http: [], ...declared });
  });

  it.each([
    [{ apiServers: ["10.0.0.1/8"] }, "egress.apiServers[0]"],
    [{ certificateAuthorities: [{ host: "git:443", certificates: PEM }] }, "egress.certificateAuthorities[0].host"],
    [{ certificateAuthorities: [{ host: "../a", certificates: PEM }] }, "egress.certificateAuthorities[0].host"],
    [{ certificateAuthorities: [{ host: "git", certificates: "no certificate" }] }, "egress.certificateAuthorities[0].certificates"],
    [
      { certificateAuthorities: [{ host: "git", certificates: `${PEM}-----BEGIN PRIVATE KEY-----` }] },
      "egress.certificateAuthorities[0].certificates",
    ],
    [{ certificateAuthorities: [0, 1].map(() => ({ host: "git", certificates: PEM })) }, "egress.certificateAuthorities[1].host"],
    [{ sshKnownHosts: "git.inside.example" }, "egress.sshKnownHosts"],
    [{ sshKnownHosts: `@cert-authority ${LINE}` }, "egress.sshKnownHosts"],
    [{ sshKnownHosts: "g\u00edt ssh-rsa AAAA" }, "egress.sshKnownHosts"],
  ])("is refused where it could not work (%#)", (egress, path) => {
    expect(egressOf(egress)).toEqual([path]);
  });
});
