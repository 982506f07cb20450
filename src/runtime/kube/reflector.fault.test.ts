import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createSeededRng } from "../rng.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import type { KubeClient } from "./client.ts";
import { createKubeClient } from "./http.ts";
import type { Reflector, ReflectorChange, ReflectorOptions } from "./reflector.ts";
import { createReflector } from "./reflector.ts";
import type { KubeObject, ResourceType } from "./resource.ts";
import type { FakeApiServer } from "./testing/fake-api-server.ts";
import { startFakeApiServer } from "./testing/fake-api-server.ts";
import { advanceUntil, until } from "./testing/until.ts";

const widgets: ResourceType = { group: "test.io", version: "v1", plural: "widgets", kind: "Widget", namespaced: true };
const never = new AbortController().signal;

interface Widget extends KubeObject {
  readonly spec: { readonly size: number };
}
const widget = (name: string, size = 1): Widget => ({
  apiVersion: "test.io/v1",
  kind: "Widget",
  metadata: { namespace: "n", name, labels: { size: String(size) } },
  spec: { size },
});
const at = (name: string) => ({ namespace: "n", name });

let server: FakeApiServer;
let users: KubeClient;
let clock: VirtualClock;
let stop: AbortController;
let changes: string[];
let complaints: string[];
let reflector: Reflector<number>;
const toClose: KubeClient[] = [];

beforeEach(async () => {
  server = await startFakeApiServer();
  users = server.client();
  clock = createVirtualClock();
  stop = new AbortController();
  changes = [];
  complaints = [];
  reflector = reflect({});
});
afterEach(async () => {
  stop.abort(new Error("test over"));
  await Promise.all(toClose.splice(0).map((client) => client.close()));
  await server.close();
});

function reflect(options: Partial<ReflectorOptions<number>>, cluster = "c", at = server): Reflector<number> {
  const client = createKubeClient({
    cluster,
    credentials: { server: at.url, token: async () => undefined },
    clock,
    rng: createSeededRng(2),
    metrics: noMetrics,
  });
  toClose.push(client);
  const project = (object: KubeObject) => (object as Widget).spec.size;
  const onChange = (change: ReflectorChange<number>) => void changes.push(describeChange(change));
  return createReflector({
    client,
    type: widgets,
    project,
    onChange,
    clock,
    rng: createSeededRng(3),
    log: complainingLog(),
    metrics: noMetrics,
    ...options,
  });
}

function describeChange(change: ReflectorChange<number>): string {
  return change.kind === "delete" ? `-${change.at.name}` : `+${change.at.name} ${change.before ?? ""}>${change.now}`;
}

function complainingLog(): Log {
  const complain = (_fields: unknown, message: string) => void complaints.push(message);
  const log: Log = { debug() {}, info() {}, warn: complain, error: complain, child: () => log };
  return log;
}

function countingMetrics(counts: Map<string, number>): Metrics {
  return {
    ...noMetrics,
    counter: (name) => ({
      add: (value, labels) =>
        void counts.set(`${name} ${labels?.["kind"] ?? ""}`, (counts.get(`${name} ${labels?.["kind"] ?? ""}`) ?? 0) + value),
    }),
  };
}

async function startWatching(): Promise<void> {
  reflector.start(stop.signal);
  await reflector.synced(never);
  await until(() => server.openWatches() === 1);
}

const requestsLike = (pattern: RegExp) => server.requests().filter(({ method, url }) => pattern.test(`${method} ${url}`));
const lists = () => requestsLike(/^GET .*limit=/);
const watches = () => requestsLike(/watch=true/);
const has = (name: string, size: number) => () => reflector.get(at(name)) === size;

