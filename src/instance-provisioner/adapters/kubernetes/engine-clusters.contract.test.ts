import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { InstanceId } from "../../../domain/ids.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import { until } from "../../../runtime/kube/testing/until.ts";
import { createSeededRng } from "../../../runtime/rng.ts";
import { createVirtualClock } from "../../../runtime/testing/virtual-clock.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { renderManifests } from "../../manifests/render.ts";
import { someParameters } from "../../testing/parameters.ts";
import { createEngineClusters } from "./engine-clusters.ts";
import { STATEFUL_SETS } from "./types.ts";

const instance = { id: someParameters().instance.id, namespace: "argosy-standard-1" };

let server: FakeApiServer;
let client: KubeClient | undefined;
const abort = new AbortController();
const clock = createVirtualClock();

beforeEach(async () => {
  server = await startFakeApiServer();
  client = server.client("eu-1");
});
afterEach(() => server.close());

const open = () =>
  createEngineClusters({
    clock,
    rng: createSeededRng(1),
    log: silentLog,
    metrics: noMetrics,
    clientOf: async () => client,
    signal: abort.signal,
  });

describe("engine clusters", () => {
  it("are opened once, also for two requests at the same time", async () => {
    const clusters = open();
    const [a, b] = await Promise.all([clusters.get("eu-1"), clusters.get("eu-1")]);
    expect(a).toBe(b);
    await clock.advance(120_000);
    expect(await clusters.get("eu-1")).toBe(a);
  });

  it("are missing without credentials, and there once these exist", async () => {
    const [later, clusters] = [client, open()];
    client = undefined;
    expect(await clusters.get("eu-1")).toBeUndefined();
    client = later;
    expect((await clusters.get("eu-1"))?.name).toBe("eu-1");
  });

  it("are opened again with new credentials, and the old watches end", async () => {
    const clusters = open();
    const before = await clusters.get("eu-1");
    await before?.observe(instance, abort.signal);
    await until(() => server.openWatches() === 12);
    client = server.client("eu-1");
    await clock.advance(60_000);
    const after = await clusters.get("eu-1");
    expect(after).not.toBe(before);
    await after?.observe(instance, abort.signal);
    await until(() => server.openWatches() === 12);
  });

  it("report which instance's objects have changed", async () => {
    const clusters = open();
    const reported = new Set<InstanceId>();
    const end = clusters.subscribe((id) => reported.add(id));
    await (await clusters.get("eu-1"))?.applyObjects(renderManifests(someParameters()).slice(0, 3), abort.signal);
    await until(() => reported.has(instance.id));
    end();
  });
});

describe("an instance on an engine cluster", () => {
  it("is absent, then ours; its workloads are ready once their pods are", async () => {
    const cluster = await open().get("eu-1");
    if (cluster === undefined) throw new Error("the cluster was declared");
    expect(await cluster.observe(instance, abort.signal)).toEqual({ namespace: "absent" });
    const objects = renderManifests(someParameters());
    expect(await cluster.applyObjects(objects, abort.signal)).toHaveLength(objects.length);
    const seen = async () => cluster.observe(instance, abort.signal);
    let last = await seen();
    while (last.namespace !== "ours" || last.components.length < 3) last = await seen();
    expect(last.components.map((one) => [one.name, one.isReady])).toEqual([
      ["argocd-application-controller", false],
      ["argocd-repo-server", false],
      ["argocd-redis", false],
    ]);
    const at = { namespace: instance.namespace, name: "argocd-application-controller", subresource: "status" };
    const pods = { observedGeneration: 1, replicas: 1, updatedReplicas: 1 };
    const controller = async () => {
      const now = await seen();
      return now.namespace === "ours" ? now.components[0] : undefined;
    };
    await client?.mergePatch(STATEFUL_SETS, at, { status: { ...pods, readyReplicas: 0 } }, abort.signal);
    await vi.waitUntil(async () => (await controller())?.detail === "0 of 1 pods are ready, 1 up to date", {
      timeout: 20_000,
      interval: 2,
    });
    expect((await controller())?.isReady).toBe(false);
    await client?.mergePatch(STATEFUL_SETS, at, { status: { ...pods, readyReplicas: 1 } }, abort.signal);
    await vi.waitUntil(async () => (await controller())?.isReady, { timeout: 20_000, interval: 2 });
    expect(await cluster.observe({ ...instance, id: "other" as InstanceId }, abort.signal)).toEqual({
      namespace: "foreign",
      owner: instance.id,
    });
  });

  it("keeps its namespace when somebody else asks for its deletion", async () => {
    const cluster = await open().get("eu-1");
    await cluster?.applyObjects(renderManifests(someParameters()).slice(0, 1), abort.signal);
    await cluster?.deleteNamespace({ ...instance, id: "other" as InstanceId }, abort.signal);
    expect(await cluster?.observe(instance, abort.signal)).toMatchObject({ namespace: "ours" });
    expect(await cluster?.deleteNamespace(instance, abort.signal)).toEqual({ kind: "deleting" });
  });
});
