import { afterAll, beforeAll, expect, it } from "vitest";
import { millis } from "../../../../domain/clock.ts";
import { systemClock } from "../../../../runtime/clock.ts";
import { silentLog } from "../../../../telemetry/log.ts";
import { type Metrics, noMetrics } from "../../../../telemetry/metrics.ts";
import type { Store } from "../../../port.ts";
import { CLASS } from "../../../testing/builders.ts";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";
import { soon } from "../../../testing/world.ts";
import { createPostgresStore } from "../postgres-store.ts";

const UNITS = 2_500;

let server: TestServer;
let store: Store;
let pages = 0;
const metrics: Metrics = {
  ...noMetrics,
  counter: () => ({
    add: (_value, labels) => {
      if (labels?.["statement"] === "read_units_to_plan") pages += 1;
    },
  }),
};

beforeAll(async () => {
  server = await startTestServer();
  const { url } = await server.createMigrated();
  store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics, poolSize: 2 });
  const rows = `generate_series(1, ${UNITS}) as n`;
  await server.query(
    `insert into workspace (id, plane, api_cluster, namespace, namespace_uid, trust_class, state)
     select 'w' || n, 'kubernetes', 'main', 'team-' || n, 'uid-' || n, 'public', 'active' from ${rows}`,
    url,
  );
  await server.query(
    `insert into placement_unit (id, workspace, bucket, class, load, created_at)
     select 'u' || n, 'w' || n, 0, case when n % 100 = 0 then 'us/shared/public' else '${CLASS}' end, '{1,0,0,0,0}', now() from ${rows}`,
    url,
  );
});
afterAll(async () => {
  await store.close();
  await server.stop();
});

it("the units of a class are read page by page, each once and sorted by id, so that others have their turn in between", async () => {
  const { units } = await store.plans.readFacts(CLASS, millis(0), soon());
  const expected = Array.from({ length: UNITS }, (_, index) => index + 1).flatMap((n) => (n % 100 === 0 ? [] : [`u${n}`]));
  expect(units.map(({ unit }) => unit.id)).toEqual(expected.toSorted());
  expect(pages).toBe(3);
});
