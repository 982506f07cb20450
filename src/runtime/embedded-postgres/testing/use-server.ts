import { silentLog } from "../../../telemetry/log.ts";
import { startEmbeddedPostgres } from "../embedded-postgres.ts";

/** A process that uses the server of a state directory: prints what it got as one line of JSON, stops on SIGTERM. */
const [stateDir = ""] = process.argv.slice(2);
const keepAlive = setInterval(() => {}, 60_000);
try {
  const { url, pid, reused, stop } = await startEmbeddedPostgres({ stateDir, signal: new AbortController().signal, log: silentLog });
  process.once("SIGTERM", () => void stop().finally(() => clearInterval(keepAlive)));
  process.stdout.write(`${JSON.stringify({ url, pid, reused })}\n`);
} catch (error) {
  const { code, remedy } = error as { readonly code?: string; readonly remedy?: string };
  process.stdout.write(`${JSON.stringify({ code, remedy, message: String(error) })}\n`);
  clearInterval(keepAlive);
}
