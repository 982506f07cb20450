import { expect, test, vi } from "vitest";
import { UnavailableError } from "../../../domain/errors.ts";
import { systemClock } from "../../../runtime/clock.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { startFakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import { createSeededRng } from "../../../runtime/rng.ts";
import { manifestOf } from "../../../shard/managed-object.ts";
import { renderApplication } from "../../../shard/render-application.ts";
import { anApplication, anApplicationPlacement, TARGET } from "../../../shard/testing/builders.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { createEngineShard, createEngines } from "./clusters.ts";

test("an engine cluster is watched once, from the first time it is asked for, and asked for again when it was not there", async () => {
  const server = await startFakeApiServer();
  const abort = new AbortController();
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
  const common = { clock: systemClock, rng: createSeededRng("engines"), log: silentLog, metrics: noMetrics };
  const engines = createEngines({ ...common, clientOf, signal: abort.signal });
  expect(await engines.get("eu-1")).toBeUndefined();
  await expect(engines.get("eu-1")).rejects.toBeInstanceOf(UnavailableError);
  const [one, same] = await Promise.all([engines.get("eu-1"), engines.get("eu-1")]);
  expect(one).toBe(same);
  await one?.synced(abort.signal);
  expect(one?.isSynced()).toBe(true);
  abort.abort();
  await server.close();
});

test("Applications that Argo CD has yet to answer are kept as the watch shows them, those too that were written through here", async () => {
  const server = await startFakeApiServer();
  const abort = new AbortController();
  const common = { clock: systemClock, rng: createSeededRng("unanswered"), log: silentLog, metrics: noMetrics };
  const engine = createEngineShard({ ...common, client: server.client("eu-1") });
  engine.start(abort.signal);
  await engine.synced(abort.signal);
  const at = { namespace: "argocd-1", name: "web" };
  const unanswered = () => engine.listUnanswered().map(({ at: { name } }) => name);
  const shows = (...names: readonly string[]) => vi.waitFor(() => expect(unanswered()).toEqual(names), { timeout: 20_000 });

  const manifest = manifestOf(renderApplication(anApplicationPlacement(), anApplication(), TARGET));
  await engine.applications.create({ ...manifest, metadata: { ...manifest.metadata, ...at } }, abort.signal);
  await vi.waitFor(() => expect(engine.applications.list().length).toBe(1), { timeout: 20_000 });
  const path = "/metadata/annotations/argocd.argoproj.io~1refresh";
  await engine.applications.patch(at, [{ op: "add", path, value: "normal" }], abort.signal);
  await shows("web");
  await engine.applications.patch(at, [{ op: "remove", path }], abort.signal);
  await shows();
  await engine.applications.patch(at, [{ op: "add", path, value: "normal" }], abort.signal);
  await shows("web");
  abort.abort();
  await server.close();
});
