import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GoneError, RefusedError, StaleError, UnavailableError } from "../../domain/errors.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { systemClock } from "../clock.ts";
import { createSeededRng } from "../rng.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import type { KubeCredentials } from "./auth.ts";
import type { KubeClient } from "./client.ts";
import { createKubeClient } from "./http.ts";
import type { KubeObject, ResourceType } from "./resource.ts";
import { resourcePath } from "./resource.ts";
import type { FakeApiServer } from "./testing/fake-api-server.ts";
import { startFakeApiServer } from "./testing/fake-api-server.ts";
import { createSelfSigned } from "./testing/self-signed.ts";
import { advanceUntil, until } from "./testing/until.ts";

const configMaps: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const at = { namespace: "n", name: "a" };
const never = new AbortController().signal;

const configMap = (name: string): KubeObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "n", name } });

let server: FakeApiServer;
let clock: VirtualClock;
let client: KubeClient;

beforeEach(async () => {
  server = await startFakeApiServer();
  clock = createVirtualClock();
  client = clientWith({});
});
afterEach(async () => {
  await client.close();
  await server.close();
});

function clientWith(options: Partial<Parameters<typeof createKubeClient>[0]>): KubeClient {
  const credentials: KubeCredentials = { server: server.url, token: async () => undefined };
  return createKubeClient({ cluster: "c", credentials, clock, rng: createSeededRng(1), metrics: noMetrics, ...options });
}

/** The outcome as a value, while virtual time passes as it is needed. */
async function settled<T>(promise: Promise<T>): Promise<{ readonly value?: T; readonly error?: unknown }> {
  let outcome: { value?: T; error?: unknown } | undefined;
  promise.then(
    (value) => (outcome = { value }),
    (error: unknown) => (outcome = { error }),
  );
  await advanceUntil(clock, () => outcome !== undefined);
  return outcome ?? {};
}

describe("connections", () => {
  it("sends fifty requests in a row over one connection", async () => {
    for (let i = 0; i < 50; i++) await client.get(configMaps, at, never);
    expect(server.connections()).toBe(1);
  });

  it("sends deletions with preconditions over one connection", async () => {
    for (let i = 0; i < 10; i++) {
      const { metadata } = await client.create(configMaps, configMap("a"), never);
      await client.delete(
        configMaps,
        { namespace: metadata.namespace ?? "", name: "a" },
        { preconditions: { uid: metadata.uid ?? "" } },
        never,
      );
    }
    expect(server.connections()).toBe(1);
  });

  it("sends requests that want a connection of their own over one each, and closes it", async () => {
    const request = { method: "GET", path: "/api/v1/namespaces/team-a/configmaps", isFresh: true } as const;
    for (let i = 0; i < 10; i++) await client.request(request, never);
    expect(server.connections()).toBe(10);
    await client.get(configMaps, at, never);
    await client.get(configMaps, at, never);
    expect(server.connections()).toBe(11);
  });

  it("sends five hundred requests at once over at most 32 connections", async () => {
    await client.create(configMaps, configMap("a"), never);
    await Promise.all(Array.from({ length: 500 }, () => client.get(configMaps, at, never)));
    expect(server.connections()).toBeLessThanOrEqual(32);
  });

  it("lets no write wait for reads, and neither for lists or for pages of pods that never come", async () => {
    const single = clientWith({ writeConnections: 1 });
    const stop = new AbortController();
    const hold = (path: RegExp) => server.faults.hold({ method: "GET", path, times: Number.POSITIVE_INFINITY });
    const held: Promise<unknown>[] = [];
    const send = (request: () => Promise<unknown>) => {
      for (let count = 0; count < 40; count += 1) held.push(request().catch(() => undefined));
    };
    const releases = [hold(/configmaps\?/), hold(/proxy/)];
    send(() => single.listPage(configMaps, { limit: 1 }, stop.signal));
    send(() => single.request({ method: "GET", path: "/api/v1/namespaces/team-a/pods/redis:9121/proxy/metrics" }, stop.signal));
    await until(() => server.requests().length >= 2);
    expect(await single.get(configMaps, at, never)).toBeUndefined();
    releases.push(hold(/configmaps/));
    send(() => single.get(configMaps, at, stop.signal));
    expect((await single.create(configMaps, configMap("a"), never)).metadata.name).toBe("a");
    stop.abort(new Error("enough"));
    for (const release of releases) release();
    await Promise.all(held);
    await single.close();
  });

  it("never lets a request wait for a watch", async () => {
    const single = clientWith({ writeConnections: 1 });
    const stop = new AbortController();
    const watches = Array.from({ length: 5 }, () =>
      collect(single.watchLines(resourcePath(configMaps), { watch: true, resourceVersion: 1 }, stop.signal)),
    );
    await until(() => server.openWatches() === 5);
    expect(await single.get(configMaps, at, never)).toBeUndefined();
    stop.abort(new Error("enough"));
    for (const watch of watches) await expect(watch).rejects.toThrow("enough");
    await single.close();
  });
});

