import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../../../runtime/clock.ts";
import { silentLog } from "../../../../telemetry/log.ts";
import { noMetrics } from "../../../../telemetry/metrics.ts";
import type { Store } from "../../../port.ts";
import { anIntent } from "../../../testing/builders.ts";
import { sentBy, touchedBy } from "../../../testing/explain.ts";
import { seedFleet } from "../../../testing/seed-fleet.ts";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";
import { soon } from "../../../testing/world.ts";
import { createKeyRing } from "../credentials/envelope.ts";
import { createPostgresStore } from "../postgres-store.ts";

/** Enough that the planner would rather read all of their applications once than each of a few by an index. */
const WORKSPACES = 2_000;
/** What the workspace that it is recorded in has, read several times. */
const FEW = 20;

let server: TestServer;
let store: Store;
let client: pg.Client;
beforeAll(async () => {
  server = await startTestServer();
  const { url } = await server.createMigrated();
  client = new pg.Client(url);
  await client.connect();
  await seedFleet((text, values) => client.query(text, [...values]), { from: 0, to: WORKSPACES });
  const keyRing = createKeyRing("first", new Map([["first", new Uint8Array(32).fill(7)]]));
  store = await createPostgresStore({ url, keyRing, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 4 });
});
afterAll(async () => {
  await client?.end();
  await store?.close();
  await server.stop();
});

it.each(["force_custom_plan", "force_generic_plan"] as const)(
  "a deployment is recorded without reading other workspaces' applications of its repository (%s)",
  async (plan) => {
    const workspace = {
      plane: "kubernetes",
      apiCluster: "main",
      namespace: "team-7",
      namespaceUid: "uid-7",
      trustClass: "public",
    } as const;
    const intent = anIntent({ workspace, uid: `new-${plan}`, provesAccess: true });
    await client.query("update application set repo_url = $1", [intent.spec.source.repoUrl]);
    await client.query("vacuum analyze");
    const sent = await sentBy(() => store.intents.recordDeployments([intent], soon()));
    const recorded = sent.find(({ name }) => name === "record_deployments");
    if (recorded === undefined) throw new Error(`what was sent is ${sent.map(({ name }) => name).join(", ")}`);
    // Another one of the same workspace: uid, name, name in Argo CD, and the ids of the application and of its operation.
    const another = new Set([0, 3, 6, 7, 8]);
    const values = recorded.values.map((value, index) => (another.has(index) ? `{another-${index}}` : value));
    const touched = await touchedBy(client, { ...recorded, values }, plan);
    expect(touched.get("application")?.written).toBe(1);
    expect(touched.get("application")?.rows).toBeLessThan(FEW);
    expect(touched.get("placement_unit")?.rows).toBeLessThan(FEW);
  },
);
