import { systemClock } from "../../runtime/clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createPostgresStore } from "../adapters/postgres/postgres-store.ts";
import { anAuditEntry } from "./builders.ts";

/** A process that writes so many audit records, several at once, and ends: prints how many milliseconds one of them took. */
const [url = "", name = "", count = "0"] = process.argv.slice(2);
const AT_ONCE = 4;
const store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: AT_ONCE });
const signal = AbortSignal.timeout(120_000);
const began = performance.now();
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let index = 0; index < Number(count) / AT_ONCE; index += 1)
      await store.audit.append(anAuditEntry({ actor: name, details: { body: { reason: "as ordered", index } } }), signal);
  }),
);
process.stdout.write(`${((performance.now() - began) / Number(count)).toFixed(3)}\n`);
await store.close();
