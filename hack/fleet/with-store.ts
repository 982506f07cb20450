import { systemClock } from "../../src/runtime/clock.ts";
import { migrate } from "../../src/store/adapters/postgres/migrate.ts";
import { createPostgresStore } from "../../src/store/adapters/postgres/postgres-store.ts";
import type { Store } from "../../src/store/port.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { noMetrics } from "../../src/telemetry/metrics.ts";

/** Uses a fleet's store. An empty database gets its tables. In a used one only the servers change them. */
export async function withStore<T>(url: string, use: (store: Store) => Promise<T>, signal: AbortSignal): Promise<T> {
  await migrate({ url, log: silentLog, signal, onlyEmpty: true });
  const store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 1 });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
