import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { loadVector, ZERO_LOAD } from "../domain/load.ts";
import { systemClock } from "../runtime/clock.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { Store } from "../store/port.ts";
import { CLASS } from "../store/testing/builders.ts";
import { startTestServer, type TestServer } from "../store/testing/test-server.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { type Metrics, noMetrics } from "../telemetry/metrics.ts";
import { createScheduler, type Scheduler } from "./controller.ts";

/** One fewer than a sweep tries, so that each sweep tries them all. */
const WAITING = 999;
const PAGES = Math.ceil(WAITING / 200);

let server: TestServer;
let store: Store;
let scheduler: Scheduler;
/** Statements that were sent, by name. */
const sent = new Map<string, number>();
const metrics: Metrics = {
  ...noMetrics,
  counter: (name) => ({
    add: (value, labels) => {
      const { statement } = labels ?? {};
      if (name === "argosy_store_statements_total" && statement !== undefined) sent.set(statement, (sent.get(statement) ?? 0) + value);
    },
  }),
};
const countOf = (name: string): number => sent.get(name) ?? 0;

beforeAll(async () => {
  server = await startTestServer();
  const { url } = await server.createMigrated();
  store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics, poolSize: 8 });
  const world = createWorld(store);
  for (const name of ["a", "b", "c"]) await world.addInstance({ name, capacity: { ...loadVector(() => 1_000_000), applications: 1_000 } });
  const all = `generate_series(1, ${WAITING}) as n`;
  await server.query(
    `insert into workspace (id, plane, api_cluster, namespace, namespace_uid, trust_class, state)
     select 'w' || n, 'kubernetes', 'main', 'team-' || n, 'uid-' || n, 'public', 'active' from ${all}`,
    url,
  );
  await server.query(
    `insert into placement_unit (id, workspace, bucket, class, load, created_at)
     select 'u' || n, 'w' || n, 0, '${CLASS}', array[900 + n, 0, 0, 0, 0], now() from ${all}`,
    url,
  );
  scheduler = createScheduler({
    store,
    moving: { askFor: () => Promise.resolve({ kind: "refused", why: "nothing moves here" }) },
    partition: { isMine: () => true, onChange: () => () => undefined },
    // No second passes on it, so nothing but changes leads to a sweep.
    ...{ clock: createVirtualClock(), rng: createSeededRng("waiting"), log: silentLog, metrics: noMetrics },
  });
});
afterAll(async () => {
  await scheduler.stop();
  await store.close();
  await server.stop();
});

/** Each sweep, of which changes may have asked for a few, has read the units once and what their class's instances hold once at most. */
function expectOnePass(): void {
  const sweeps = countOf("list_unsettled");
  expect(sweeps).toBeGreaterThan(0);
  expect(countOf("read_fleet_of_class")).toBeLessThanOrEqual(sweeps);
  expect(countOf("read_units_with_workspaces")).toBe(PAGES * sweeps);
  expect(countOf("read_unit_with_workspace")).toBe(0);
}

it("a thousand units that wait and fit nowhere cost each sweep one reading of the fleet, and nothing is written again", async () => {
  scheduler.start(new AbortController().signal);
  await vi.waitFor(() => expect(countOf("record_unplaceable")).toBe(WAITING), { timeout: 60_000 });
  await scheduler.idle();
  expectOnePass();
  expect(countOf("record_unplaceable")).toBe(WAITING);
  const decisions = await store.decisions.list({ verdict: "UNPLACEABLE" }, 2 * WAITING, AbortSignal.timeout(30_000));
  expect(new Set(decisions.map(({ subject }) => subject)).size).toBe(WAITING);

  sent.clear();
  await createWorld(store).addInstance({ name: "d", capacity: ZERO_LOAD });
  await vi.waitFor(() => expect(countOf("read_units_with_workspaces")).toBeGreaterThanOrEqual(PAGES), { timeout: 60_000 });
  await scheduler.idle();
  expectOnePass();
  expect(countOf("record_unplaceable")).toBe(0);
});