describe("listing and watching", () => {
  it("lists ten thousand objects in pages of five hundred", async () => {
    server.load(
      widgets,
      Array.from({ length: 10_000 }, (_, index) => widget(`w${index}`, index)),
    );
    reflector.start(stop.signal);
    await reflector.synced(never);
    expect(reflector.list()).toHaveLength(10_000);
    expect(lists()).toHaveLength(20);
    expect(reflector.get(at("w9999"))).toBe(9_999);
  });

  it("reports what is there, what changes and what goes, and nothing else", async () => {
    await users.create(widgets, widget("a", 1), never);
    await startWatching();
    await users.create(widgets, widget("b", 2), never);
    await users.mergePatch(widgets, at("a"), { spec: { size: 5 } }, never);
    await users.mergePatch(widgets, at("a"), { spec: { size: 5 } }, never);
    await users.delete(widgets, at("b"), {}, never);
    await until(() => changes.length === 4);
    expect(changes).toEqual(["+a >1", "+b >2", "+a 1>5", "-b"]);
    expect(reflector.list()).toEqual([5]);
    expect(reflector.list("other")).toEqual([]);
  });

  it("asks for bookmarks and for a random end between five and ten minutes", async () => {
    await startWatching();
    const query = new URL(watches()[0]?.url ?? "", server.url).searchParams;
    expect(query.get("allowWatchBookmarks")).toBe("true");
    expect(Number(query.get("timeoutSeconds"))).toBeGreaterThanOrEqual(300);
    expect(Number(query.get("timeoutSeconds"))).toBeLessThanOrEqual(600);
  });

  it("follows a selector: what ceases to match is deleted", async () => {
    reflector = reflect({ labelSelector: "size=1", namespace: "n" });
    await users.create(widgets, widget("a", 1), never);
    await users.create(widgets, widget("b", 2), never);
    await startWatching();
    await users.mergePatch(widgets, at("a"), { metadata: { labels: { size: "2" } } }, never);
    await until(() => changes.length === 2);
    expect(changes).toEqual(["+a >1", "-a"]);
  });

  it("leaves out what the projection leaves out, and reports when that changes", async () => {
    reflector = reflect({ project: (object) => ((object as Widget).spec.size > 1 ? (object as Widget).spec.size : undefined) });
    await users.create(widgets, widget("a", 1), never);
    await startWatching();
    await users.mergePatch(widgets, at("a"), { spec: { size: 2 } }, never);
    await users.mergePatch(widgets, at("a"), { spec: { size: 1 } }, never);
    await until(() => changes.length === 2);
    expect(changes).toEqual(["+a >2", "-a"]);
  });

  it("keeps objects of equal names on two clusters apart", async () => {
    const other = await startFakeApiServer();
    other.load(widgets, [widget("a", 7)]);
    server.load(widgets, [widget("a", 1)]);
    const elsewhere = reflect({}, "d", other);
    elsewhere.start(stop.signal);
    await startWatching();
    await elsewhere.synced(never);
    expect([reflector.get(at("a")), elsewhere.get(at("a"))]).toEqual([1, 7]);
    stop.abort();
    await elsewhere.stopped();
    await other.close();
  });
});

