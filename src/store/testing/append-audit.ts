import { systemClock } from "../../runtime/clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createPostgresStore } from "../adapters/postgres/postgres-store.ts";
import { anAuditEntry } from "./builders.ts";

/**
 * A process that writes so many audit records, several at once, and ends: prints how many milliseconds one of them took. It goes on after the first one when
 * there is one of the `other` process too, so that both write at once however long either takes to start.
 */
const [url = "", name = "", count = "0", other = ""] = process.argv.slice(2);
const AT_ONCE = 4;
const store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: AT_ONCE });
const signal = AbortSignal.timeout(120_000);
let left = Number(count);
const append = (): Promise<number> => {
  left -= 1;
  return store.audit.append(anAuditEntry({ actor: name, details: { body: { reason: "as ordered", left } } }), signal);
};
await append();
while ((await store.audit.list({ actor: other }, { limit: 1, order: "newest-first" }, signal)).length === 0);
const began = performance.now();
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    while (left > 0) await append();
  }),
);
process.stdout.write(`${((performance.now() - began) / Number(count)).toFixed(3)}\n`);
await store.close();
