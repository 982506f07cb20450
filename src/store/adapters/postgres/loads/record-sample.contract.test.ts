import { afterAll, beforeAll, expect, it } from "vitest";
import { type Millis, millis } from "../../../../domain/clock.ts";
import { loadVector } from "../../../../domain/load.ts";
import { systemClock } from "../../../../runtime/clock.ts";
import { silentLog } from "../../../../telemetry/log.ts";
import { noMetrics } from "../../../../telemetry/metrics.ts";
import type { LoadSample } from "../../../load/port.ts";
import type { Store } from "../../../port.ts";
import { AT } from "../../../testing/builders.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../../../testing/test-server.ts";
import { createWorld, type Deployed, soon } from "../../../testing/world.ts";
import { createKeyRing } from "../credentials/envelope.ts";
import { createPostgresStore } from "../postgres-store.ts";

let server: TestServer;
let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  server = await startTestServer();
  database = await server.createMigrated();
  const keyRing = createKeyRing("first", new Map([["first", new Uint8Array(32).fill(7)]]));
  store = await createPostgresStore({ url: database.url, keyRing, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 4 });
});
afterAll(async () => {
  await store?.close();
  await server.stop();
});

/** The versions of all rows of a table: each write of a row makes another one, even a write of the same values. */
const versions = async (table: string) =>
  (await server.query(`select ctid, xmin from ${table} order by 1`, database.url)) as readonly object[];

it("a sample writes the rows of units of which something is new, and no others", async () => {
  const { deploy, record, unit, place } = createWorld(store);
  const deployed = await deploy();
  const units: Pick<Deployed, "unitId" | "epoch">[] = [deployed];
  for (const namespace of ["b", "c"]) {
    const { id: unitId } = await unit((await record({ namespace })).applicationId);
    units.push({ unitId, epoch: await place(unitId, deployed.instanceId) });
  }
  const sampleOf = (at: Millis, cpus: readonly number[]): LoadSample => {
    const load = (cpu: number) => loadVector((dimension) => (dimension === "milliCpu" ? cpu : 1));
    const { instanceId } = deployed;
    const measured = units.map(({ unitId, epoch }, index) => {
      const cpu = cpus[index] ?? 0;
      return { unitId, epoch, load: { planning: load(cpu), recent: load(cpu), at }, whole: load(Math.ceil(cpu)) };
    });
    return { instanceId, at, total: load(1), observation: undefined, cachedObjects: undefined, units: measured };
  };
  const rewritten = async (sample: LoadSample) => {
    const counts: Record<string, number> = {};
    const tables = ["unit_load", "placement_unit", "instance_load"];
    const before = new Map<string, readonly object[]>();
    for (const table of tables) before.set(table, await versions(table));
    await store.loads.recordSample(sample, soon());
    for (const table of tables) {
      const known = new Set(before.get(table)?.map((row) => JSON.stringify(row)));
      counts[table] = (await versions(table)).filter((row) => !known.has(JSON.stringify(row))).length;
    }
    return counts;
  };
  expect(await rewritten(sampleOf(AT, [1, 2, 3]))).toEqual({ unit_load: 3, placement_unit: 3, instance_load: 1 });
  expect(await rewritten(sampleOf(millis(AT + 1), [1, 2, 3]))).toEqual({ unit_load: 0, placement_unit: 0, instance_load: 1 });
  expect(await rewritten(sampleOf(millis(AT + 2), [1, 2, 9]))).toEqual({ unit_load: 1, placement_unit: 1, instance_load: 1 });
  // Not enough for another whole number, by which instances are filled.
  expect(await rewritten(sampleOf(millis(AT + 3), [0.5, 2, 9]))).toEqual({ unit_load: 1, placement_unit: 0, instance_load: 1 });
});
