import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readOwnAccount } from "../../src/api/doctor/ask-rights.ts";
import { examine } from "../../src/api/doctor/examine.ts";
import { API_ACCOUNT, accountOfRole } from "../../src/cli/install/roles.ts";
import type { MemberId } from "../../src/domain/ids.ts";
import { ACCOUNTS_NAMESPACE } from "../../src/domain/names.ts";
import { ROLES } from "../../src/domain/role.ts";
import { ROLE_BINDINGS } from "../../src/reconciler/adapters/kubernetes/types.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { realApiServer } from "../../src/runtime/kube/testing/real-api-server.ts";
import { createMemoryStore } from "../../src/store/adapters/memory/memory-store.ts";
import { aFleet } from "../../src/store/testing/builders.ts";
import { type InstalledCluster, startInstalledCluster } from "./testing/installed-cluster.ts";

const never = new AbortController().signal;
const LONG_MS = 600_000;
const ONE_CLUSTER = aFleet({ engineClusters: [{ name: "local", region: "eu", access: { kind: "inCluster" } }] });

describe.runIf((await realApiServer()) !== undefined)("the doctor on a real API server", () => {
  let cluster: InstalledCluster;
  const clients = new Map<string, KubeClient>();
  beforeAll(async () => {
    cluster = await startInstalledCluster(never);
    for (const name of [...ROLES.map(accountOfRole), API_ACCOUNT, "nobody"]) clients.set(name, await cluster.as(name));
  });
  afterAll(() => cluster?.stop());

  /** What it finds about rights when it is asked as an account, while these members live, each under its account. */
  async function found(by: string, members: readonly (readonly [roles: readonly string[], account: string | undefined])[]) {
    const store = createMemoryStore({ clock: systemClock });
    await store.fleet.applyFleet(ONE_CLUSTER, "ada", never);
    for (const [index, [roles, account]] of members.entries()) {
      const id = `member-${index}` as MemberId;
      await store.members.heartbeat(id, roles, LONG_MS, never);
      const client = account === undefined ? undefined : clients.get(account);
      if (client !== undefined) await store.members.recordAccount(id, await readOwnAccount(client, never), never);
    }
    const client = clients.get(by) as KubeClient;
    const parts = { store, clock: systemClock, apiCluster: client, engineCluster: async () => client, isInApiCluster: true };
    const checks = await examine({ ...parts, destination: { server: "https://127.0.0.1" }, insideAddressesOf: async () => [] }, never);
    return checks.filter(({ name }) => name.startsWith("permissions"));
  }
  const byRole = ROLES.map((role) => [[role], accountOfRole(role)] as const);

  it("finds every right of each role's account, there and in the same cluster as one that hosts instances", async () => {
    const checks = await found(accountOfRole("api"), byRole);
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(checks.map(({ name }) => name)).toEqual([
      ...[...ROLES].sort().map((role) => `permissions on API cluster installed as argosy-${role}`),
      ...[...ROLES].sort().map((role) => `permissions on engine cluster local as argosy-${role}`),
    ]);
  });

  it("finds those of one account for all roles, in one check for each cluster", async () => {
    const checks = await found(API_ACCOUNT, [[ROLES, API_ACCOUNT]]);
    expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
      ["permissions on API cluster installed", true],
      ["permissions on engine cluster local", true],
    ]);
    expect(checks[0]?.detail).toBe("all there for system:serviceaccount:argosy-system:argosy-api-cluster (all roles)");
  });

  it("says which right is missing to which account, for which role, though whoever answers has it all", async () => {
    const checks = await found(API_ACCOUNT, [
      [ROLES, API_ACCOUNT],
      [["workspace"], "nobody"],
    ]);
    const missing = checks.filter(({ ok }) => !ok);
    expect(missing.map(({ name }) => name)).toEqual(["permissions on API cluster installed as nobody"]);
    expect(missing[0]?.detail).toMatch(/^missing for system:serviceaccount:argosy-system:nobody \(role workspace\): .*namespaces/);
  });

  it("finds a binding that somebody has deleted", async () => {
    const at = { namespace: ACCOUNTS_NAMESPACE, name: accountOfRole("reconciler") };
    const binding = await cluster.admin.get(ROLE_BINDINGS, at, never);
    await cluster.admin.delete(ROLE_BINDINGS, at, {}, never);
    const missing = (await found(accountOfRole("api"), byRole)).filter(({ ok }) => !ok);
    expect(missing.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/argosy-reconciler \(role reconciler\): .*in argosy-accounts/),
    ]);
    const { roleRef, subjects } = binding as unknown as Record<string, unknown>;
    const again = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: at, roleRef, subjects };
    await cluster.admin.create(ROLE_BINDINGS, again, never);
  });

  it("takes processes that have not said as whom they act for itself, as before", async () => {
    const checks = await found(API_ACCOUNT, [[ROLES, undefined]]);
    expect(checks.map(({ ok }) => ok)).toEqual([true, true]);
    expect((await found(API_ACCOUNT, [])).map(({ ok }) => ok)).toEqual([true, true]);
    expect((await found(accountOfRole("workspace"), [[["reconciler"], undefined]])).map(({ ok }) => ok)).toEqual([false, false]);
  });

  it("says so where whoever answers may not ask about others", async () => {
    const checks = await found(accountOfRole("health"), [[["health"], accountOfRole("health")]]);
    expect(checks[0]).toMatchObject({ ok: false, detail: expect.stringContaining("may not ask what others may do") });
  });
});
