import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { ClusterAccount } from "../../../../domain/environment.ts";
import type { ShownServer } from "../../../../domain/shown-server.ts";
import { systemClock } from "../../../../runtime/clock.ts";
import { createSelfSigned } from "../../../../runtime/kube/testing/self-signed.ts";
import { systemRng } from "../../../../runtime/rng.ts";
import { silentLog } from "../../../../telemetry/log.ts";
import type { ProbeTarget, ShownServers } from "../../port.ts";
import { createClusterAccounts } from "./cluster-accounts.ts";
import { createClusterProbe } from "./cluster-probe.ts";
import type { ReachOptions } from "./reached-cluster.ts";

const { cert, key } = createSelfSigned(["localhost", "api.example"]);
const never = new AbortController().signal;
const DELETED: string[] = [];

let server: Server;
let port: number;
/** URL of a server that hosts instances and is another one. */
let engine: string;
let engineServer: Server;
let answer: (url: string, response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer({ cert, key }, (request, response) => {
    if (request.method === "DELETE") DELETED.push(request.url ?? "");
    response.on("error", () => undefined);
    answer(request.url ?? "", response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  engineServer = createServer(createSelfSigned(["engine"]));
  await new Promise<void>((resolve) => engineServer.listen(0, "127.0.0.1", resolve));
  engine = `https://localhost:${(engineServer.address() as AddressInfo).port}`;
});
afterAll(() => {
  engineServer.closeAllConnections();
  engineServer.close();
  server.closeAllConnections();
  server.close();
});

const options = (over: Partial<ReachOptions> = {}): ReachOptions => ({
  clock: systemClock,
  rng: systemRng,
  log: silentLog,
  reserved: async () => [],
  ...over,
});
const target = (over: Partial<ProbeTarget> = {}): ProbeTarget => ({
  server: `https://127.0.0.1:${port}`,
  token: "good",
  ca: cert,
  isInsecure: false,
  namespace: undefined,
  egress: { allow: ["127.0.0.0/8"] },
  ...over,
});
const account = (objects: number): ClusterAccount => ({
  at: { namespace: "argosy-accounts", name: "u-1" },
  epoch: 1,
  objects: Array.from({ length: objects }, (_, index) => ({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { namespace: "argosy-accounts", name: `u-${index}` },
  })),
});

/** Something that takes connections and says what `onSocket` does. */
async function aListener(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets: Socket[] = [];
  const listener = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    onSocket(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  return (listener.address() as AddressInfo).port;
}

describe("a cluster that wants to hold whoever visits it", () => {
  it("is left at the deadline of the visit although each of its answers comes in time", async () => {
    answer = (_url, response) => void setTimeout(() => response.end("{}"), 100);
    const { install } = createClusterAccounts(options({ visitMs: 450 }));
    const installed = install(target(), { account: account(60) }, AbortSignal.timeout(5_000));
    expect(await installed).toEqual({ kind: "failed", why: { kind: "unreachable", why: "no answer" } });
  });

  it("is left at the deadline of the visit while it takes connections and says nothing", async () => {
    const silent = await aListener(() => undefined);
    const { probe } = createClusterProbe(options({ visitMs: 300 }));
    const probed = probe(target({ server: `https://127.0.0.1:${silent}` }), AbortSignal.timeout(5_000));
    expect(await probed).toEqual({ kind: "unreachable", why: "no answer" });
  });

  it("is left at the deadline of the visit while one byte of an answer drips after the other", async () => {
    answer = (_url, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const drip = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(drip));
    };
    const { probe } = createClusterProbe(options({ visitMs: 400 }));
    expect(await probe(target(), AbortSignal.timeout(5_000))).toEqual({ kind: "unreachable", why: "no answer" });
  });

  it("is left at the deadline of the visit while it drips through a handshake that is read for its certificate", async () => {
    const dripping = await aListener((socket) => {
      // A TLS record that announces 16 KiB, byte by byte.
      socket.write(Buffer.from([0x16, 0x03, 0x03, 0x40, 0x00]));
      const drip = setInterval(() => socket.write(Buffer.from([0])), 20);
      socket.on("close", () => clearInterval(drip));
    });
    const { probe } = createClusterProbe(options({ visitMs: 400, reserved: async () => [engine] }));
    const probed = probe(target({ server: `https://127.0.0.1:${dripping}` }), AbortSignal.timeout(4_000));
    expect(await probed).toEqual({ kind: "unreachable", why: "no answer" });
  });

  it("does not hold the whole visit with a handshake that is read for its certificate", async () => {
    const silent = await aListener(() => undefined);
    const { probe } = createClusterProbe(options({ timeoutMs: 200, reserved: async () => [engine] }));
    const probed = probe(target({ server: `https://127.0.0.1:${silent}` }), AbortSignal.timeout(8_000));
    expect(await probed).toEqual({ kind: "unreachable", why: "no answer" });
  });

  it("is not deployed to where it hides its certificate from the probe, and then shows one that is ours", async () => {
    answer = (_url, response) => response.end('{"kind":"NamespaceList"}');
    let connections = 0;
    const front = await aListener((socket) => {
      connections += 1;
      if (connections === 1) return void socket.destroy();
      const behind = connect(port, "127.0.0.1");
      behind.on("error", () => socket.destroy());
      socket.pipe(behind).pipe(socket);
    });
    const { probe } = createClusterProbe(options({ reserved: async () => [`https://127.0.0.1:${port}`] }));
    const at = target({ server: `https://127.0.0.1:${front}` });
    expect(await probe(at, never)).toEqual({ kind: "unreachable", why: "connection reset" });
    expect(connections).toBe(1);
    expect(await probe(at, never)).toEqual({ kind: "reserved" });
  });

  it("is left at the deadline of the visit while nobody says where its name leads", async () => {
    const resolve = (_host: string, signal: AbortSignal) =>
      new Promise<readonly string[]>((settle) => signal.addEventListener("abort", () => settle([])));
    const { probe } = createClusterProbe(options({ visitMs: 300, resolve }));
    const probed = probe(target({ server: "https://slow.example" }), AbortSignal.timeout(5_000));
    expect(await probed).toEqual({ kind: "unreachable", why: "no answer" });
  });

  describe("by answers that never end", () => {
    /** Pours as fast as it is read; the returned function says how much of all answers was written, in bytes. */
    const pour = (status: number, headers: Readonly<Record<string, string>> = {}, chunk: Buffer | string = '"x",'.repeat(16_384)) => {
      let poured = 0;
      answer = (_url, response) => {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.write('{"metadata":{"resourceVersion":"1"},"items":[');
        const more = (): void => {
          let isTaken = true;
          while (isTaken && !response.destroyed) {
            poured += chunk.length;
            isTaken = response.write(chunk);
          }
          response.once("drain", more);
        };
        more();
      };
      return () => poured;
    };
    const binding = {
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata: { name: "r-1" }, subjects: [] },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r-1" },
    };
    const traces = { mark: "m", namespaces: [] };
    const visits = {
      probe: () => createClusterProbe(options()).probe(target(), never),
      install: () => createClusterAccounts(options()).install(target(), { account: account(3) }, never),
      issueToken: () => createClusterAccounts(options()).issueToken(target(), account(1), 600_000, never),
      removeEndless: () => createClusterAccounts(options()).removeEndless(target(), account(1), never),
      writeOwnerBinding: () =>
        createClusterAccounts(options()).writeOwnerBinding(target(), { roles: [], bindings: [binding], epoch: 1 }, never),
      ask: () => createClusterAccounts(options()).ask(target(), ["web"], never),
      removeAccount: () => createClusterAccounts(options()).removeAccount(target(), account(1), never),
      removeOthers: () => createClusterAccounts(options()).removeOthers(target(), { ...traces, epoch: 1, names: [] }, never),
      remove: () => createClusterAccounts(options()).remove(target(), traces, never),
    };
    /** What each of a visit's few requests may read, and what the system keeps of a connection on its way. */
    const MOST = 64 * 2 ** 20;

    it.each(Object.entries(visits))("is left soon by %s, which keeps none of it, whatever it answers with", async (_name, visit) => {
      for (const status of [200, 404, 403, 500]) {
        const poured = pour(status);
        await visit();
        expect(poured()).toBeLessThan(MOST);
      }
    });

    it("is not read on because they are packed", async () => {
      const poured = pour(200, { "content-encoding": "gzip" }, gzipSync(Buffer.alloc(2 ** 24)));
      expect(await visits.probe()).toEqual({ kind: "refused" });
      expect(poured()).toBeLessThan(MOST);
    });
  });

  it("has no more objects deleted than were asked for, however long the list it answers with", async () => {
    DELETED.length = 0;
    const items = Array.from({ length: 10_000 }, (_, index) => ({ metadata: { name: `n${index}` } }));
    answer = (_url, response) => void response.end(JSON.stringify({ metadata: { resourceVersion: "1", continue: "more" }, items }));
    const { remove } = createClusterAccounts(options());
    await remove(target(), { mark: "m", namespaces: [] }, never);
    expect(DELETED.length).toBeLessThanOrEqual(4 * 100);
  });

  it.each([[[null]], [[{}]], [[{ metadata: { name: 7 } }]], [[{ metadata: { name: "../../secrets/x" } }]]])(
    "is refused when the items of its list are no objects: %j",
    async (items) => {
      DELETED.length = 0;
      answer = (_url, response) => void response.end(JSON.stringify({ metadata: { resourceVersion: "1" }, items }));
      const { remove } = createClusterAccounts(options());
      expect(await remove(target(), { mark: "m", namespaces: [] }, never)).toEqual({ kind: "refused" });
      expect(DELETED).toEqual([]);
    },
  );

  it("says nothing of who may write where it does not answer, or answers with no word of that", async () => {
    answer = (_url, response) => void response.end("[]");
    const { ask } = createClusterAccounts(options());
    const [said] = await ask(target(), ["web"], never);
    expect(said?.isAllowed).toBeUndefined();
    const silent = await aListener(() => undefined);
    const [none] = await createClusterAccounts(options({ visitMs: 300 })).ask(
      target({ server: `https://127.0.0.1:${silent}` }),
      ["web"],
      never,
    );
    expect(none).toMatchObject({ isAllowed: undefined, trial: { status: undefined } });
  });

  it.each([[null], [7], [{ metadata: { uid: 7 } }]])("is refused when an owner binding there is no object: %j", async (raw) => {
    answer = (_url, response) => void response.end(JSON.stringify(raw));
    const binding = {
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata: { name: "r-1" }, subjects: [] },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r-1" },
    };
    const { writeOwnerBinding } = createClusterAccounts(options());
    const written = await writeOwnerBinding(target(), { roles: [], bindings: [binding], epoch: 1 }, never);
    expect(written).toMatchObject({ kind: "failed" });
  });

  it.each([
    ["longer than any", { token: "x".repeat(200_000), expirationTimestamp: "2999-01-01T00:00:00Z" }],
    ["one that breaks a header", { token: "a\nb", expirationTimestamp: "2999-01-01T00:00:00Z" }],
    ["one without an end", { token: "t" }],
  ])("is refused when the token it gives is %s", async (_, status) => {
    answer = (_url, response) => void response.end(JSON.stringify({ status }));
    const { issueToken } = createClusterAccounts(options());
    expect(await issueToken(target(), account(1), 600_000, never)).toEqual({ kind: "failed", why: { kind: "refused" } });
  });
});

