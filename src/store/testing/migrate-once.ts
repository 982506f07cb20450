import { silentLog } from "../../telemetry/log.ts";
import { migrate } from "../adapters/postgres/migrate.ts";

/** A process that migrates one database and ends: prints `done`, or what went wrong. */
const [url = ""] = process.argv.slice(2);
try {
  await migrate({ url, log: silentLog, signal: AbortSignal.timeout(60_000) });
  process.stdout.write("done\n");
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
  process.exitCode = 1;
}
