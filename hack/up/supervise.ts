import process from "node:process";
import { errorText } from "../../src/cli/error-text.ts";
import type { UpOptions } from "./options.ts";
import { createProgress, type Progress } from "./progress.ts";
import { claimSupervision } from "./running.ts";
import { fullDiskError, type StateDirectory } from "./state-directory.ts";
import { bringUp, type Stops } from "./up.ts";

/** File with the supervisor's id while everything is ready. */
export const READY_FILE = "ready";

/** Environment variable by which a supervisor knows that it has no terminal. */
export const DETACHED = "ARGOSY_UP_DETACHED";

const INTERRUPTED = 130;

/** Starts the fleet and stays until a signal, then ends everything that was started. Resolves with the exit code. */
export async function supervise(options: UpOptions, state: StateDirectory): Promise<number> {
  const release = claimSupervision(state);
  const progress = createProgress();
  const stops: Stops = [];
  const ending = endOnSignals(progress);
  state.remove(READY_FILE);
  try {
    await bringUp({ options, state, progress, stops }, ending);
    state.write(READY_FILE, String(process.pid));
    if (options.exitWhenReady) return 0;
    if (process.env[DETACHED] === undefined) progress.say("\nCtrl-C stops everything.");
    const crash = await aborted(ending);
    if (crash === undefined) return 0;
    process.stderr.write(`up: ${crash}\n`);
    return 1;
  } catch (error) {
    if (ending.aborted && !(ending.reason instanceof Crash)) return INTERRUPTED;
    process.stderr.write(`up: ${errorText(fullDiskError(state, error))}\n`);
    return 1;
  } finally {
    state.remove(READY_FILE);
    await stopAll(stops, progress);
    release();
  }
}

/** An error in something that nobody awaits. */
class Crash extends Error {}

/**
 * Aborts at the first signal, or at an error in something that nobody awaits. Later signals only get an answer:
 * stopping is under way, and ending now would leave processes behind.
 */
function endOnSignals(progress: Progress): AbortSignal {
  const ending = new AbortController();
  const end = (): void => {
    if (ending.signal.aborted) progress.say("  still stopping …");
    ending.abort(new Error("stopped on request"));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  process.on("uncaughtException", (error) => {
    process.stderr.write(`up: ${errorText(error)}\n`);
    ending.abort(new Crash("something broke", { cause: error }));
  });
  // A closed terminal takes no more output. That must not leave processes behind.
  for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
  return ending.signal;
}

function aborted(signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const end = (): void => resolve(signal.reason instanceof Crash ? errorText(signal.reason) : undefined);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

/** Ends what was started, newest first. A part that fails to end does not keep the others running. */
async function stopAll(stops: Stops, progress: Progress): Promise<void> {
  if (stops.length === 0) return;
  await progress.step("stopping", async () => {
    for (const stop of stops.reverse()) await stop().catch((error: unknown) => process.stderr.write(`stopping: ${errorText(error)}\n`));
  });
}
