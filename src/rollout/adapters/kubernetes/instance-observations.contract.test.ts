import { afterEach, beforeEach, expect, it } from "vitest";
import { millis, rfc3339 } from "../../../domain/clock.ts";
import { LABEL_CANARY } from "../../../domain/names.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import { createVirtualClock } from "../../../runtime/testing/virtual-clock.ts";
import { createInstanceObservations } from "./instance-observations.ts";

const APPLICATIONS = { group: "argoproj.io", version: "v1alpha1", plural: "applications", kind: "Application", namespaced: true };
const at = { engineCluster: "local", namespace: "argosy-standard-1" };
const COUNT = 501;
const clock = createVirtualClock();
const request = { releases: [], version: "3.5.7", since: undefined, syncs: undefined, resyncMs: 180_000 };

let server: FakeApiServer;
beforeEach(async () => {
  server = await startFakeApiServer();
});
afterEach(() => server.close().catch(() => undefined));

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
  const observations = createInstanceObservations({ clientOf: async () => client, clock });
  expect(await observations.observe(at, request, signal)).toMatchObject({ applications: COUNT, faulty: COUNT, fresh: COUNT, crashes: [] });
  expect(await observations.observe({ ...at, namespace: "argosy-other" }, request, signal)).toMatchObject({
    applications: 0,
    runs: undefined,
  });
});

it("gives no observation for a cluster that is not declared or does not answer", async () => {
  const signal = AbortSignal.timeout(60_000);
  expect(await createInstanceObservations({ clientOf: async () => undefined, clock }).observe(at, request, signal)).toBeUndefined();
  const client = server.client();
  await server.close();
  expect(await createInstanceObservations({ clientOf: async () => client, clock }).observe(at, request, signal)).toBeUndefined();
});
