import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { millis, rfc3339 } from "../../../domain/clock.ts";
import { LABEL_CANARY } from "../../../domain/names.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import { systemRng } from "../../../runtime/rng.ts";
import { createVirtualClock, type VirtualClock } from "../../../runtime/testing/virtual-clock.ts";
import { silentLog } from "../../../telemetry/log.ts";
import type { InstanceObservations } from "../../port.ts";
import { createInstanceObservations } from "./instance-observations.ts";

const APPLICATIONS = { group: "argoproj.io", version: "v1alpha1", plural: "applications", kind: "Application", namespaced: true };
const at = { engineCluster: "local", namespace: "argosy-standard-1" };
const COUNT = 501;
const request = { releases: [], version: "3.5.7", since: undefined, syncs: undefined, resyncMs: 180_000 };

let server: FakeApiServer;
let clock: VirtualClock;
let open: InstanceObservations[];
beforeEach(async () => {
  [server, clock, open] = [await startFakeApiServer(), createVirtualClock(), []];
});
afterEach(async () => {
  await Promise.all(open.map((each) => each.rest()));
  await server.close().catch(() => undefined);
});

const observationsBy = (clientOf: () => Promise<KubeClient | undefined>): InstanceObservations => {
  const observations = createInstanceObservations({ clientOf, clock, rng: systemRng, log: silentLog });
  open.push(observations);
  return observations;
};

it("counts users' Applications in an instance's namespace, page by page", async () => {
  const signal = AbortSignal.timeout(60_000);
  const client = server.client();
  const status = { reconciledAt: rfc3339(millis(clock.now())), sync: { status: "Unknown" } };
  for (let index = 0; index < COUNT; index += 1) {
    const metadata = { name: `app-${index}`, namespace: at.namespace };
    await client.create(APPLICATIONS, { apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata, status } as never, signal);
  }
  const canary = { name: "argosy-canary-1", namespace: at.namespace, labels: { [LABEL_CANARY]: "true" } };
  const argo = { apiVersion: "argoproj.io/v1alpha1", kind: "Application" };
  await client.create(APPLICATIONS, { ...argo, metadata: canary, status } as never, signal);
  const observations = observationsBy(async () => client);
  expect(await observations.observe(at, request, signal)).toMatchObject({ applications: COUNT, faulty: COUNT, fresh: COUNT, crashes: [] });
  expect(await observations.observe({ ...at, namespace: "argosy-other" }, request, signal)).toMatchObject({
    applications: 0,
    runs: undefined,
  });
});

it("gives no observation for a cluster that is not declared or does not answer", async () => {
  const signal = AbortSignal.timeout(60_000);
  expect(await observationsBy(async () => undefined).observe(at, request, signal)).toBeUndefined();
  const client = server.client();
  await server.close();
  expect(await observationsBy(async () => client).observe(at, request, signal)).toBeUndefined();
});

describe("an instance that is observed again and again", () => {
  const soon = () => AbortSignal.timeout(60_000);
  const status = (name = "Synced") => ({ reconciledAt: rfc3339(millis(clock.now())), sync: { status: name } });
  const make = (name: string, namespace = at.namespace) =>
    server.load(APPLICATIONS, [
      { apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata: { name, namespace }, status: status() } as never,
    ]);
  const lists = () => server.requests().filter(({ url }) => url.includes("/applications?") && !url.includes("watch=true")).length;

  it("is listed once, and what changes afterwards is counted by what its watch tells", async () => {
    make("web");
    const client = server.client();
    const observations = observationsBy(async () => client);
    for (let count = 0; count < 5; count += 1) expect(await observations.observe(at, request, soon())).toMatchObject({ applications: 1 });
    expect(lists()).toBe(1);
    make("more");
    await client.mergePatch(APPLICATIONS, { namespace: at.namespace, name: "web" }, { status: status("Unknown") }, soon());
    await vi.waitFor(
      async () => expect(await observations.observe(at, request, soon())).toMatchObject({ applications: 2, faulty: 1, fresh: 2 }),
      { timeout: 30_000 },
    );
    expect(lists()).toBe(1);
  });

  it("is listed anew on request, once its watch has been silent for long, and for a client with other credentials", async () => {
    make("web");
    let client = server.client();
    const observations = observationsBy(async () => client);
    await observations.observe(at, request, soon());
    await observations.observe(at, { ...request, isAfresh: true }, soon());
    expect(lists()).toBe(2);
    server.faults.silenceWatches();
    await clock.advance(149_000);
    await observations.observe(at, request, soon());
    expect(lists()).toBe(2);
    make("more");
    await clock.advance(2_000);
    expect(await observations.observe(at, request, soon())).toMatchObject({ applications: 2 });
    expect(lists()).toBe(3);
    client = server.client();
    await observations.observe(at, request, soon());
    expect(lists()).toBe(4);
  });

  it("is watched until it is not among those to watch any more", async () => {
    const client = server.client();
    const observations = observationsBy(async () => client);
    const other = { ...at, namespace: "argosy-standard-2" };
    for (const instance of [at, other]) await observations.observe(instance, request, soon());
    await vi.waitFor(() => expect(server.openWatches()).toBe(2), { timeout: 30_000 });
    observations.watchOnly([other]);
    await vi.waitFor(() => expect(server.openWatches()).toBe(1), { timeout: 30_000 });
    await observations.rest();
    await vi.waitFor(() => expect(server.openWatches()).toBe(0), { timeout: 30_000 });
  });
});
