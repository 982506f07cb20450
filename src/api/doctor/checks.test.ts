import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { cordonedBy } from "../../domain/cordon.ts";
import { classOf, type FleetSpec } from "../../domain/fleet.ts";
import type { InstanceVerdict } from "../../domain/health.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance, InstanceState } from "../../domain/instance.ts";
import { asLoadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { TokenRecord } from "../../store/token/port.ts";
import {
  judgeApiServers,
  judgeClassLabels,
  judgeCluster,
  judgeControllerMemory,
  judgeCpuShares,
  judgeDatabase,
  judgeEncryption,
  judgeFilters,
  judgeFleet,
  judgeHealthReports,
  judgeInstances,
  judgeInstanceTokens,
  judgeKinds,
  judgeLogins,
  judgeNetworkPolicies,
  judgeOwnershipFindings,
  judgePlainHttp,
  judgePools,
  judgeRepositoryProbes,
  judgeRights,
  judgeSessions,
  judgeTokens,
  judgeWorkspaces,
  rightsText,
} from "./checks.ts";
import { apiClusterRights, engineClusterRights } from "./rights.ts";

const anInstance = (state: InstanceState, version: string, reason = ""): Instance => ({
  id: `i-${state}` as InstanceId,
  name: `standard-${state}`,
  engineCluster: "eu",
  namespace: "argosy-standard-1",
  pool: "standard",
  class: "eu/shared/public",
  version,
  desiredVersion: version,
  state,
  stateSince: millis(0),
  reason,
  attempt: 0,
  capacity: ZERO_LOAD,
  weight: 1,
  appliedHash: "",
  cause: undefined,
  halt: "none",
  failsOver: false,
  entries: "shared",
  revision: 1,
});

it("says that pools with filtered entries get no instances where no image is configured, and nothing where no pool asks for such", () => {
  const of = (entries: "filtered" | "shared", image?: string) =>
    judgeFilters({ pools: [{ name: "standard", entries }] } as unknown as FleetSpec, image);
  expect(of("shared")).toEqual([]);
  expect(of("filtered", "argosy:1")).toMatchObject([{ name: "cluster filters", ok: true, detail: "run from argosy:1" }]);
  expect(of("filtered")).toMatchObject([{ ok: false, remedy: expect.stringContaining("clusterFilter.image") }]);
});

describe("the doctor", () => {
  it("names what the watchdog has found and is still so, and how much more", () => {
    const finding = (rule: "TWO_OWNERS" | "ORPHAN", text: string) => ({ key: text, rule, subject: "u", instances: [], text });
    expect(judgeOwnershipFindings([])).toMatchObject({ name: "ownership", ok: true });
    const open = [finding("TWO_OWNERS", "a and b"), finding("ORPHAN", "c"), finding("ORPHAN", "d"), finding("ORPHAN", "e")];
    expect(judgeOwnershipFindings(open)).toMatchObject({ ok: false, detail: "TWO_OWNERS: a and b; ORPHAN: c; ORPHAN: d; and 1 more" });
  });

  it("says how far behind the probes of repositories are", () => {
    const now = millis(10 * 3_600_000);
    expect(judgeRepositoryProbes({ count: 0 }, now)).toMatchObject({ name: "repository probes", ok: true });
    expect(judgeRepositoryProbes({ count: 7, since: millis(5 * 3_600_000) }, now)).toMatchObject({
      ok: false,
      detail: "7 of the repositories in use not probed for two hours, the first of them for 5",
    });
  });

  it("names tokens that never end or end soon, and fails for neither", () => {
    const DAY_MS = 24 * 3_600_000;
    const aRecord = (name: string, endsInDays: number | undefined, state: TokenRecord["state"] = "active"): TokenRecord => ({
      ...{
        name,
        state,
        role: "viewer",
        owner: undefined,
        createdBy: undefined,
        createdAt: millis(0),
        lastUsedAt: undefined,
        revokedAt: undefined,
      },
      expiresAt: endsInDays === undefined ? undefined : millis(endsInDays * DAY_MS),
    });
    const now = millis(0);
    expect(judgeTokens([aRecord("ci", 8)], now)).toEqual({
      ...{ name: "tokens", ok: true, detail: "1 token in use", remedy: "See `argosy token list`" },
    });
    const gone = [aRecord("revoked", undefined, "revoked"), aRecord("over", -1, "expired")];
    expect(judgeTokens([...gone, aRecord("old", undefined), aRecord("ops", undefined), aRecord("ci", 6)], now)).toMatchObject({
      ...{ ok: true, detail: "3 tokens in use" },
      remark:
        "never ends: old, ops; `argosy token create` replaces one by one that does; ends within a week: ci; `argosy token create` replaces it",
    });
  });

  it("says where tokens pass in plain text", () => {
    expect(judgePlainHttp(undefined)).not.toHaveProperty("remark");
    expect(judgePlainHttp("0.0.0.0:8080")).toMatchObject({ ok: true, remark: expect.stringContaining("0.0.0.0:8080") });
  });

  it("notes processes that connect as the owner of the tables, unless the database is the embedded one", () => {
    const logins = [
      { user: "argosy", isOwner: true },
      { user: "argosy_api", isOwner: false },
    ];
    expect(judgeLogins(logins, true)).toMatchObject({
      ...{ name: "database logins", ok: true, detail: "argosy, which owns the tables; argosy_api" },
      remark: expect.stringMatching(/^argosy may drop the tables .*`argosy database grant`/),
    });
    expect(judgeLogins(logins, false)).not.toHaveProperty("remark");
    expect(judgeLogins(logins.slice(1), true)).not.toHaveProperty("remark");
  });

  it("fails where a connection came about that policies refuse, and says plainly where that cannot be seen", () => {
    const at = "argosy-standard-1/argocd-repo-server-x";
    const open = { cluster: "eu", outcome: "open", at } as const;
    const closed = { cluster: "us", outcome: "closed", at } as const;
    const unseen = { cluster: "ap", unseen: "this process is no pod of it" } as const;
    expect(judgeNetworkPolicies([closed])).toEqual({
      ...{ name: "network policies", ok: true, detail: "enforced on us", remedy: expect.stringContaining("network plugin") },
    });
    expect(judgeNetworkPolicies([open, closed, unseen])).toMatchObject({
      ...{ ok: false, detail: `not enforced on eu: ${at} took a connection that its policy refuses` },
      remark: expect.stringContaining("for ap (this process is no pod of it)"),
    });
    expect(judgeNetworkPolicies([closed, unseen])).toMatchObject({
      ok: true,
      detail: "enforced on us",
      remark: expect.stringContaining("ap"),
    });
    expect(judgeNetworkPolicies([unseen])).toMatchObject({
      ok: true,
      detail: "cannot be seen from here",
      remark: expect.stringContaining("nc -z"),
    });
    expect(judgeNetworkPolicies([open, open, open, open].map((one, index) => ({ ...one, cluster: `c${index}` }))).detail).toMatch(
      /; and 1 more$/,
    );
  });

  it("fails where users may choose the class of their workspace, and notes where that cannot be seen", () => {
    expect(judgeClassLabels({ kind: "in force" })).toMatchObject({ name: "class labels", ok: true });
    expect(judgeClassLabels({ kind: "in force" }).remark).toBeUndefined();
    expect(judgeClassLabels({ kind: "away" })).toMatchObject({ ok: false, detail: expect.stringContaining("nothing keeps") });
    expect(judgeClassLabels({ kind: "weakened" })).toMatchObject({ ok: false, detail: expect.stringContaining("was changed") });
    expect(judgeClassLabels({ kind: "unseen", why: "this account may not read it" })).toMatchObject({
      ...{ ok: true, detail: "cannot be seen from here: this account may not read it" },
      remark: expect.stringContaining("kubectl get validatingadmissionpolicybinding argosy-class-labels"),
    });
  });

  it("notes API servers without encryption in etcd, and never fails for it", () => {
    const all = { cluster: "eu", servers: 2, without: [] };
    const none = { cluster: "us", servers: 1, without: ["kube-apiserver-a"] };
    const some = { cluster: "ap", servers: 2, without: ["kube-apiserver-b"] };
    const unseen = { cluster: "sa", unseen: "its API servers are no pods of kube-system" };
    expect(judgeEncryption([all])).toEqual({
      ...{ name: "encryption in etcd", ok: true, remedy: expect.any(String) },
      detail: "configured on eu; whether Secrets are among what it names stands in that file",
    });
    const judged = judgeEncryption([all, none, some, unseen]);
    expect(judged).toMatchObject({
      ok: true,
      detail: expect.stringMatching(/^not configured on us, ap; configured on eu; .*; cannot be seen from here on sa$/),
    });
    expect(judged.remark).toContain("on us, no API server has --encryption-provider-config");
    expect(judged.remark).toContain("on ap, kube-apiserver-b not, and others have --encryption-provider-config");
    expect(judged.remark).toContain("for sa (its API servers are no pods of kube-system) read");
  });

  it("passes a database of 15 or newer and fails an older or a silent one", () => {
    expect(judgeDatabase({ version: "18.4", schema: 3 })).toMatchObject({ ok: true, detail: "PostgreSQL 18.4, schema 3" });
    expect(judgeDatabase({ version: "14.11", schema: 3 }).ok).toBe(false);
    expect(judgeDatabase({ error: new Error("reading", { cause: new Error("connection refused") }) })).toMatchObject({
      ok: false,
      detail: "reading: connection refused",
    });
    expect(judgeDatabase({ error: "no" }).detail).toBe("no");
  });

  it("fails what health says does not work, in its words, and nothing that is slow or was judged long ago", () => {
    const now = millis(10_000_000);
    const on = (instanceId: string, state: InstanceVerdict["state"], at = now): InstanceVerdict => ({
      ...{ instanceId: instanceId as InstanceId, state, at, since: at, cause: "none", component: undefined },
      ...{ text: "its controller stands still", evidence: [], baseline: undefined },
    });
    const instances = ["a", "b"].map((name) => ({ id: name as InstanceId, name: `standard-${name}` }));
    expect(judgeHealthReports([on("a", "degraded"), on("b", "stalled", millis(1))], instances, now)).toMatchObject({ ok: true });
    expect(judgeHealthReports([on("a", "stalled"), on("b", "unknown"), on("gone", "failed")], instances, now)).toMatchObject({
      name: "health of instances",
      ok: false,
      detail: "standard-a is stalled: its controller stands still; standard-b is unknown: its controller stands still",
    });
  });

  it("names instances whose token was not replaced in time, before it ends, and those whose token never ends", () => {
    const hour = 3_600_000;
    const token = (namespace: string, endsAt?: number) => ({
      namespace,
      span: endsAt === undefined ? undefined : { madeAt: millis(0), endsAt: millis(endsAt) },
    });
    expect(judgeInstanceTokens([token("argocd-1", 12 * hour)], millis(8 * hour))).toMatchObject({ ok: true });
    expect(
      judgeInstanceTokens([token("argocd-1", 12 * hour), token("argocd-2"), token("argocd-3", 24 * hour)], millis(11 * hour)),
    ).toMatchObject({
      name: "tokens of instances",
      ok: false,
      detail: "argocd-1 has one that ends 1970-01-01T12:00:00Z; argocd-2 has one that never ends",
    });
  });

  it("tells a pooler by what gets lost on the way through it", () => {
    expect(judgeSessions({ isDirect: true, isHeard: true })).toMatchObject({ ok: true, detail: "kept; notifications of changes arrive" });
    expect(judgeSessions({ isDirect: true, isHeard: false })).toMatchObject({
      ok: false,
      detail: "notifications of changes do not arrive",
    });
    expect(judgeSessions({ isDirect: false, isHeard: true })).toMatchObject({
      ok: false,
      detail: "settings of a connection are lost",
      remedy: expect.stringContaining("PgBouncer"),
    });
  });

  it("names each missing right and the command that gives it", () => {
    const missing = apiClusterRights().filter(
      ({ verb, resource, subresource }) =>
        (verb === "bind" || verb === "impersonate" || subresource === "status") && resource !== "gitopsdeploymentsyncruns",
    );
    const check = judgeRights({ name: "API cluster main", part: "api", missing: missing.slice(0, 9) });
    expect(check).toMatchObject({
      name: "permissions on API cluster main",
      ok: false,
      remedy: expect.stringMatching(/argosy manifests --for api.*helm upgrade/),
    });
    const account = { user: "system:serviceaccount:argosy-system:argosy-workspace", groups: [] };
    expect(judgeRights({ name: "x", part: "api", holder: { account, roles: ["workspace"] }, missing: missing.slice(0, 1) }).detail).toBe(
      `missing for ${account.user} (role workspace): patch gitopsdeployments/status.managed-gitops.redhat.com`,
    );
    expect(rightsText(missing)).toBe(
      "patch gitopsdeployments/status.managed-gitops.redhat.com; " +
        "patch gitopsdeploymentmanagedenvironments/status.managed-gitops.redhat.com; " +
        "patch gitopsdeploymentrepositorycredentials/status.managed-gitops.redhat.com; " +
        "bind clusterroles.rbac.authorization.k8s.io argosy-deployer; bind clusterroles.rbac.authorization.k8s.io argosy-instance-reader; " +
        "and 1 more",
    );
    expect(judgeRights({ name: "x", part: "engine", missing: [] })).toMatchObject({ ok: true, detail: "all there" });
  });

  it("asks for every right the installed roles give, each once", () => {
    for (const rights of [apiClusterRights(), engineClusterRights()]) {
      const texts = rights.map((right) => JSON.stringify(right));
      expect(new Set(texts).size).toBe(texts.length);
    }
    expect(apiClusterRights()).toContainEqual({
      verb: "impersonate",
      group: "",
      resource: "serviceaccounts",
      namespace: "argosy-accounts",
    });
    expect(apiClusterRights()).toContainEqual({ verb: "get", group: "", resource: "secrets", namespace: "argosy-system" });
    expect(engineClusterRights()).toContainEqual({ verb: "delete", group: "", resource: "namespaces" });
  });

  it("passes Kubernetes 1.29 or newer", () => {
    expect(judgeCluster("a", "v1.35.8")).toMatchObject({ ok: true, detail: "answers, Kubernetes v1.35.8" });
    expect(judgeCluster("a", "v1.29.0-eks-1").ok).toBe(true);
    expect(judgeCluster("a", "v1.29.0+k3s1").ok).toBe(true);
    expect(judgeCluster("a", "v1.28.15").ok).toBe(false);
    expect(judgeCluster("a", "unknown").ok).toBe(false);
  });

  it("fails private API servers that are not declared, and names some of them", () => {
    const spec = (apiServers?: readonly string[]) => ({
      egress: { allow: [], http: [], ...(apiServers === undefined ? {} : { apiServers }) },
    });
    const at = (cluster: string, ...addresses: string[]) => ({ cluster, addresses });
    const many = ["a", "b", "c", "d"].map((name) => at(name, "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"));
    expect(judgeApiServers(spec(), [at("api")])).toMatchObject({ ok: true, detail: "none has a private address" });
    expect(judgeApiServers(spec(["10.0.0.0/8"]), many)).toMatchObject({ ok: true, detail: "egress.apiServers is declared" });
    expect(judgeApiServers(spec([]), [at("api"), at("eu", "10.0.0.1")])).toMatchObject({
      ok: false,
      detail: "private, and egress.apiServers is not declared: eu at 10.0.0.1",
    });
    expect(judgeApiServers(spec(), many).detail).toMatch(/: a at 10.0.0.1, 10.0.0.2, 10.0.0.3; b at .*; c at .*; and 1 more$/);
  });

  it("fails a pool with fewer instances serving than are declared", () => {
    const own = { region: "eu", tier: "shared", trust: "public" };
    const spec = { pools: [{ name: "standard", class: own, instances: { min: 2, max: 4 } }] } as unknown as FleetSpec;
    const serving = anInstance("ACTIVE", "3.5.7");
    expect(judgePools(spec, [serving, anInstance("FAILED", "3.5.7")])).toMatchObject([
      { name: "pool standard", ok: false, detail: "1 ACTIVE of 2 to 4 instances" },
    ]);
    expect(judgePools(spec, [serving, serving])[0]?.ok).toBe(true);
    const scaled = { ...spec, pools: spec.pools.map((pool) => ({ ...pool, instances: { ...pool.instances, scaling: "auto" as const } })) };
    const short = { classes: new Set(spec.pools.map(classOf)), limits: {} };
    expect(judgePools(scaled, [serving, serving], short)).toMatchObject([
      { ok: true, remark: expect.stringContaining("raise instances.max") },
    ]);
    expect(judgePools(spec, [serving, serving], short)[0]).not.toHaveProperty("remark");
  });

  it("notes which instances ran out of what their pool does not allow them", () => {
    const own = { region: "eu", tier: "shared", trust: "public" };
    const pool = { name: "standard", class: own, instances: { min: 1, max: 4 } };
    const serving = anInstance("ACTIVE", "3.5.7");
    const remarkOf = (resources: object, why: "MAXIMUM" | "REFUSED") => {
      const limit = { amount: "controller.memory", given: "8Gi", why, since: millis(0), seenAt: millis(0) } as const;
      const spec = { pools: [{ ...pool, resources }] } as unknown as FleetSpec;
      return judgePools(spec, [serving], { classes: new Set(), limits: { [serving.id]: limit } })[0]?.remark;
    };
    const max = { controller: { memory: "8Gi" } };
    expect(remarkOf({ max }, "MAXIMUM")).toBe(
      `${serving.name} runs out of controller.memory, and 8Gi is all that its pool allows: raise resources.max, or instances.max`,
    );
    expect(remarkOf({ max }, "REFUSED")).toContain("its pods did not get ready with more than 8Gi");
    expect(remarkOf({}, "MAXIMUM")).toBeUndefined();
  });

  it("notes that every namespace is a workspace, and nothing where labels say which", () => {
    const quota = { deployments: 1, syncsPerMinute: 1 };
    expect(judgeWorkspaces({ workspaces: { selector: {}, everyNamespace: true, quota } })).toMatchObject({
      ...{ ok: true, detail: "every namespace is one", remark: expect.stringContaining("workspaces.selector") },
    });
    const labelled = judgeWorkspaces({ workspaces: { selector: { "argosy.dev/workspace": "true" }, quota } });
    expect(labelled.detail).toBe("namespaces labelled argosy.dev/workspace=true");
    expect(labelled).not.toHaveProperty("remark");
  });

  it("notes who takes more of an instance's CPU than the class allows, and fails for none", () => {
    expect(judgeCpuShares([])).toMatchObject({ ok: true, detail: "no workspace took more than its class allows in six hours" });
    expect(judgeCpuShares([])).not.toHaveProperty("remark");
    const one = { namespace: "team-a", instance: "standard-1", class: "eu/shared/public", share: 0.5, limit: 0.25 };
    const many = Array.from({ length: 20 }, () => one);
    expect(judgeCpuShares([one])).toMatchObject({
      ...{ ok: true, detail: "1 workspace", remark: "team-a takes 50 % of the CPU that standard-1 bears, where its class allows 25 %" },
    });
    expect(judgeCpuShares(many).remark).toMatch(/; and \d+ more$/);
  });

  it("notes controllers without the memory for what a declaration of before lets them hold, and that nothing bounds an environment", () => {
    const capacity = asLoadVector({ applications: 1_000_000, clusterEntries: 60, cachedResources: 250_000, milliCpu: 1, gitPerMinute: 1 });
    const pool = (memory: string) =>
      [{ name: "standard", capacity, resources: { controller: { memory } } }] as unknown as FleetSpec["pools"];
    const quota = { deployments: 1, syncsPerMinute: 1 };
    const workspaces = { selector: { a: "b" }, quota: { ...quota, environmentObjects: 1_000 } };
    expect(judgeControllerMemory({ pools: pool("2Gi"), workspaces })).toMatchObject({
      ...{ ok: true, remark: expect.stringContaining("pool standard needs 3777 MiB of 2048 MiB") },
    });
    expect(judgeControllerMemory({ pools: pool("4Gi"), workspaces })).not.toHaveProperty("remark");
    expect(judgeControllerMemory({ pools: pool("4Gi"), workspaces: { ...workspaces, quota } }).remark).toMatch(/^nothing bounds what/);
  });

  it("notes kinds that are tried without being allowed, and an open list with those it would have to name", () => {
    const deployed = [
      { group: "", kind: "Secret", applications: 9 },
      { group: "example.org", kind: "Widget", applications: 2 },
      { group: "", kind: "LimitRange", applications: 1 },
      { group: "cert-manager.io", kind: "Issuer", applications: 1 },
    ];
    const judged = (...allowedGroups: readonly string[]) => judgeKinds({ deployments: { allowedGroups } }, deployed);
    expect(judged("*")).toMatchObject({ ok: true, remark: expect.stringMatching(/in use are Widget of example.org \(2 applications\)$/) });
    expect(judged()).toMatchObject({ ok: true, remark: expect.stringMatching(/not allowed: Widget of example.org \(2 applications\);/) });
    expect(judged()).toMatchObject({ detail: "those of Kubernetes" });
    expect(judged("example.org")).not.toHaveProperty("remark");
    expect(judged("example.org").detail).toBe("those of Kubernetes, and example.org");
    expect(judgeKinds({ deployments: { allowedGroups: ["*"] } }, []).remark).toContain("nothing in use needs it");
  });

  it("passes a pool of which somebody cordoned or drains instances, with a remark; not one that is short by itself", () => {
    const own = { region: "eu", tier: "shared", trust: "public" };
    const spec = { pools: [{ name: "standard", class: own, instances: { min: 2, max: 4 } }] } as unknown as FleetSpec;
    const serving = anInstance("ACTIVE", "3.5.7");
    const cordoned = { ...anInstance("CORDONED", "3.5.7"), ...cordonedBy("otto", "a kernel update") };
    const surplus = { ...anInstance("CORDONED", "3.5.7", "its pool asks for fewer instances"), cause: { code: "POOL" } } as const;
    const remark = "fewer than declared take new workspaces: standard-CORDONED by order";
    expect(judgePools(spec, [serving, cordoned])).toEqual([
      { name: "pool standard", ok: true, detail: "1 ACTIVE of 2 to 4 instances", remedy: expect.any(String), remark },
    ]);
    expect(judgePools(spec, [serving, anInstance("DRAINING", "3.5.7", "drained by otto: old disk")])[0]).toMatchObject({ ok: true });
    expect(judgePools(spec, [serving, surplus])[0]?.ok).toBe(false);
    expect(judgePools(spec, [cordoned])[0]?.ok).toBe(false);
    expect(judgePools(spec, [serving, serving, cordoned])[0]).not.toHaveProperty("remark");
    expect(judgeInstances([serving, cordoned, surplus], undefined, millis(0)).map((check) => check.remark)).toEqual([
      undefined,
      "cordoned by otto: a kernel update; `argosy uncordon standard-CORDONED` ends it",
      undefined,
    ]);
  });

  it("fails an instance that has been on its way for too long", () => {
    const at = (minutes: number) => millis(minutes * 60_000);
    expect(judgeInstances([anInstance("WARMING", "3.5.7")], undefined, at(10))[0]?.ok).toBe(true);
    expect(judgeInstances([anInstance("WARMING", "3.5.7")], undefined, at(20))[0]).toMatchObject({
      ok: false,
      detail: "WARMING for 20 minutes, 3.5.7",
    });
    expect(judgeInstances([anInstance("ACTIVE", "3.5.7")], undefined, at(20))[0]?.ok).toBe(true);
  });

  const TWO = { fleet: "two-people" } as const;

  it("notes that one person may change everything, and releases that are not named by digest", () => {
    const of = (image: string) =>
      ({
        pools: [{}],
        engineClusters: [{}],
        versions: { catalogue: [{ version: "3.5.7", image, redisImage: image }] },
      }) as unknown as FleetSpec;
    expect(judgeFleet(of(`a@sha256:${"0".repeat(64)}`), TWO)).not.toHaveProperty("remark");
    expect(judgeFleet(of("a:v1"), TWO)).toMatchObject({ ok: true, remark: expect.stringMatching(/^images without digest: 3\.5\.7;/) });
    expect(judgeFleet(of(`a@sha256:${"0".repeat(64)}`), { fleet: "nobody" })).toMatchObject({
      ok: true,
      remark: expect.stringContaining("one person alone may change images"),
    });
  });

  it("asks for a fleet where none is declared", () => {
    expect(judgeFleet({ pools: [{}], engineClusters: [{}, {}], versions: { catalogue: [] } } as unknown as FleetSpec, TWO)).toMatchObject({
      ok: true,
      detail: "1 pool, 2 engine clusters",
    });
    expect(judgeFleet(undefined, TWO)).toMatchObject({ ok: false, remedy: "Declare one with: argosy apply -f fleet.yaml" });
  });

  it("fails instances that failed or run below the floor, and says nothing of retired ones", () => {
    const checks = judgeInstances(
      [
        anInstance("ACTIVE", "3.5.7"),
        anInstance("FAILED", "3.5.7", "no room on any node"),
        anInstance("CORDONED", "3.4.10"),
        anInstance("RETIRED", "3.0.0"),
      ],
      "3.5.1",
      millis(0),
    );
    expect(checks.map((check) => [check.name, check.ok, check.detail])).toEqual([
      ["instance standard-ACTIVE", true, "ACTIVE, 3.5.7"],
      ["instance standard-FAILED", false, "FAILED, 3.5.7, no room on any node"],
      ["instance standard-CORDONED", false, "CORDONED, 3.4.10, below the floor 3.5.1"],
    ]);
    // As placement sees it: a pre-release, or a name that is no release, is below every floor.
    for (const version of ["3.5.1-rc1", "latest"])
      expect(judgeInstances([anInstance("ACTIVE", version)], "3.5.1", millis(0))[0]?.ok).toBe(false);
    expect(judgeInstances([anInstance("ACTIVE", "2.14.0")], undefined, millis(0))[0]?.ok).toBe(true);
  });
});
