import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import type { InstanceId, MemberId, UnitId } from "../domain/ids.ts";
import { ACCOUNTS_NAMESPACE, ANNOTATION_EPOCH, LABEL_MANAGED_BY, MANAGED_BY } from "../domain/names.ts";
import { refuseOldDatabase } from "../main/recovery.ts";
import { processesOf } from "../mover/recovery/recover-epochs.ts";
import { systemClock } from "../runtime/clock.ts";
import { loadKubeconfig } from "../runtime/kube/auth.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import { createKubeClient } from "../runtime/kube/http.ts";
import type { KubeObject, ResourceType } from "../runtime/kube/resource.ts";
import { realApiServer } from "../runtime/kube/testing/real-api-server.ts";
import { systemRng } from "../runtime/rng.ts";
import { accountName, ownerBindingName } from "../shard/names.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { Store } from "../store/port.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../store/testing/test-server.ts";
import { createWorld, type Deployed, soon, type World } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { runCommand } from "./testing/run-command.ts";

const kubeconfig = await realApiServer();
const TYPES = {
  namespace: { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false },
  account: { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true },
  ownerBinding: { group: "rbac.authorization.k8s.io", version: "v1", plural: "rolebindings", kind: "RoleBinding", namespaced: true },
} as const satisfies Readonly<Record<string, ResourceType>>;

