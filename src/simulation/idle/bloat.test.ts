import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Millis, millis } from "../../domain/clock.ts";
import type { ApplicationId, InstanceId, MemberId } from "../../domain/ids.ts";
import { loadVector } from "../../domain/load.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createPostgresStore } from "../../store/adapters/postgres/postgres-store.ts";
import type { Store } from "../../store/port.ts";
import { anEngineStatus, WIDE } from "../../store/testing/builders.ts";
import { PER_INSTANCE, seedFleet } from "../../store/testing/seed-fleet.ts";
import { startTestServer, type TestServer } from "../../store/testing/test-server.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";

const IS_LONG = process.env["ARGOSY_LONG"] === "1";
const [WORKSPACES, HOURS] = IS_LONG ? [5_000, 24] : [400, 2];
const INSTANCES = Array.from({ length: WORKSPACES / PER_INSTANCE }, (_, index) => `i${index}` as InstanceId);
const MEMBER = "member" as MemberId;
const MINUTE_MS = 60_000;
const LONG_MS = 12 * 60 * MINUTE_MS;
/** How long samples of an instance's health are kept, in ms. */
const WINDOW_MS = 25 * MINUTE_MS;
/** Argo CD compares each Application about every two and a half minutes; one in a hundred of these brings something new. Others are noted every ten minutes. */
const [COMPARED_EVERY, CHANGED_OF, NOTED_EVERY_MS] = [2.5, 100, 10 * MINUTE_MS];
/** What a table that is changed all the time may take in any case, in bytes: autovacuum comes once a minute, and not for a handful of rows. */
const LEAST = 512 * 1024;
const never = new AbortController().signal;

let server: TestServer;
let store: Store;
let client: pg.Client;
/** Connections of the store: each has to say what it has counted before autovacuum's rule can be applied. */
const connections = new Set<pg.Client>();

beforeAll(async () => {
  server = await startTestServer();
  await server.query("alter system set autovacuum = off");
  await server.query("select pg_reload_conf()");
  const { url } = await server.createMigrated();
  client = new pg.Client({ connectionString: url });
  await client.connect();
  await seedFleet((text, values) => client.query(text, [...values]), { from: 0, to: WORKSPACES });
  await client.query("vacuum full");
  await client.query("analyze");
  store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 1 });
});
afterAll(async () => {
  await store?.close();
  await client?.end();
  await server?.stop();
});

interface Status {
  readonly applicationId: ApplicationId;
  readonly instanceId: InstanceId;
  readonly epoch: number;
  hash: string;
  /** When something was recorded of it last. Those of the seeded fleet take turns. */
  recordedAt: number;
}

/** One minute of a fleet in which nothing changes but that every hundredth comparison brings something new. `at`: when it begins. */
async function pass(at: Millis, minute: number, statuses: readonly Status[]): Promise<void> {
  for (let beat = 0; beat < 12; beat += 1) await store.members.heartbeat(MEMBER, ["workspace"], 60_000, never);
  for (let probe = 0; probe < 4; probe += 1) await recordHealth(millis(at + probe * 15_000));
  const now = millis(at + MINUTE_MS);
  await recordStatuses(now, minute, statuses);
  for (const [index, instanceId] of INSTANCES.entries()) if ((index + minute) % 2 === 0) await recordSample(instanceId, now, minute);
}

async function recordHealth(at: Millis): Promise<void> {
  const verdict = {
    at,
    since: at,
    state: "healthy",
    cause: "none",
    component: undefined,
    text: "",
    evidence: [],
    baseline: undefined,
  } as const;
  const signals = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`signal-${index}`, at + index]));
  const keepSince = millis(at - WINDOW_MS);
  const observations = INSTANCES.map((instanceId) => ({ sample: { at, signals }, verdict: { ...verdict, instanceId }, keepSince }));
  await store.health.record(observations, never);
}

async function recordStatuses(reconciledAt: Millis, minute: number, statuses: readonly Status[]): Promise<void> {
  const size = Math.ceil(statuses.length / COMPARED_EVERY);
  const compared = Array.from({ length: size }, (_, index) => statuses[(minute * size + index) % statuses.length] as Status);
  const [changed, same] = [
    compared.filter((_, index) => index % CHANGED_OF === 0),
    compared.filter(({ recordedAt }, index) => index % CHANGED_OF !== 0 && reconciledAt - recordedAt >= NOTED_EVERY_MS),
  ];
  for (const status of [...changed, ...same]) status.recordedAt = reconciledAt;
  await store.statuses.recordRefreshes(
    same.map((status) => ({ ...status, reconciledAt, version: reconciledAt })),
    never,
  );
  for (const status of changed) status.hash = `hash ${minute}`;
  await store.statuses.recordStatuses(
    changed.map((one) => ({ ...one, reconciledAt, version: reconciledAt, status: anEngineStatus() })),
    never,
  );
  await store.intents.recordPublished(
    changed.map(({ applicationId, hash }) => ({ applicationId, hash })),
    never,
  );
}