describe("a watch that breaks", () => {
  beforeEach(async () => {
    await users.create(widgets, widget("a", 1), never);
    await startWatching();
  });

  /** Something to miss: one object changed, one deleted, one made while nobody was watching. */
  async function missSomething(): Promise<void> {
    await users.create(widgets, widget("b", 2), never);
    await until(has("b", 2));
    server.faults.fail({ path: /watch=true/, status: 500 });
    server.faults.endWatches();
    await until(() => server.openWatches() === 0);
    await users.mergePatch(widgets, at("a"), { spec: { size: 3 } }, never);
    await users.delete(widgets, at("b"), {}, never);
    await users.create(widgets, widget("c", 4), never);
  }
  const missed = () => reflector.get(at("a")) === 3 && reflector.get(at("b")) === undefined && reflector.get(at("c")) === 4;

  it.each([
    ["the server ended it without a word", () => server.faults.endWatches()],
    ["its connection was reset", () => server.faults.resetWatches()],
  ])("is resumed where it was when %s", async (_, breakIt) => {
    breakIt();
    await until(() => server.openWatches() === 0);
    await users.create(widgets, widget("b", 2), never);
    await advanceUntil(clock, has("b", 2));
    expect(lists()).toHaveLength(1);
    expect(watches().at(-1)?.url).toContain("resourceVersion=1001");
  });

  it("is resumed after HTTP 500, without listing again", async () => {
    await missSomething();
    await advanceUntil(clock, missed);
    expect(lists()).toHaveLength(1);
    expect(changes.toSorted()).toEqual(["+a 1>3", "+a >1", "+b >2", "+c >4", "-b"]);
  });

  it("is replaced by a list when the stream says 410, and what is gone is reported as deleted", async () => {
    await missSomething();
    server.faults.compact();
    await advanceUntil(clock, missed);
    expect(lists()).toHaveLength(2);
    expect(changes.toSorted()).toEqual(["+a 1>3", "+a >1", "+b >2", "+c >4", "-b"]);
  });

  it("is replaced by a list when the answer is 410", async () => {
    await missSomething();
    server.faults.fail({ path: /watch=true/, status: 410, reason: "Expired" });
    await advanceUntil(clock, missed);
    expect(lists()).toHaveLength(2);
  });

  it("is replaced by a list when the kind was unknown for a while", async () => {
    await missSomething();
    server.faults.fail({ path: /watch=true/, status: 404 });
    await advanceUntil(clock, missed);
    expect(lists()).toHaveLength(2);
  });

  it("is listed again at once after a first 410, without back-off", async () => {
    server.faults.expireWatches();
    await until(() => lists().length === 2 && server.openWatches() === 1);
    expect(clock.monotonicMs()).toBe(0);
  });

  it("is listed again less and less often while every watch says 410", async () => {
    server.faults.fail({ path: /watch=true/, status: 410, reason: "Expired", times: 1_000 });
    server.faults.endWatches();
    await until(() => server.openWatches() === 0);
    await advanceUntil(clock, () => clock.monotonicMs() > 60_000, 200);
    expect(lists().length).toBeGreaterThan(4);
    expect(lists().length).toBeLessThan(12);
  });

  it("is opened less and less often while its answers make no sense", async () => {
    server.faults.fail({ path: /watch=true/, status: 200, times: 1_000 });
    server.faults.endWatches();
    await until(() => server.openWatches() === 0);
    await advanceUntil(clock, () => clock.monotonicMs() > 60_000, 200);
    expect(watches().length).toBeGreaterThan(4);
    expect(watches().length).toBeLessThan(12);
  });

  it("waits for Retry-After when the server is busy", async () => {
    server.faults.fail({ path: /watch=true/, status: 429, retryAfterSeconds: 20 });
    server.faults.endWatches();
    await until(() => server.openWatches() === 0);
    await users.create(widgets, widget("b", 2), never);
    await advanceUntil(clock, has("b", 2));
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(20_000);
  });

  it("is taken for dead and opened again after two minutes of silence", async () => {
    server.faults.silenceWatches();
    await users.create(widgets, widget("b", 2), never);
    server.faults.unsilenceWatches();
    await clock.advance(119_000);
    expect(reflector.stalenessMs()).toBe(119_000);
    expect(watches()).toHaveLength(1);
    await advanceUntil(clock, has("b", 2));
    expect(lists()).toHaveLength(1);
    expect(reflector.stalenessMs()).toBeLessThan(5_000);
  });

  it("is not taken for dead while bookmarks come, and resumes from the last of them", async () => {
    server.load({ ...widgets, plural: "gadgets" }, [widget("elsewhere")]);
    for (let minute = 0; minute < 4; minute++) {
      await clock.advance(60_000);
      server.faults.bookmark();
      await until(() => reflector.stalenessMs() === 0);
    }
    expect(watches()).toHaveLength(1);
    server.faults.resetWatches();
    await advanceUntil(clock, () => watches().length === 2);
    expect(watches()[1]?.url).toContain("resourceVersion=1002");
  });
});

describe("the return of a server", () => {
  let returns: number;
  beforeEach(async () => {
    returns = 0;
    const onReturn = (): void => {
      returns += 1;
    };
    reflector = reflect({ onReturn });
    await startWatching();
  });
  const answers = async (name: string): Promise<void> => {
    await users.create(widgets, widget(name), never);
    await advanceUntil(clock, has(name, 1));
  };

  it.each([
    ["its connections broke and nobody got to it for a while", () => server.faults.resetWatches()],
    ["it was silent for two minutes", () => server.faults.silenceWatches()],
  ])("is reported once, when it sends something again after %s", async (_, breakIt) => {
    const giveBack = server.faults.breakAll();
    breakIt();
    await advanceUntil(clock, () => complaints.length > 3);
    expect(returns).toBe(0);
    giveBack();
    server.faults.unsilenceWatches();
    await answers("b");
    expect(returns).toBe(1);
    await answers("c");
    expect(returns).toBe(1);
  });

  it.each([
    ["ended a watch", () => server.faults.endWatches()],
    ["had forgotten the version", () => server.faults.expireWatches()],
    [
      "said that it was too busy",
      () => {
        server.faults.fail({ path: /watch=true/, status: 503 });
        server.faults.endWatches();
      },
    ],
  ])("is not reported where it had only %s", async (_, breakIt) => {
    breakIt();
    await advanceUntil(clock, () => watches().length > 1 && server.openWatches() === 1);
    await answers("b");
    expect(returns).toBe(0);
  });
});

