import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance, InstanceState } from "../../domain/instance.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import { API_CLUSTER_RIGHTS, judgeDatabase, judgeFleet, judgeInstances, judgeRights, rightText } from "./checks.ts";

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
  revision: 1,
});

describe("the doctor", () => {
  it("passes a database of 15 or newer and fails an older or a silent one", () => {
    expect(judgeDatabase({ version: "18.4", schema: 3 })).toMatchObject({ ok: true, detail: "PostgreSQL 18.4, schema 3" });
    expect(judgeDatabase({ version: "14.11", schema: 3 }).ok).toBe(false);
    expect(judgeDatabase({ error: new Error("reading", { cause: new Error("connection refused") }) })).toMatchObject({
      ok: false,
      detail: "reading: connection refused",
    });
    expect(judgeDatabase({ error: "no" }).detail).toBe("no");
  });

  it("names each missing right and the command that gives it", () => {
    const missing = API_CLUSTER_RIGHTS.filter(
      (right) => right.verb === "bind" || right.subresource === "status" || right.verb === "impersonate",
    );
    const check = judgeRights("API cluster main", missing, "api");
    expect(check.ok).toBe(false);
    expect(check.detail).toBe(
      "missing: patch gitopsdeployments/status.managed-gitops.redhat.com; bind clusterroles.rbac.authorization.k8s.io argosy-deployer; impersonate serviceaccounts in argosy-accounts",
    );
    expect(check.remedy).toContain("argosy manifests --for api");
    expect(judgeRights("x", [], "engine")).toMatchObject({ ok: true, detail: "all there" });
    expect(rightText({ verb: "create", group: "", resource: "namespaces" })).toBe("create namespaces");
  });

  it("asks for a fleet where none is declared", () => {
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
    );
    expect(checks.map((check) => [check.name, check.ok, check.detail])).toEqual([
      ["instance standard-ACTIVE", true, "ACTIVE, 3.5.7"],
      ["instance standard-FAILED", false, "FAILED, 3.5.7, no room on any node"],
      ["instance standard-CORDONED", false, "CORDONED, 3.4.10, below the floor 3.5.1"],
    ]);
    expect(judgeInstances([anInstance("ACTIVE", "3.5")], "3.5.0")[0]?.ok).toBe(true);
    expect(judgeInstances([anInstance("ACTIVE", "2.14.0")], undefined)[0]?.ok).toBe(true);
  });
});