describe("what is counted", () => {
  it("calls a watch a watch, and other lines that are read by the method of their request", async () => {
    const counted: unknown[] = [];
    const counter = () => ({ add: (_by: number, labels?: Readonly<Record<string, string>>) => void counted.push(labels) });
    const counting = clientWith({ metrics: { ...noMetrics, counter } });
    const stop = new AbortController();
    const watch = counting.watchLines(resourcePath(configMaps), { watch: true, resourceVersion: 1 }, stop.signal);
    const next = watch[Symbol.asyncIterator]().next();
    next.catch(() => {});
    await until(() => counted.length > 0);
    stop.abort(new Error("enough"));
    const page = counting.watchLines(`${resourcePath(configMaps, { namespace: "n", name: "none" })}/proxy/metrics`, {}, never);
    await page[Symbol.asyncIterator]()
      .next()
      .catch(() => {});
    await counting.close();
    expect(counted).toMatchObject([
      { method: "WATCH", code: "200" },
      { method: "GET", code: "404" },
    ]);
  });
});

describe("requests that may be sent twice", () => {
  it("waits as long as Retry-After asks on 429, for a list", async () => {
    server.faults.fail({ status: 429, retryAfterSeconds: 3, reason: "TooManyRequests" });
    const startedAt = clock.monotonicMs();
    const { value } = await settled(client.listPage(configMaps, {}, never));
    expect(value?.items).toEqual([]);
    expect(clock.monotonicMs() - startedAt).toBeGreaterThanOrEqual(3_000);
  });

  it("waits as long as Retry-After asks on 503, for a server-side apply", async () => {
    server.faults.fail({ status: 503, retryAfterSeconds: 2 });
    const startedAt = clock.monotonicMs();
    const { value } = await settled(client.apply(configMaps, configMap("a"), { fieldManager: "m" }, never));
    expect(value?.metadata.name).toBe("a");
    expect(clock.monotonicMs() - startedAt).toBeGreaterThanOrEqual(2_000);
    expect(server.requests()).toHaveLength(2);
  });

  it("leaves a server that asks for a wait of more than ten seconds to the caller", async () => {
    server.faults.fail({ status: 429, retryAfterSeconds: 60, times: 9 });
    const error = await client.listPage(configMaps, {}, never).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({ retryAfterMs: 60_000, context: { status: 429 } });
    expect(server.requests()).toHaveLength(1);
  });

  it("gives up after four attempts", async () => {
    server.faults.fail({ status: 500, times: 99 });
    const { error } = await settled(client.get(configMaps, at, never));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(server.requests()).toHaveLength(4);
  });

  it("sends a GET again after its connection broke", async () => {
    await client.create(configMaps, configMap("a"), never);
    server.faults.breakConnection({ method: "GET" });
    const { value } = await settled(client.get(configMaps, at, never));
    expect(value?.metadata.name).toBe("a");
  });

  it("sends a server-side apply again after its reply was lost, and changes nothing by that", async () => {
    server.faults.loseReply({ method: "PATCH" });
    const { value } = await settled(client.apply(configMaps, configMap("a"), { fieldManager: "m" }, never));
    expect(value?.metadata.resourceVersion).toBe("1001");
    expect(server.requests()).toHaveLength(2);
  });

  it("takes a delete whose reply was lost for done when the object is gone", async () => {
    const { metadata } = await client.create(configMaps, configMap("a"), never);
    server.faults.loseReply({ method: "DELETE" });
    const { error } = await settled(client.delete(configMaps, at, { preconditions: { uid: metadata.uid ?? "" } }, never));
    expect(error).toBeUndefined();
    expect(await client.get(configMaps, at, never)).toBeUndefined();
  });
});