describe("a name that changes its mind", () => {
  it("is resolved once, and what was checked is what is connected to", async () => {
    answer = (_url, response) => void response.end('{"kind":"NamespaceList"}');
    const answers = [["127.0.0.1"], ["10.0.0.1"]];
    let asked = 0;
    const resolve = async () => answers[Math.min(asked++, 1)] ?? [];
    const { probe } = createClusterProbe(options({ resolve, reserved: async () => [engine] }));
    expect(await probe(target({ server: `https://api.example:${port}` }), never)).toEqual({ kind: "accepted" });
    expect(asked).toBe(1);
  });

  it("is not connected to where it leads inside", async () => {
    const { probe } = createClusterProbe(options({ resolve: async () => ["10.0.0.1", "::ffff:0:127.0.0.1"] }));
    expect(await probe(target({ server: `https://api.example:${port}` }), never)).toEqual({ kind: "inside" });
  });
});

describe("clusters that host instances, while what gives them away cannot be read", () => {
  const unknown = { kind: "unreachable", why: "it cannot be told at the moment whether it may be deployed to" };

  it("keep every other cluster closed when their list cannot be read", async () => {
    answer = (_url, response) => void response.end('{"kind":"NamespaceList"}');
    const reserved = async () => Promise.reject(new Error("the database is away"));
    expect(await createClusterProbe(options({ reserved })).probe(target(), never)).toEqual(unknown);
  });

  it("keep every other cluster closed when nobody knows where their name leads", async () => {
    answer = (_url, response) => void response.end('{"kind":"NamespaceList"}');
    const reserved = async () => ["https://engine.invalid:6443"];
    expect(await createClusterProbe(options({ reserved })).probe(target(), never)).toEqual(unknown);
  });

  it("keep every other cluster closed when they show no certificate, until they did once", async () => {
    answer = (_url, response) => void response.end('{"kind":"NamespaceList"}');
    const silent = await aListener((socket) => socket.destroy());
    const { probe } = createClusterProbe(options({ reserved: async () => [`https://127.0.0.1:${silent}`] }));
    expect(await probe(target(), never)).toEqual(unknown);

    const shown = createServer({ ...createSelfSigned(["engine"]) });
    await new Promise<void>((resolve) => shown.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(shown.address() as AddressInfo).port}`;
    const reserved = async () => [url];
    const remembering = createClusterProbe(options({ reserved, rememberedMs: 0 }));
    expect(await remembering.probe(target(), never)).toEqual({ kind: "accepted" });
    shown.closeAllConnections();
    await new Promise((resolve) => shown.close(resolve));
    expect(await remembering.probe(target(), never)).toEqual({ kind: "accepted" });
  });

  it("are known to a process that starts while they are away, where another one read them before", async () => {
    answer = (_url, response) => void response.end('{"kind":"NamespaceList"}');
    const kept = new Map<string, ShownServer>();
    const shown: ShownServers = {
      read: async (server) => kept.get(server),
      keep: async (each) => void kept.set(each.server, each),
    };
    const lost = createServer({ ...createSelfSigned(["engine"]) });
    await new Promise<void>((resolve) => lost.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(lost.address() as AddressInfo).port}`;
    const fresh = (over: Partial<ReachOptions> = {}) => createClusterProbe(options({ reserved: async () => [url], ...over }));
    expect(await fresh({ shown }).probe(target(), never)).toEqual({ kind: "accepted" });
    lost.closeAllConnections();
    await new Promise((resolve) => lost.close(resolve));
    expect(await fresh().probe(target(), never)).toEqual(unknown);
    expect(await fresh({ shown }).probe(target(), never)).toEqual({ kind: "accepted" });
    expect(await fresh({ shown }).probe(target({ server: url }), never)).toEqual({ kind: "reserved" });
    const away: ShownServers = { ...shown, read: async () => Promise.reject(new Error("the database is away")) };
    expect(await fresh({ shown: away }).probe(target(), never)).toEqual(unknown);
  });

  it("are told from others by what they show now, though nothing can be kept of that", async () => {
    answer = (_url, response) => void response.end('{"kind":"NamespaceList"}');
    const away = async () => Promise.reject(new Error("the database is away"));
    const { probe } = createClusterProbe(options({ reserved: async () => [engine], shown: { read: away, keep: away } }));
    expect(await probe(target(), never)).toEqual({ kind: "accepted" });
    expect(await probe(target({ server: engine }), never)).toEqual({ kind: "reserved" });
  });
});
