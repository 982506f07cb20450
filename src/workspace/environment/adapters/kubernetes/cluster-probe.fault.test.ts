import { createServer, type Server } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../../runtime/clock.ts";
import { createSelfSigned } from "../../../../runtime/kube/testing/self-signed.ts";
import { systemRng } from "../../../../runtime/rng.ts";
import { silentLog } from "../../../../telemetry/log.ts";
import type { ProbeTarget } from "../../port.ts";
import { createClusterProbe } from "./cluster-probe.ts";

const NAMES = ["localhost", "api.example"];
const { cert, key } = createSelfSigned(NAMES);
const LOOPBACK = { allow: ["127.0.0.0/8", "::1/128"] };
const never = new AbortController().signal;
const seen: { readonly url: string; readonly token: string | undefined }[] = [];

let server: Server;
let port: number;
let other: Server;
let otherPort: number;
let answer: (url: string, token: string) => { readonly status: number; readonly body: string | undefined };

const status = (code: number, name?: string) => ({
  status: code,
  body: JSON.stringify({ kind: "Status", code, details: name === undefined ? {} : { name } }),
});
const ok = (kind: string) => ({ status: 200, body: JSON.stringify({ kind }) });

beforeAll(async () => {
  server = createServer({ cert, key }, (request, response) => {
    const { authorization } = request.headers;
    seen.push({ url: request.url ?? "", token: authorization });
    const { status: code, body } = answer(request.url ?? "", authorization ?? "");
    response.writeHead(code, { "content-type": "application/json", location: "https://elsewhere.example" });
    if (body !== undefined) return void response.end(body);
    const pour = (): void => {
      while (response.write("x".repeat(65_536)));
      response.once("drain", pour);
    };
    pour();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  other = createServer(createSelfSigned(["other.example"]));
  await new Promise<void>((resolve) => other.listen(0, resolve));
  otherPort = (other.address() as AddressInfo).port;
});
afterAll(() => {
  other.closeAllConnections();
  other.close();
  server.closeAllConnections();
  server.close();
});

function target(over: Partial<ProbeTarget> = {}): ProbeTarget {
  return {
    server: `https://127.0.0.1:${port}`,
    token: "good",
    ca: cert,
    isInsecure: false,
    namespace: undefined,
    egress: LOOPBACK,
    ...over,
  };
}
const probe = (over: Partial<ProbeTarget> = {}, reserved: readonly string[] = [], timeoutMs = 5_000) =>
  createClusterProbe({ clock: systemClock, rng: systemRng, log: silentLog, reserved: async () => reserved, timeoutMs }).probe(
    target(over),
    never,
  );

describe("a probe", () => {
  it("asks for the list of namespaces, or for the one that is named, with the token", async () => {
    answer = (url, token) => (token === "Bearer good" ? ok(url.includes("?") ? "NamespaceList" : "Namespace") : status(401));
    seen.length = 0;
    expect(await probe()).toEqual({ kind: "accepted" });
    expect(await probe({ namespace: "web" })).toEqual({ kind: "accepted" });
    expect(await probe({ token: "bad" })).toEqual({ kind: "refused" });
    expect(seen).toEqual([
      { url: "/api/v1/namespaces?limit=1", token: "Bearer good" },
      { url: "/api/v1/namespaces/web", token: "Bearer good" },
      { url: "/api/v1/namespaces?limit=1", token: "Bearer bad" },
    ]);
  });

  it.each([
    ["403", status(403), "forbidden"],
    ["404 of the namespace", status(404, "web"), "refused"],
    ["404 of something else", status(404), "refused"],
    ["a redirection", status(302), "unreachable"],
    ["what is no Kubernetes API", { status: 200, body: '{"kind":"Pod"}' }, "refused"],
    ["null", { status: 200, body: "null" }, "refused"],
    ["what is no JSON", { status: 200, body: "<html>" }, "refused"],
    ["500", status(500), "unreachable"],
  ])("takes %s for what it is", async (_what, reply, kind) => {
    answer = () => reply;
    seen.length = 0;
    expect((await probe({ namespace: "web" })).kind).toBe(kind);
    expect(seen).toHaveLength(1);
  });

  it("reads no answer without end", async () => {
    answer = () => ({ status: 200, body: undefined });
    expect(await probe()).toEqual({ kind: "refused" });
  });

  it("gives up on a server that never answers", async () => {
    const sockets: Socket[] = [];
    const mute = createTcpServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const { port: mutePort } = mute.address() as AddressInfo;
    expect(await probe({ server: `https://127.0.0.1:${mutePort}` }, [], 300)).toEqual({ kind: "unreachable", why: "no answer" });
    for (const socket of sockets) socket.destroy();
    mute.close();
  });

  it("trusts whom the authority vouches for, everybody when asked to, and nobody else", async () => {
    answer = () => ok("NamespaceList");
    const { ca: _, ...without } = target();
    const ask = (over: ProbeTarget) =>
      createClusterProbe({ clock: systemClock, rng: systemRng, log: silentLog, reserved: async () => [] }).probe(over, never);
    expect(await ask(without)).toEqual({ kind: "untrusted" });
    expect(await ask({ ...without, ca: createSelfSigned(NAMES).cert })).toEqual({ kind: "untrusted" });
    expect(await ask({ ...without, isInsecure: true })).toEqual({ kind: "accepted" });
    expect(await ask({ ...target(), serverName: "another.example" })).toMatchObject({ kind: "unreachable" });
  });

  it("says what the way there was like", async () => {
    expect(await probe({ server: "https://nobody.invalid" })).toMatchObject({ kind: "unreachable" });
    const closed = createTcpServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port: free } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    expect(await probe({ server: `https://127.0.0.1:${free}` })).toEqual({ kind: "unreachable", why: "connection refused" });
  });
});

describe("addresses inside", () => {
  it.each(["127.0.0.1", "localhost"])("are not connected to at %s unless they are allowed", async (host) => {
    answer = () => ok("NamespaceList");
    seen.length = 0;
    const server = `https://${host}:${port}`;
    expect(await probe({ server, egress: { allow: [] } })).toEqual({ kind: "inside" });
    expect(await probe({ server, egress: { allow: ["10.0.0.0/8"] } })).toEqual({ kind: "inside" });
    expect(seen).toEqual([]);
    expect(await probe({ server })).toEqual({ kind: "accepted" });
  });
});

describe("clusters that host instances", () => {
  it.each([
    ["by the same URL", "127.0.0.1", "127.0.0.1"],
    ["by another address of the same listener", "127.0.0.1", "127.0.0.2"],
    ["by a name of it", "127.0.0.1", "localhost"],
    ["when they are known by a name", "localhost", "127.0.0.1"],
  ])("are not connected to %s", async (_how, known, host) => {
    answer = () => ok("NamespaceList");
    seen.length = 0;
    expect(await probe({ server: `https://${host}:${port}` }, [`https://${known}:${port}`])).toEqual({ kind: "reserved" });
    expect(seen).toEqual([]);
    expect(await probe({}, [`https://${known}:${otherPort}`])).toEqual({ kind: "accepted" });
  });

  it("are known by their address where they show another certificate for each name", async () => {
    const other = createSecureContext(createSelfSigned(["localhost"]));
    const changing = createServer({ cert, key, SNICallback: (_name, done) => done(null, other) }, (_request, response) => {
      response.end('{"kind":"NamespaceList"}');
    });
    await new Promise<void>((resolve) => changing.listen(0, "127.0.0.1", resolve));
    const { port: changingPort } = changing.address() as AddressInfo;
    const byName = { server: `https://localhost:${changingPort}`, isInsecure: true };
    expect(await probe(byName, [`https://127.0.0.1:${changingPort}`])).toEqual({ kind: "reserved" });
    expect(await probe(byName)).toEqual({ kind: "accepted" });
    changing.close();
  });

  it("are known again behind another address, by the certificate they show", async () => {
    answer = () => ok("NamespaceList");
    const front = createTcpServer((socket) => {
      const behind = connect(port, "127.0.0.1");
      for (const [from, to] of [
        [socket, behind],
        [behind, socket],
      ] as const)
        from.pipe(to).on("error", () => from.destroy());
    });
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    const { port: frontPort } = front.address() as AddressInfo;
    seen.length = 0;
    expect(await probe({ server: `https://127.0.0.1:${frontPort}` }, [`https://127.0.0.1:${port}`])).toEqual({ kind: "reserved" });
    expect(seen).toEqual([]);
    expect(await probe({ server: `https://127.0.0.1:${frontPort}` })).toEqual({ kind: "accepted" });
    front.close();
  });

  it("are others than their neighbours behind one front, which differ in their path", async () => {
    answer = () => ok("NamespaceList");
    const at = (path: string) => `https://127.0.0.1:${port}${path}`;
    expect(await probe({ server: at("/clusters/b") }, [at("/clusters/a/")])).toEqual({ kind: "accepted" });
    expect(await probe({ server: at("/clusters/a") }, [at("/clusters/a/")])).toEqual({ kind: "reserved" });
    expect(await probe({ server: at("") }, [at("/clusters/a")])).toEqual({ kind: "reserved" });
    for (const same of ["/clusters/%61", "//clusters//a", "/clusters%2fa", "/x%2f..%2fclusters/a", "/Clusters/a", "/clusters/a%"])
      expect(await probe({ server: at(same) }, [at("/clusters/a")])).toEqual({ kind: "reserved" });
  });
});
