import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { silentLog } from "../../../src/telemetry/log.ts";
import { freePort } from "../ports.ts";
import { until } from "../testing/until.ts";
import { createAddresses } from "./addresses.ts";
import { parseQuery } from "./dns-message.ts";
import { type Endpoint, startForwarder } from "./forwarder.ts";
import { nameServerPort, startNameServer } from "./name-server.ts";
import type { Service } from "./pod.ts";
import { startProber } from "./prober.ts";
import { createServiceForwarders } from "./service-forwarders.ts";
import { targetsOf } from "./service-targets.ts";
import { aContainer, aPod } from "./testing/a-pod.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Answers every connection with one word and closes it. */
async function aServer(word: string): Promise<Endpoint> {
  const server: Server = createServer((socket) => socket.end(word));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  return { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
}

async function ask(at: Endpoint): Promise<string> {
  const socket = connect(at);
  const heard: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => heard.push(chunk));
  await once(socket, "close");
  return Buffer.concat(heard).toString();
}

describe("a forwarder", () => {
  it("connects to the present target, and closes the connection when there is none", async () => {
    const targets = [await aServer("one"), undefined, await aServer("two")];
    const at = { host: "127.0.0.1", port: await freePort() };
    const forwarder = startForwarder(at, () => targets.shift());
    closing.push(() => forwarder.close());
    expect(await forwarder.ready).toBe(true);
    expect([await ask(at), await ask(at), await ask(at)]).toEqual(["one", "", "two"]);
    expect(await startForwarder(at, () => undefined).ready).toBe(false);
  });
});

describe("the address of a Service", () => {
  it("stays the same, leads to its targets in turn and follows its ports", async () => {
    const directory = mkdtempSync(join(tmpdir(), "services-"));
    closing.push(() => rmSync(directory, { recursive: true }));
    const name = { namespace: "one", name: "web" };
    const targets = [await aServer("one"), await aServer("two")];
    let port = await freePort();
    const service = (): Service => ({ metadata: name, spec: { ports: [{ port }, { port: 53, protocol: "UDP" }] } });
    const options = {
      file: join(directory, "services.json"),
      service: (asked: typeof name) => (asked.name === "web" ? service() : undefined),
      targets: () => targets,
      log: silentLog,
    };
    const first = createServiceForwarders({ ...options, addresses: createAddresses() });
    expect(first.addressOf({ ...name, name: "other" })).toBeUndefined();
    const host = first.addressOf(name) ?? "";
    expect(host).toMatch(/^127\./);
    await until(
      "an answer",
      () => ask({ host, port }),
      (heard) => heard === "one" || heard === "two",
    );
    expect(new Set([await ask({ host, port }), await ask({ host, port })])).toEqual(new Set(["one", "two"]));
    port = await freePort();
    first.changed(name);
    await until(
      "the new port",
      () => ask({ host, port }),
      (heard) => heard !== "",
    );
    await first.close();
    const second = createServiceForwarders({ ...options, addresses: createAddresses() });
    closing.push(() => second.close());
    expect(second.addressOf(name)).toBe(host);
    expect(existsSync(options.file)).toBe(true);
  });

  it("leads to the ready pods it selects, on the port they name", () => {
    const container = aContainer({ ports: [{ name: "http", containerPort: 8080 }] });
    const pod = (name: string, labels: Record<string, string>) =>
      aPod({ metadata: { name, uid: name, labels }, spec: { containers: [container] } });
    const pods = [pod("a", { app: "web" }), pod("b", { app: "web" }), pod("c", { app: "db" }), pod("d", { app: "web" })];
    const runtime = (at: { readonly name: string }) => ({
      uid: at.name === "d" ? "older" : at.name,
      ip: `127.1.1.${at.name}`,
      views: () => [{ isReady: at.name !== "b" } as never],
    });
    const service: Service = { metadata: { name: "web", namespace: "shop" }, spec: { selector: { app: "web" } } };
    expect(targetsOf({ service, port: { port: 80, targetPort: "http" }, pods, runtime })).toEqual([{ host: "127.1.1.a", port: 8080 }]);
    expect(targetsOf({ service, port: { port: 80 }, pods, runtime })).toEqual([{ host: "127.1.1.a", port: 80 }]);
    expect(targetsOf({ service: { ...service, spec: {} }, port: { port: 80 }, pods, runtime })).toEqual([]);
  });
});