describe("requests that may not be sent twice", () => {
  it("does not send a POST again after its reply was lost", async () => {
    server.faults.loseReply({ method: "POST" });
    const error = await client.create(configMaps, configMap("a"), never).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(server.requests()).toHaveLength(1);
    expect(await client.get(configMaps, at, never)).toBeDefined();
  });

  it("does not send a POST again after the connection broke or on 429", async () => {
    server.faults.breakConnection({ method: "POST" });
    await expect(client.create(configMaps, configMap("a"), never)).rejects.toBeInstanceOf(UnavailableError);
    server.faults.fail({ method: "POST", status: 429, retryAfterSeconds: 1 });
    await expect(client.create(configMaps, configMap("a"), never)).rejects.toMatchObject({ retryAfterMs: 1_000 });
    expect(server.requests()).toHaveLength(2);
  });

  it("does not send a delete by name again: it could hit a new object of that name", async () => {
    server.faults.breakConnection({ method: "DELETE" });
    await expect(client.delete(configMaps, at, {}, never)).rejects.toBeInstanceOf(UnavailableError);
    expect(server.requests()).toHaveLength(1);
  });
});

describe("failures", () => {
  it("says unreachable when nobody listens", async () => {
    const away = await startFakeApiServer();
    await away.close();
    const nobody = clientWith({ credentials: { server: away.url, token: async () => undefined } });
    const { error } = await settled(nobody.get(configMaps, at, never));
    expect(error).toMatchObject({ name: "UnavailableError", code: "kube.unreachable" });
    await nobody.close();
  });

  it("gives up an attempt that is not answered in time", async () => {
    const release = server.faults.hold({ times: 9 });
    const request = client.request({ method: "POST", path: "/api/v1/namespaces/n/configmaps", body: {}, timeoutMs: 1_000 }, never);
    await until(() => server.requests().length === 1);
    const { error } = await settled(request);
    expect(error).toMatchObject({ name: "UnavailableError", code: "kube.timeout" });
    release();
  });

  it("says undecodable when the answer is no JSON", async () => {
    await expect(client.request({ method: "GET", path: "/readyz", idempotent: false }, never)).rejects.toMatchObject({
      name: "UnavailableError",
      code: "kube.undecodable",
    });
  });

  it("gives an answer that was not asked for as JSON as text", async () => {
    expect(await client.request({ method: "GET", path: "/readyz", accept: "text/plain" }, never)).toBe("ok");
  });

  it("rejects at once with the signal's reason, whether it waits for an answer or for the next attempt", async () => {
    const release = server.faults.hold({});
    const first = new AbortController();
    const waiting = client.get(configMaps, at, first.signal);
    await until(() => server.requests().length === 1);
    first.abort("answer");
    await expect(waiting).rejects.toBe("answer");
    release();

    server.faults.fail({ status: 503, retryAfterSeconds: 9, times: 9 });
    const second = new AbortController();
    const pausing = client.get(configMaps, at, second.signal);
    await until(() => server.requests().length === 2);
    second.abort("attempt");
    await expect(pausing).rejects.toBe("attempt");
    await expect(client.get(configMaps, at, second.signal)).rejects.toBe("attempt");
    expect(server.requests()).toHaveLength(2);
  });

  it("tells conflict, existing, refused and failed tests apart", async () => {
    await client.create(configMaps, configMap("a"), never);
    await expect(client.create(configMaps, configMap("a"), never)).rejects.toMatchObject({ name: StaleError.name, code: "kube.exists" });
    await expect(client.mergePatch(configMaps, at, { metadata: { resourceVersion: "1" } }, never)).rejects.toMatchObject({
      name: StaleError.name,
      code: "kube.conflict",
    });
    await expect(client.create(configMaps, configMap("B_"), never)).rejects.toMatchObject({
      name: RefusedError.name,
      code: "kube.refused",
      context: { status: 422, field: "metadata.name" },
    });
    const fenced = client.jsonPatch(configMaps, at, [{ op: "test", path: "/metadata/uid", value: "other" }], never);
    await expect(fenced).rejects.toMatchObject({ name: RefusedError.name, code: "kube.test-failed", context: { status: 422 } });
    await expect(client.mergePatch(configMaps, { namespace: "n", name: "none" }, {}, never)).rejects.toBeInstanceOf(GoneError);
  });

  it("does not take the 404 of something in front of the API server for a missing object", async () => {
    const empty = await startFakeApiServer({ types: [] });
    const elsewhere = empty.client();
    await expect(elsewhere.get(configMaps, at, never)).rejects.toMatchObject({ name: "UnavailableError", code: "kube.unknown-path" });
    await expect(elsewhere.delete(configMaps, at, {}, never)).rejects.toMatchObject({
      name: "UnavailableError",
      code: "kube.unknown-path",
    });
    await empty.close();
  });
});

