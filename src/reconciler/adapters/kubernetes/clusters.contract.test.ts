import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { UnavailableError } from "../../../domain/errors.ts";
import { systemClock } from "../../../runtime/clock.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { FakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import { startFakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import { createSeededRng } from "../../../runtime/rng.ts";
import { createVirtualClock } from "../../../runtime/testing/virtual-clock.ts";
import { manifestOf } from "../../../shard/managed-object.ts";
import { renderApplication } from "../../../shard/render-application.ts";
import { anApplication, anApplicationPlacement, TARGET } from "../../../shard/testing/builders.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { createEngines, type WatchedEngines } from "./clusters.ts";
import { APPLICATIONS } from "./types.ts";

const ONE = { engineCluster: "eu-1", namespace: "argocd-1" };
const OTHER = { engineCluster: "eu-1", namespace: "argocd-2" };
const DEADLINE = { timeout: 20_000 };
const common = { rng: createSeededRng("engines"), log: silentLog, metrics: noMetrics };

let server: FakeApiServer;
let abort: AbortController;
beforeEach(async () => {
  server = await startFakeApiServer();
  abort = new AbortController();
});
afterEach(async () => {
  abort.abort();
  await server.close();
});

async function listed(engines: WatchedEngines, place: typeof ONE) {
  const shard = await engines.get(place);
  if (shard === undefined) throw new Error("the engine cluster is not there");
  await shard.synced(abort.signal);
  return shard;
}

function manifestAt({ namespace }: typeof ONE, name: string) {
  const manifest = manifestOf(renderApplication(anApplicationPlacement(), anApplication(), TARGET));
  return { ...manifest, metadata: { ...manifest.metadata, namespace, name } };
}

test("an instance is watched once, from the first time it is asked for, and asked for again when its cluster was not there", async () => {
  const answers: (KubeClient | undefined | Error)[] = [
    undefined,
    new UnavailableError("reading a kubeconfig", { code: "test" }),
    server.client("eu-1"),
  ];
  const clientOf = async (): Promise<KubeClient | undefined> => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const engines = createEngines({ ...common, clock: systemClock, clientOf, signal: abort.signal });
  expect(await engines.get(ONE)).toBeUndefined();
  await expect(engines.get(ONE)).rejects.toBeInstanceOf(UnavailableError);
  const [one, same] = await Promise.all([engines.get(ONE), engines.get(ONE)]);
  expect(one).toBe(same);
  await one?.synced(abort.signal);
  expect(one?.isSynced()).toBe(true);
});

test("what stands on one instance is neither read nor reported with another", async () => {
  const client = server.client("eu-1");
  const engines = createEngines({ ...common, clock: systemClock, clientOf: async () => client, signal: abort.signal });
  const reported: string[] = [];
  engines.onApplication(({ at }) => void reported.push(`${at.namespace}/${at.name}`));
  const [one, other] = [await listed(engines, ONE), await listed(engines, OTHER)];
  for (const place of [ONE, OTHER]) await server.client("hands").create(APPLICATIONS, manifestAt(place, "web"), abort.signal);
  await vi.waitFor(() => expect(reported.toSorted()).toEqual(["argocd-1/web", "argocd-2/web"]), DEADLINE);
  expect([one, other].map(({ applications }) => applications.list().map(({ at }) => at.namespace))).toEqual([["argocd-1"], ["argocd-2"]]);
  const watched = server.requests().filter(({ method, url }) => method === "GET" && url.includes("/applications"));
  expect(watched.filter(({ url }) => !/\/namespaces\/argocd-[12]\//.test(url))).toEqual([]);
});

describe("the watch of an instance", () => {
  const MINUTE_MS = 60_000;
  const KINDS = 4;

  async function open() {
    const clock = createVirtualClock();
    let client = server.client("eu-1");
    const engines = createEngines({ ...common, clock, clientOf: async () => client, signal: abort.signal });
    const shards = { one: await listed(engines, ONE), other: await listed(engines, OTHER) };
    const watches = (count: number) =>
      vi.waitFor(async () => {
        // A watch that said nothing for so long is begun again a moment later.
        await clock.advance(1_000);
        expect(server.openWatches()).toBe(count);
      }, DEADLINE);
    await watches(2 * KINDS);
    const replace = (): void => {
      client = server.client("eu-1");
    };
    return { watches, clock, engines, shards, replace };
  }

  test("ends when nobody has asked for it for a minute, unless it is retained", async () => {
    const { clock, engines, shards, watches } = await open();
    engines.retain([ONE]);
    await clock.advance(0.7 * MINUTE_MS);
    expect(await engines.get(OTHER)).toBe(shards.other);
    await clock.advance(0.7 * MINUTE_MS);
    await watches(2 * KINDS);
    await clock.advance(MINUTE_MS);
    await watches(KINDS);
    expect(await engines.get(ONE)).toBe(shards.one);
    expect(await engines.get(OTHER)).not.toBe(shards.other);
  });

  test("begins anew by the client that has come in place of the one it was begun with", async () => {
    const { clock, engines, shards, replace } = await open();
    engines.retain([ONE, OTHER]);
    await clock.advance(2 * MINUTE_MS);
    expect(await engines.get(ONE)).toBe(shards.one);
    replace();
    await clock.advance(2 * MINUTE_MS);
    expect(await listed(engines, ONE)).not.toBe(shards.one);
  });

  test("is begun by asking whether it is heard, and heard once everything is listed", async () => {
    const client = server.client("eu-1");
    const engines = createEngines({ ...common, clock: systemClock, clientOf: async () => client, signal: abort.signal });
    expect(engines.isHeard(ONE)).toBe(false);
    await vi.waitFor(() => expect(engines.isHeard(ONE)).toBe(true), DEADLINE);
  });
});

test("Applications that Argo CD has yet to answer are kept as the watch shows them, those too that were written through here", async () => {
  const client = server.client("eu-1");
  const engines = createEngines({ ...common, clock: systemClock, clientOf: async () => client, signal: abort.signal });
  const engine = await listed(engines, ONE);
  const at = { namespace: ONE.namespace, name: "web" };
  const unanswered = () => engine.listUnanswered().map(({ at: { name } }) => name);
  const shows = (...names: readonly string[]) => vi.waitFor(() => expect(unanswered()).toEqual(names), DEADLINE);

  await engine.applications.create(manifestAt(ONE, "web"), abort.signal);
  await vi.waitFor(() => expect(engine.applications.list().length).toBe(1), DEADLINE);
  const path = "/metadata/annotations/argocd.argoproj.io~1refresh";
  await engine.applications.patch(at, [{ op: "add", path, value: "normal" }], abort.signal);
  await shows("web");
  await engine.applications.patch(at, [{ op: "remove", path }], abort.signal);
  await shows();
  await engine.applications.patch(at, [{ op: "add", path, value: "normal" }], abort.signal);
  await shows("web");
});