describe("a list that breaks", () => {
  it("is read again after HTTP 500, and nothing is taken for deleted meanwhile", async () => {
    await users.create(widgets, widget("a"), never);
    server.faults.fail({ path: /limit=/, status: 500, times: 9 });
    reflector.start(stop.signal);
    await until(() => lists().length === 1);
    expect(reflector.isSynced()).toBe(false);
    expect(reflector.stalenessMs()).toBe(Number.POSITIVE_INFINITY);
    await advanceUntil(clock, () => reflector.isSynced());
    expect(lists()).toHaveLength(10);
    expect(changes).toEqual(["+a >1"]);
  });

  it("waits for Retry-After on 429", async () => {
    server.faults.fail({ path: /limit=/, status: 429, retryAfterSeconds: 15 });
    reflector.start(stop.signal);
    await advanceUntil(clock, () => reflector.isSynced());
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(15_000);
    expect(lists()).toHaveLength(2);
  });

  it("begins anew when its continue token expires between pages", async () => {
    reflector = reflect({ pageSize: 2 });
    server.load(
      widgets,
      ["a", "b", "c", "d", "e"].map((name) => widget(name)),
    );
    const release = server.faults.hold({ path: /continue=/ });
    reflector.start(stop.signal);
    await until(() => lists().length === 2);
    server.faults.compact();
    release();
    await advanceUntil(clock, () => reflector.isSynced());
    expect(lists()).toHaveLength(5);
    expect(reflector.list()).toHaveLength(5);
  });
});

describe("owners that fail", () => {
  it("survives a handler that throws, counts it and goes on with the next event", async () => {
    const counts = new Map<string, number>();
    reflector = reflect({
      metrics: countingMetrics(counts),
      onChange(change) {
        changes.push(describeChange(change));
        if (change.at.name === "bad") throw new Error("handler");
      },
    });
    await startWatching();
    await users.create(widgets, widget("bad"), never);
    await users.create(widgets, widget("good"), never);
    await until(() => changes.length === 2);
    expect(changes).toEqual(["+bad >1", "+good >1"]);
    expect(counts.get("argosy_kube_reflector_failures_total handler")).toBe(1);
    server.faults.resetWatches();
    await advanceUntil(clock, () => watches().length === 2);
    expect(watches()[1]?.url).toContain("resourceVersion=1002");
  });

  it("keeps the former state of an object whose projection throws, and does not take it for deleted", async () => {
    reflector = reflect({
      project(object) {
        if ((object as Widget).spec.size === 13) throw new Error("projection");
        return (object as Widget).spec.size;
      },
    });
    await users.create(widgets, widget("a", 1), never);
    await startWatching();
    await users.mergePatch(widgets, at("a"), { spec: { size: 13 } }, never);
    await users.create(widgets, widget("b", 2), never);
    await until(has("b", 2));
    server.faults.expireWatches();
    await until(() => lists().length === 2 && server.openWatches() === 1);
    expect(reflector.get(at("a"))).toBe(1);
    expect(changes).toEqual(["+a >1", "+b >2"]);
  });
});

describe("stopping", () => {
  it("ends a live watch at once and without complaint", async () => {
    await startWatching();
    stop.abort(new Error("stop"));
    await reflector.stopped();
    await until(() => server.openWatches() === 0);
    expect(complaints).toEqual([]);
    expect(clock.nextAt()).toBeUndefined();
  });

  it("ends a back-off at once and opens nothing afterwards", async () => {
    await startWatching();
    server.faults.fail({ path: /watch=true/, status: 500, times: 99 });
    server.faults.endWatches();
    await advanceUntil(clock, () => watches().length === 3);
    await until(() => complaints.length === 2);
    stop.abort(new Error("stop"));
    await reflector.stopped();
    expect(clock.nextAt()).toBeUndefined();
    await clock.advance(600_000);
    expect(watches()).toHaveLength(3);
  });

  it("rejects those who wait for the first list", async () => {
    server.faults.fail({ path: /limit=/, status: 500, times: 99 });
    reflector.start(stop.signal);
    const impatient = new AbortController();
    const first = reflector.synced(impatient.signal);
    impatient.abort("impatient");
    await expect(first).rejects.toBe("impatient");
    const second = reflector.synced(never);
    stop.abort(new Error("stop"));
    await expect(second).rejects.toMatchObject({ code: "kube.reflector-stopped" });
    await reflector.stopped();
  });

  it("refuses to be started twice", () => {
    reflector.start(stop.signal);
    expect(() => reflector.start(stop.signal)).toThrow(expect.objectContaining({ code: "kube.reflector-started" }));
  });
});