describe("tokens", () => {
  it("renews a token the server refused and sends the request again, even a POST", async () => {
    const tokens = ["old", "new"];
    const refused: string[] = [];
    const credentials: KubeCredentials = {
      server: server.url,
      token: async () => tokens[0],
      refused(token) {
        refused.push(token);
        tokens.shift();
      },
    };
    const known = clientWith({ credentials });
    server.faults.fail({ status: 401, reason: "Unauthorized" });
    expect((await known.create(configMaps, configMap("a"), never)).metadata.name).toBe("a");
    expect(refused).toEqual(["old"]);
    expect(server.requests().map(({ headers }) => headers["authorization"])).toEqual(["Bearer old", "Bearer new"]);
    await known.close();
  });

  it("refuses when the renewed token is the same", async () => {
    const known = clientWith({ credentials: { server: server.url, token: async () => "same", refused() {} } });
    server.faults.fail({ status: 401, reason: "Unauthorized", times: 9 });
    await expect(known.get(configMaps, at, never)).rejects.toMatchObject({ name: RefusedError.name, context: { status: 401 } });
    expect(server.requests()).toHaveLength(1);
    await known.close();
  });
});

describe("limits", () => {
  it("lets writes pass at the rate allowed and reads at any rate", async () => {
    const slow = clientWith({ writesPerSecond: 2 });
    const writes = Promise.all(Array.from({ length: 6 }, (_, index) => slow.create(configMaps, configMap(`a${index}`), never)));
    await until(() => server.requests().length === 2);
    await slow.get(configMaps, at, never);
    const startedAt = clock.monotonicMs();
    await settled(writes);
    expect(clock.monotonicMs() - startedAt).toBeGreaterThanOrEqual(2_000);
    await slow.close();
  });

  it("discards answers unread when asked to and keeps the connection", async () => {
    for (let i = 0; i < 10; i++)
      expect(await client.apply(configMaps, configMap("a"), { fieldManager: "m", decode: false }, never)).toBeUndefined();
    expect(server.connections()).toBe(1);
  });
});

describe("TLS and base paths", () => {
  it("trusts the given CA alone, checks the given server name, and puts the server's path first", async () => {
    const { cert, key } = createSelfSigned(["kube.test"]);
    const paths: (string | undefined)[] = [];
    const secure = createServer({ cert, key }, (request, response) => {
      paths.push(request.url);
      response.end("{}");
    });
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    const base = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/clusters/one/`;
    const attempt = async (tls: Partial<KubeCredentials>) => {
      const each = clientWith({ clock: systemClock, credentials: { server: base, token: async () => undefined, ...tls } });
      const outcome = await each
        .request({ method: "GET", path: "/version", idempotent: false }, never)
        .catch((error: UnavailableError) => error.code);
      await each.close();
      return outcome;
    };
    expect(await attempt({ ca: cert })).toEqual({});
    expect(await attempt({ ca: cert, serverName: "kube.test" })).toEqual({});
    expect(await attempt({ ca: cert, serverName: "other.test" })).toBe("kube.unreachable");
    expect(await attempt({})).toBe("kube.unreachable");
    expect(await attempt({ insecureSkipTlsVerify: true })).toEqual({});
    expect(new Set(paths)).toEqual(new Set(["/clusters/one/version"]));
    await new Promise((resolve) => secure.close(resolve));
  });
});

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}