describe.skipIf(kubeconfig === undefined)("a database that was restored, beside a real API server", () => {
  const directory = mkdtempSync(join(tmpdir(), "argosy-recovery-"));
  const run = randomUUID().slice(0, 8);
  const namespaces = ["stays", "moved", "strange"].map((name) => `recovery-${name}-${run}`);
  const parts = { clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics };
  let client: KubeClient;
  let server: TestServer;
  let database: TestDatabase;
  let store: Store;
  let world: World;
  let deployed: readonly Deployed[];
  let elsewhere: InstanceId;
  let seenEpoch = 0;

  const labels = { [LABEL_MANAGED_BY]: MANAGED_BY };
  const create = (type: ResourceType, object: object) =>
    client.create(type, { apiVersion: "v1", kind: type.kind, ...object } as Parameters<KubeClient["create"]>[1], soon());
  const ownerBinding = async (namespace: string, unit: string, subject: string) =>
    create(TYPES.ownerBinding, {
      ...{ apiVersion: "rbac.authorization.k8s.io/v1" },
      metadata: { namespace, name: ownerBindingName(0), labels, annotations: { [ANNOTATION_EPOCH]: "4", "argosy.dev/unit": unit } },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "ServiceAccount", namespace: ACCOUNTS_NAMESPACE, name: subject }],
    });

  beforeAll(async () => {
    client = createKubeClient({ ...parts, cluster: "real", credentials: loadKubeconfig({ file: kubeconfig ?? "" }) });
    server = await startTestServer();
    database = await server.createMigrated();
    store = await createPostgresStore({ ...parts, url: database.url, poolSize: 4 });
    world = createWorld(store);
    deployed = [];
    for (const namespace of namespaces) deployed = [...deployed, await world.deploy({ namespace })];
    elsewhere = (await world.addInstance()).id;
    seenEpoch = (await store.recovery.readLastEpoch(soon())) + 5_000;
    await create(TYPES.namespace, { metadata: { name: ACCOUNTS_NAMESPACE } }).catch(() => undefined);
    for (const name of namespaces) await create(TYPES.namespace, { metadata: { name } });
    const annotations = { [ANNOTATION_EPOCH]: String(seenEpoch) };
    await create(TYPES.account, { metadata: { namespace: ACCOUNTS_NAMESPACE, name: `u-${run}`, labels, annotations } });
    const [stays, moved, strange] = deployed as readonly [Deployed, Deployed, Deployed];
    await ownerBinding(namespaces[0] ?? "", stays.unitId, accountName(stays.unitId, stays.instanceId));
    await ownerBinding(namespaces[1] ?? "", moved.unitId, accountName(moved.unitId, elsewhere));
    await ownerBinding(namespaces[2] ?? "", strange.unitId, "u-of-an-instance-that-no-row-knows");
    writeFileSync(
      join(directory, "argosy.yaml"),
      stringify({ roles: ["api"], stateDir: directory, apiCluster: { name: "api", kubeconfig, singleServer: true } }),
    );
  });
  afterAll(async () => {
    for (const name of namespaces) await client.delete(TYPES.namespace, { namespace: "", name }, {}, soon());
    await client.delete(TYPES.account, { namespace: ACCOUNTS_NAMESPACE, name: `u-${run}` }, {}, soon());
    await client.close();
    await store.close();
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  const command = (...args: readonly string[]) => {
    return ["recover-epochs", "-c", join(directory, "argosy.yaml"), "--database", database.url, ...args];
  };
  const argosy = (...args: readonly string[]) => runCommand(command(...args), {});
  const owners = async () => Promise.all(deployed.map(async ({ applicationId }) => (await world.unit(applicationId)).owner));
  const subjectsOf = async (namespace: string | undefined) =>
    (
      await client.get<KubeObject & { readonly subjects?: readonly { readonly name: string }[] }>(
        TYPES.ownerBinding,
        { namespace: namespace ?? "", name: ownerBindingName(0) },
        soon(),
      )
    )?.subjects;

  it("is not served", async () => {
    await expect(refuseOldDatabase({ store, api: client, ...parts }, soon())).rejects.toMatchObject({
      code: "main.old-database",
      remedy: expect.stringContaining("recover-epochs"),
    });
  });

  it("is not touched while a control plane is at work", async () => {
    await store.members.heartbeat("somebody" as MemberId, ["workspace"], 60_000, soon());
    const { code, err } = await argosy("--dry-run");
    expect([code, err]).toEqual([1, expect.stringContaining("somebody is at work")]);
    await store.members.leave("somebody" as MemberId, soon());
  });

  it("is shown who really owns what, and keeps everything as it is in a dry run", async () => {
    const before = await owners();
    const { code, out, err } = await argosy("--dry-run");
    expect(code).toBe(0);
    expect(out).toContain("MOVED");
    expect(out).toContain("STRANGER");
    expect(out).not.toContain(namespaces[0]);
    expect(err).toContain("nothing was written");
    expect(JSON.parse((await argosy("--dry-run", "-o", "json")).out)).toMatchObject({ isOlder: true, newestSeen: seenEpoch });
    expect(await owners()).toEqual(before);
    expect(await subjectsOf(namespaces[2])).toHaveLength(1);
  });

  it("can be recovered anew at once when that was broken off", async () => {
    const ending = new AbortController();
    const running = runCommand(command(), {}, ending.signal);
    // It waits for the fence time of whoever has lost the right.
    while (((await subjectsOf(namespaces[2])) ?? []).length > 0) await new Promise(setImmediate);
    ending.abort(new Error("SIGTERM"));
    expect(await running).toMatchObject({ code: 1, err: expect.stringContaining("SIGTERM") });
    const live = await store.members.heartbeat("somebody" as MemberId, ["workspace"], 60_000, soon());
    await store.members.leave("somebody" as MemberId, soon());
    expect(processesOf(live)).toEqual(["somebody"]);
    await expect(refuseOldDatabase({ store, api: client, ...parts }, soon())).rejects.toMatchObject({
      ...{ code: "main.unfinished-recovery", remedy: expect.stringContaining("recover-epochs") },
    });
    expect((await argosy("--dry-run")).err).toContain("3 units");
  });

  it("is brought up to what stands, and is served then", async () => {
    const { code, err } = await argosy();
    expect([code, err]).toEqual([0, expect.stringContaining("3 have a new epoch")]);
    const [stays, , strange] = deployed;
    expect(await owners()).toEqual([stays?.instanceId, elsewhere, strange?.instanceId]);
    expect((await subjectsOf(namespaces[2])) ?? []).toEqual([]);
    expect(await subjectsOf(namespaces[1])).toHaveLength(1);
    for (const { applicationId } of deployed) expect((await world.unit(applicationId)).epoch).toBeGreaterThan(seenEpoch);
    await refuseOldDatabase({ store, api: client, ...parts }, soon());
    expect(await store.decisions.list({ subject: deployed[1]?.unitId as UnitId }, 1, soon())).toMatchObject([
      { verdict: "RECOVERED", rule: "MOVED" },
    ]);
    // Nobody of it stays behind who would keep the next one from its work.
    expect((await argosy("--dry-run")).err).toContain("is not older");
  });
});
