import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { GoneError, InputError } from "../../../domain/errors.ts";
import { systemClock } from "../../../runtime/clock.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import { systemRng } from "../../../runtime/rng.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { createApplicationsSeen } from "./applications-seen.ts";

const APPLICATIONS = { group: "argoproj.io", version: "v1alpha1", plural: "applications", kind: "Application", namespaced: true };
const at = { engineCluster: "local", namespace: "argosy-standard-1" };
const COUNT = 501;

let server: FakeApiServer;
let open: ReturnType<typeof createApplicationsSeen>[];
beforeEach(async () => {
  server = await startFakeApiServer();
  open = [];
});
afterEach(async () => {
  await Promise.all(open.map((seen) => seen.rest()));
  await server.close().catch(() => undefined);
});

const seenBy = (clientOf: () => Promise<KubeClient | undefined>) => {
  const seen = createApplicationsSeen({ clientOf, clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics });
  open.push(seen);
  return seen;
};
const make = (name: string, namespace = at.namespace) =>
  server
    .client()
    .create(
      APPLICATIONS,
      { apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata: { name, namespace } },
      AbortSignal.timeout(60_000),
    );

it("lists every Application in an instance's namespace, page by page, whoever created it", async () => {
  for (let index = 0; index < COUNT; index += 1) await make(`app-${index}`);
  await make("elsewhere", "argosy-standard-2");
  const client = server.client();
  const seen = await seenBy(async () => client).list(at, AbortSignal.timeout(60_000));
  expect(seen).toHaveLength(COUNT);
  expect(seen?.some(({ name }) => name === "elsewhere")).toBe(false);
});

it("reports nothing before it was asked, and then what comes and goes afterwards, whoever made it", async () => {
  const client = server.client();
  const seen = seenBy(async () => client);
  await make("web");
  expect(seen.reported(at)).toBeUndefined();
  const listed = await seen.list(at, AbortSignal.timeout(60_000));
  await vi.waitFor(() => expect(seen.reported(at)).toEqual(listed), { timeout: 30_000 });
  await make("more");
  await make("elsewhere", "argosy-standard-2");
  await vi.waitFor(() => expect(seen.reported(at)?.map(({ name }) => name)).toEqual(["more", "web"]), { timeout: 30_000 });
  await client.delete(APPLICATIONS, { namespace: at.namespace, name: "web" }, {}, AbortSignal.timeout(60_000)).catch((error: unknown) => {
    if (!(error instanceof GoneError)) throw error;
  });
  await vi.waitFor(() => expect(seen.reported(at)?.map(({ name }) => name)).toEqual(["more"]), { timeout: 30_000 });
  await seen.rest();
  expect(seen.reported(at)).toBeUndefined();
  await seen.list(at, AbortSignal.timeout(60_000));
  await vi.waitFor(() => expect(seen.reported(at)).toHaveLength(1), { timeout: 30_000 });
});

it("watches by the client that is given out now, once that is another", async () => {
  const other = await startFakeApiServer();
  try {
    let client = server.client();
    const seen = seenBy(async () => client);
    await seen.list(at, AbortSignal.timeout(60_000));
    await vi.waitFor(() => expect(seen.reported(at)).toEqual([]), { timeout: 30_000 });
    await vi.waitFor(() => expect(server.openWatches()).toBe(1), { timeout: 30_000 });
    client = other.client();
    await seen.list(at, AbortSignal.timeout(60_000));
    await vi.waitFor(() => expect([server.openWatches(), other.openWatches()]).toEqual([0, 1]), { timeout: 30_000 });
    other.load(APPLICATIONS, [
      { apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata: { name: "web", namespace: at.namespace } },
    ]);
    await vi.waitFor(() => expect(seen.reported(at)?.map(({ name }) => name)).toEqual(["web"]), { timeout: 30_000 });
    await seen.rest();
  } finally {
    await other.close();
  }
});

it("gives no list for a cluster that refuses it, and the next one once it does not", async () => {
  const client = server.client();
  const seen = seenBy(async () => client);
  await make("web");
  server.faults.fail({ method: "GET", path: /argosy-standard-1\/applications/, status: 403 });
  expect(await seen.list(at, AbortSignal.timeout(60_000))).toBeUndefined();
  expect(await seen.list(at, AbortSignal.timeout(60_000))).toHaveLength(1);
  const unreadable = new InputError("Reading a kubeconfig", { code: "kube.kubeconfig", path: "clusters", remedy: "Name one" });
  expect(await seenBy(() => Promise.reject(unreadable)).list(at, AbortSignal.timeout(60_000))).toBeUndefined();
});

it("gives no list for a cluster that is not declared or does not answer", async () => {
  const signal = AbortSignal.timeout(60_000);
  expect(await seenBy(async () => undefined).list(at, signal)).toBeUndefined();
  const client = server.client();
  await server.close();
  const seen = seenBy(async () => client);
  expect(await seen.list(at, signal)).toBeUndefined();
  expect(seen.reported(at)).toBeUndefined();
});
