import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { InstanceId } from "../../../domain/ids.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import { silentLog } from "../../../telemetry/log.ts";
import type { UsageSource } from "../../port.ts";
import { createUsageReader } from "../../read-usage.ts";
import { anInstance } from "../../testing/instances.ts";
import { readByAddress, readByProxy } from "./read-metrics.ts";
import { instanceTypeOf, PODS } from "./types.ts";
import { createUsageSource } from "./usage-source.ts";

const signal = AbortSignal.timeout(60_000);
const PAGE = ["# HELP x y", 'argocd_app_info{name="a"} 1', "process_resident_memory_bytes 2.5e+08", "promhttp_x 1", ""].join("\n");
const at = { namespace: "argosy-standard-1", pod: "argocd-application-controller-0", port: 8082 };

let page: Server;
let body = PAGE;
let asked: string[] = [];
let server: FakeApiServer;
let client: KubeClient;
beforeEach(async () => {
  body = PAGE;
  asked = [];
  page = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end(body);
  });
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  server = await startFakeApiServer();
  client = server.client();
});
afterEach(async () => {
  page.close();
  await server.close();
});

const port = (): number => (page.address() as AddressInfo).port;

async function linesOf(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all.filter((line) => line !== "");
}

describe("a pod's metrics", () => {
  it("are read line by line at its address", async () => {
    await client.create(PODS, { apiVersion: "v1", kind: "Pod", metadata: { name: at.pod, namespace: at.namespace } }, signal);
    await client.mergePatch(PODS, { ...at, name: at.pod, subresource: "status" }, { status: { podIP: "127.0.0.1" } }, signal);
    expect(await linesOf(readByAddress(client)({ ...at, port: port() }, signal))).toEqual(PAGE.split("\n").slice(0, -1));
    expect(asked).toEqual(["/metrics"]);
    body = "x".repeat(100_000);
    await expect(linesOf(readByAddress(client)({ ...at, port: port() }, signal))).rejects.toMatchObject({ code: "instance.no-metrics" });
  });

  it("can be read of every pod of a component where pods are reached directly, and of no listed pod through the API server", async () => {
    const pod = (name: string, component: string) => ({
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: { name, namespace: at.namespace, labels: { "app.kubernetes.io/name": component } },
    });
    for (const name of ["repo-b", "repo-a"]) await client.create(PODS, pod(name, "argocd-repo-server"), signal);
    await client.create(PODS, pod("redis", "argocd-redis"), signal);
    const where = { namespace: at.namespace, components: ["argocd-repo-server"] };
    expect(await createUsageSource(client, "address").listReachable(where, signal)).toEqual([
      { name: "repo-a", component: "argocd-repo-server" },
      { name: "repo-b", component: "argocd-repo-server" },
    ]);
    expect(await createUsageSource(client, "proxy").listReachable(where, signal)).toEqual([]);
  });

  it("are read of pods that were listed without another request, and of others by a request for each", async () => {
    const labels = { "app.kubernetes.io/name": "argocd-repo-server" };
    for (const name of ["repo-a", "repo-b"]) {
      const metadata = { name, namespace: at.namespace, ...(name === "repo-a" ? { labels } : {}) };
      await client.create(PODS, { apiVersion: "v1", kind: "Pod", metadata }, signal);
      await client.mergePatch(PODS, { namespace: at.namespace, name, subresource: "status" }, { status: { podIP: "127.0.0.1" } }, signal);
    }
    const source = createUsageSource(client, "address");
    await source.listReachable({ namespace: at.namespace, components: ["argocd-repo-server", "argocd-application-controller"] }, signal);
    const requests = () => server.requests().filter(({ method, url }) => method === "GET" && url.includes("/pods/")).length;
    const before = requests();
    await linesOf(source.readMetrics({ namespace: at.namespace, pod: "repo-a", port: port() }, signal));
    expect(requests() - before).toBe(0);
    await linesOf(source.readMetrics({ namespace: at.namespace, pod: "repo-b", port: port() }, signal));
    expect(requests() - before).toBe(1);
  });

  it("cannot be read of a pod that does not exist or does not answer", async () => {
    await expect(linesOf(readByAddress(client)(at, signal))).rejects.toMatchObject({ code: "instance.no-metrics" });
    await client.create(PODS, { apiVersion: "v1", kind: "Pod", metadata: { name: at.pod, namespace: at.namespace } }, signal);
    await client.mergePatch(PODS, { ...at, name: at.pod, subresource: "status" }, { status: { podIP: "127.0.0.1" } }, signal);
    await expect(linesOf(readByAddress(client)({ ...at, port: 2 }, signal))).rejects.toMatchObject({ code: "instance.no-metrics" });
  });

  it("are read through the API server by the pod's name and port where pods cannot be reached", async () => {
    const paths: string[] = [];
    const lines = readByProxy({
      async *watchLines(path) {
        paths.push(path);
        yield* PAGE.split("\n");
      },
    });
    expect(await linesOf(lines(at, signal))).toContain("process_resident_memory_bytes 2.5e+08");
    expect(paths).toEqual(["/api/v1/namespaces/argosy-standard-1/pods/argocd-application-controller-0%3A8082/proxy/metrics"]);
  });
});

describe("what an instance costs", () => {
  const instance = anInstance();
  const other = anInstance({ id: "other" as InstanceId, engineCluster: "away" });

  it("is the number of its cluster entries and its controller's memory, each absent where it cannot be read", async () => {
    const secrets = instanceTypeOf("Secret");
    const add = (name: string, labels: Readonly<Record<string, string>>) =>
      client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: at.namespace, labels } }, signal);
    await add("shared", { "argocd.argoproj.io/secret-type": "cluster" });
    await add("environment", { "argocd.argoproj.io/secret-type": "cluster" });
    await add("repository", { "argocd.argoproj.io/secret-type": "repository" });
    const readMetrics = async function* () {
      yield* PAGE.split("\n");
    };
    const source: UsageSource = { ...createUsageSource(client, "proxy"), readMetrics };
    const read = createUsageReader({ sourceOf: async (name) => (name === "eu-1" ? source : undefined), log: silentLog });
    expect([...(await read([instance, other], signal))].toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      [instance.id, { clusterEntries: 2, controllerMemoryBytes: 250_000_000 }],
      [other.id, { clusterEntries: undefined, controllerMemoryBytes: undefined }],
    ]);
  });

  it("has its other part when one part cannot be read", async () => {
    const failing: UsageSource = {
      countClusterEntries: async () => 1,
      readMetrics: () => {
        throw new Error("away");
      },
      listReachable: async () => [],
    };
    const read = createUsageReader({ sourceOf: async () => failing, log: silentLog });
    expect([...(await read([instance], signal)).values()]).toEqual([{ clusterEntries: 1, controllerMemoryBytes: undefined }]);
  });
});