describe("addresses", () => {
  it("are handed out once until they are given back", () => {
    const draws = ["127.16.0.1", "127.16.0.1", "127.16.0.2", "127.16.0.2", "127.16.0.1"];
    const addresses = createAddresses(() => draws.shift() ?? "none");
    expect([addresses.take(), addresses.take()]).toEqual(["127.16.0.1", "127.16.0.2"]);
    addresses.release("127.16.0.1");
    expect(addresses.take()).toBe("127.16.0.1");
  });
});

describe("probes", () => {
  async function aHealth(): Promise<{ readonly port: number; status: number }> {
    const health = { port: 0, status: 500 };
    const server: HttpServer = createHttpServer((_, response) => response.writeHead(health.status).end());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    health.port = (server.address() as AddressInfo).port;
    return health;
  }

  it("make a container ready soon after its first success, and do not count failures before that", async () => {
    const health = await aHealth();
    const prober = startProber({
      container: aContainer({
        readinessProbe: { httpGet: { path: "/healthz", port: health.port }, periodSeconds: 3600, failureThreshold: 1 },
      }),
      podIP: "127.0.0.1",
      onReadiness: () => undefined,
      onUnhealthy: () => undefined,
    });
    closing.push(() => prober.stop());
    expect(prober.isReady()).toBe(false);
    health.status = 204;
    await until("readiness", () => prober.isReady(), Boolean);
  });

  it("end a container that has failed its liveness probe often enough", async () => {
    const health = await aHealth();
    let unhealthy = 0;
    const livenessProbe = { httpGet: { port: "web" }, periodSeconds: 0.01, failureThreshold: 2 };
    const prober = startProber({
      container: aContainer({ ports: [{ name: "web", containerPort: health.port }], livenessProbe }),
      podIP: "127.0.0.1",
      onReadiness: () => undefined,
      onUnhealthy: () => unhealthy++,
    });
    closing.push(() => prober.stop());
    await until(
      "an unhealthy container",
      () => unhealthy,
      (times) => times === 1,
    );
  });

  it("wait for a slow start before readiness counts, and end a container that never starts", async () => {
    const closed = await freePort();
    let unhealthy = 0;
    const startupProbe = { tcpSocket: { port: closed }, periodSeconds: 0.1, failureThreshold: 2 };
    const prober = startProber({
      container: aContainer({ startupProbe }),
      podIP: "127.0.0.1",
      onReadiness: () => undefined,
      onUnhealthy: () => unhealthy++,
    });
    closing.push(() => prober.stop());
    await until(
      "the end of the start-up probe",
      () => unhealthy,
      (times) => times === 1,
    );
    expect(prober.isReady()).toBe(false);
  });
});

describe("the name server", () => {
  it("knows the Services as a pod of its namespace would name them", async () => {
    const address = createAddresses().take();
    const known: Readonly<Record<string, string>> = { "one/web": "127.1.1.1", "two/web": "127.2.2.2" };
    const server = startNameServer({
      address,
      namespace: "one",
      addressOf: ({ namespace, name }) => known[`${namespace}/${name}`],
      log: silentLog,
    });
    closing.push(() => server.close());
    const resolver = new Resolver();
    resolver.setServers([`${address}:${nameServerPort}`]);
    expect(await resolver.resolve4("web")).toEqual(["127.1.1.1"]);
    expect(await resolver.resolve4("WEB.two.svc.cluster.local")).toEqual(["127.2.2.2"]);
    await expect(resolver.resolve4("other")).rejects.toMatchObject({ code: "ENOTFOUND" });
    await expect(resolver.resolve6("web")).rejects.toMatchObject({ code: "ENODATA" });
  });

  it("answers only queries", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => typeof (parseQuery(Buffer.from(bytes))?.name ?? "") === "string"));
    expect(parseQuery(Buffer.alloc(12))).toBeUndefined();
    expect(parseQuery(Buffer.from("000084000001000000000000016100000100010000", "hex"))).toBeUndefined();
  });
});
