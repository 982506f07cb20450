import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { cordonedBy } from "../../domain/cordon.ts";
import type { FleetSpec } from "../../domain/fleet.ts";
import type { InstanceVerdict } from "../../domain/health.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance, InstanceState } from "../../domain/instance.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import {
  judgeApiServers,
  judgeCluster,
  judgeDatabase,
  judgeFleet,
  judgeHealthReports,
  judgeInstances,
  judgeOwnershipFindings,
  judgePools,
  judgeRights,
  judgeSessions,
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
  revision: 1,
});

describe("the doctor", () => {
  it("names what the watchdog has found and is still so, and how much more", () => {
    const finding = (rule: "TWO_OWNERS" | "ORPHAN", text: string) => ({ key: text, rule, subject: "u", instances: [], text });
    expect(judgeOwnershipFindings([])).toMatchObject({ name: "ownership", ok: true });
    const open = [finding("TWO_OWNERS", "a and b"), finding("ORPHAN", "c"), finding("ORPHAN", "d"), finding("ORPHAN", "e")];
    expect(judgeOwnershipFindings(open)).toMatchObject({ ok: false, detail: "TWO_OWNERS: a and b; ORPHAN: c; ORPHAN: d; and 1 more" });
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
        "bind clusterroles.rbac.authorization.k8s.io argosy-deployer; bind clusterroles.rbac.authorization.k8s.io argosy-reader; " +
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
    const spec = { pools: [{ name: "standard", instances: { min: 2, max: 4 } }] } as unknown as FleetSpec;
    const serving = anInstance("ACTIVE", "3.5.7");
    expect(judgePools(spec, [serving, anInstance("FAILED", "3.5.7")])).toMatchObject([
      { name: "pool standard", ok: false, detail: "1 ACTIVE of 2 to 4 instances" },
    ]);
    expect(judgePools(spec, [serving, serving])[0]?.ok).toBe(true);
  });

  it("passes a pool of which somebody cordoned or drains instances, with a remark; not one that is short by itself", () => {
    const spec = { pools: [{ name: "standard", instances: { min: 2, max: 4 } }] } as unknown as FleetSpec;
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

  it("asks for a fleet where none is declared", () => {
    expect(judgeFleet({ pools: [{}], engineClusters: [{}, {}] } as unknown as FleetSpec)).toMatchObject({
      ok: true,
      detail: "1 pool, 2 engine clusters",
    });
    expect(judgeFleet(undefined)).toMatchObject({ ok: false, remedy: "Declare one with: argosy apply -f fleet.yaml" });
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