/** Where CPU is measured, the mean of each unit's is a little different each time. */
async function recordSample(instanceId: InstanceId, at: Millis, minute: number): Promise<void> {
  const counted = await store.loads.countUnits(instanceId, never);
  const units = counted.map(({ unitId, epoch, known }) => {
    const planning = { ...(known?.planning ?? loadVector(() => 1)), milliCpu: 10 + Math.sin(minute) };
    return { unitId, epoch, load: { planning, recent: planning, at }, whole: { ...planning, milliCpu: Math.ceil(planning.milliCpu) } };
  });
  await store.loads.recordSample({ instanceId, at, total: WIDE, observation: undefined, cachedObjects: undefined, units }, never);
}

/** Tables that autovacuum would vacuum now, by its rule and the settings of each table. */
const DUE = `
select c.oid::regclass::text as name
  from pg_class c join pg_stat_user_tables s on s.relid = c.oid
 cross join lateral (select coalesce(max(option_value) filter (where option_name = 'autovacuum_vacuum_threshold'), '50')::float as threshold,
                            coalesce(max(option_value) filter (where option_name = 'autovacuum_vacuum_scale_factor'), '0.2')::float as scale
                       from pg_options_to_table(c.reloptions)) as o
 where s.n_dead_tup > o.threshold + o.scale * greatest(c.reltuples, 0)
 order by 1`;

/** As autovacuum does once a minute. */
async function vacuumWhatIsDue(): Promise<readonly string[]> {
  // One that the pool has closed, as it does with each after ten minutes, has said it.
  for (const each of connections) await each.query("select pg_stat_force_next_flush()").catch(() => connections.delete(each));
  await client.query("select pg_stat_clear_snapshot()");
  const { rows } = await client.query<{ readonly name: string }>(DUE);
  for (const { name } of rows) await client.query(`vacuum (analyze) ${name}`);
  return rows.map(({ name }) => name);
}

/** Bytes of each table with what is stored apart of it, and of each index. */
async function sizes(): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ readonly name: string; readonly bytes: string }>(
    `select c.oid::regclass::text as name, (case c.relkind when 'r' then pg_table_size(c.oid) else pg_relation_size(c.oid) end)::text as bytes
       from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'i') order by 1`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

it("no table and no index grows beyond twice what its rows take, in hours of a fleet at rest", { timeout: LONG_MS }, async () => {
  const send = pg.Client.prototype.query as (this: pg.Client, ...given: unknown[]) => unknown;
  const listen = function (this: pg.Client, ...given: unknown[]): unknown {
    if (this !== client) connections.add(this);
    return send.apply(this, given);
  };
  Object.assign(pg.Client.prototype, { query: listen });
  const { rows: seeded } = await client.query<Omit<Status, "recordedAt">>(
    `select application as "applicationId", instance as "instanceId", epoch::integer, hash from application_status order by 1`,
  );
  const began = systemClock.now();
  const statuses: Status[] = seeded.map((one, index) => ({ ...one, recordedAt: began - (index % 10) * MINUTE_MS }));
  const vacuumed = new Set<string>();
  try {
    for (let minute = 0; minute < HOURS * 60; minute += 1) {
      await pass(millis(began + minute * MINUTE_MS), minute, statuses);
      for (const name of await vacuumWhatIsDue()) vacuumed.add(name);
    }
  } finally {
    Object.assign(pg.Client.prototype, { query: send });
  }
  const before = await sizes();
  await client.query("vacuum full");
  const after = await sizes();
  const grown = [...before].filter(([name, bytes]) => bytes > Math.max(2 * (after.get(name) ?? 0), LEAST));
  expect(grown.map(([name, bytes]) => `${name}: ${bytes} bytes, where its rows take ${after.get(name)}`)).toEqual([]);
  // Rows were written at all, and the rule was applied to them.
  expect([...vacuumed]).toEqual(expect.arrayContaining(["application_status", "probe_sample"]));
});
