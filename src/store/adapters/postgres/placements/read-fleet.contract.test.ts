import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../../../runtime/clock.ts";
import { silentLog } from "../../../../telemetry/log.ts";
import { noMetrics } from "../../../../telemetry/metrics.ts";
import { sentBy, touchedBy } from "../../../testing/explain.ts";
import { PER_INSTANCE, SEEDED_CLASS, seedFleet } from "../../../testing/seed-fleet.ts";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";
import { soon } from "../../../testing/world.ts";
import { createDatabase, type Database } from "../database.ts";
import { readFleetOfClass } from "./read-fleet.ts";

const INSTANCES = 20;
const WORKSPACES = INSTANCES * PER_INSTANCE;
/** Every second unit is on its way to the next instance. */
const LIVE = WORKSPACES / 2;
/** What each unit of the seeded fleet takes. */
const UNIT_MILLI_CPU = 9;

let server: TestServer;
let database: Database;
let client: pg.Client;
beforeAll(async () => {
  server = await startTestServer();
  const { url } = await server.createMigrated();
  client = new pg.Client(url);
  await client.connect();
  await seedFleet((text, values) => client.query(text, [...values]), { from: 0, to: WORKSPACES });
  await client.query("delete from move");
  await client.query(
    `insert into move (id, unit, from_instance, to_instance, from_epoch, phase, phase_since, kind, reason, actor, created_at)
     select 'm' || n, 'u' || n, 'i' || n / $2, 'i' || (n / $2 + 1) % $3, n + 1, 'WAITING', now(), 'voluntary', 'FILL', 'scheduler', now() from generate_series(0, $1 - 1, 2) as n`,
    [WORKSPACES, PER_INSTANCE, INSTANCES],
  );
  database = createDatabase({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 1 });
});
afterAll(async () => {
  await client?.end();
  await database?.close();
  await server?.stop();
});

it.each(["force_custom_plan", "force_generic_plan"] as const)(
  "what instances of a class hold is added up without reading each live move again for each of them (%s)",
  async (plan) => {
    await client.query("vacuum analyze");
    const [sent] = await sentBy(() => readFleetOfClass(database, SEEDED_CLASS, soon()));
    if (sent === undefined) throw new Error("nothing was sent");
    const touched = await touchedBy(client, sent, plan);
    expect(touched.get("move")?.rows).toBe(LIVE);
  },
);

it("counts what live moves bring to an instance beside what it owns", async () => {
  const { instances } = await readFleetOfClass(database, SEEDED_CLASS, soon());
  const cpu = (PER_INSTANCE + PER_INSTANCE / 2) * UNIT_MILLI_CPU;
  expect(instances.map(({ units, load }) => [units, load.milliCpu])).toEqual(Array.from({ length: INSTANCES }, () => [PER_INSTANCE, cpu]));
});
