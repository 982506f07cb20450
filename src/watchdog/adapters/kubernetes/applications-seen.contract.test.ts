import { afterEach, beforeEach, expect, it } from "vitest";
import { type FakeApiServer, startFakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import { createApplicationsSeen } from "./applications-seen.ts";

const APPLICATIONS = { group: "argoproj.io", version: "v1alpha1", plural: "applications", kind: "Application", namespaced: true };
const at = { engineCluster: "local", namespace: "argosy-standard-1" };
const COUNT = 501;

let server: FakeApiServer;
beforeEach(async () => {
  server = await startFakeApiServer();
});
afterEach(() => server.close().catch(() => undefined));

it("lists every Application in an instance's namespace, page by page, whoever created it", async () => {
  const signal = AbortSignal.timeout(60_000);
  const client = server.client();
  const make = (name: string, namespace = at.namespace) =>
    client.create(APPLICATIONS, { apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata: { name, namespace } }, signal);
  for (let index = 0; index < COUNT; index += 1) await make(`app-${index}`);
  await make("elsewhere", "argosy-standard-2");
  const seen = await createApplicationsSeen(async () => client).list(at, signal);
  expect(seen).toHaveLength(COUNT);
  expect(seen?.some(({ name }) => name === "elsewhere")).toBe(false);
});

it("gives no list for a cluster that is not declared or does not answer", async () => {
  const signal = AbortSignal.timeout(60_000);
  expect(await createApplicationsSeen(async () => undefined).list(at, signal)).toBeUndefined();
  const client = server.client();
  await server.close();
  expect(await createApplicationsSeen(async () => client).list(at, signal)).toBeUndefined();
});
