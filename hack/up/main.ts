import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { errorText } from "../../src/cli/error-text.ts";
import { parseUpOptions, UP_HELP, type UpOptions } from "./options.ts";
import { createProgress, type Progress } from "./progress.ts";
import { claimSupervision } from "./running.ts";
import { openStateDirectory, type StateDirectory } from "./state-directory.ts";
import { bringUp, type Stops } from "./up.ts";

const READY_FILE = "ready";

/** `npm run up`. Resolves with the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const options = parseUpOptions(args);
  if (options.help) {
    process.stdout.write(UP_HELP);
    return 0;
  }
  const state = openStateDirectory(options.state);
  return options.detach ? detach(state, args) : supervise(options, state);
}

async function supervise(options: UpOptions, state: StateDirectory): Promise<number> {
  const progress = createProgress();
  const release = claimSupervision(state);
  state.remove(READY_FILE);
  const stops: Stops = [];
  const ending = new AbortController();
  const asked = new Promise<void>((resolve) => {
    const end = (): void => {
      ending.abort(new Error("stopped on request"));
      resolve();
    };
    process.once("SIGINT", end).once("SIGTERM", end);
  });
  try {
    await bringUp({ options, state, progress, stops }, ending.signal);
    state.write(READY_FILE, "");
    if (options.exitWhenReady) return 0;
    progress.say("\nCtrl-C stops everything.");
    await asked;
    return 0;
  } catch (error) {
    if (ending.signal.aborted) return 130;
    process.stderr.write(`up: ${errorText(error)}\n`);
    return 1;
  } finally {
    await stopAll(stops, progress);
    state.remove(READY_FILE);
    release();
  }
}

/** Ends what was started, newest first; one part that resists does not keep the others running. */
async function stopAll(stops: Stops, progress: Progress): Promise<void> {
  if (stops.length === 0) return;
  await progress.step("stopping", async () => {
    for (const stop of stops.reverse()) await stop().catch((error: unknown) => process.stderr.write(`stopping: ${errorText(error)}\n`));
  });
}

/** Starts a supervisor that outlives us, shows what it says and returns once it is ready. */
async function detach(state: StateDirectory, args: readonly string[]): Promise<number> {
  const log = openSync(state.path("log", "up.log"), "w");
  const entry = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [entry, ...args.filter((arg) => arg !== "--detach")], {
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  let end: number | undefined;
  child.once("exit", (code) => {
    end = code ?? 1;
  });
  for (let shown = 0; ; ) {
    const text = state.read("log/up.log") ?? "";
    process.stdout.write(text.slice(shown));
    shown = text.length;
    if (end !== undefined) return end;
    if (state.read(READY_FILE) !== undefined) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  child.unref();
  process.stdout.write("\nRunning in the background; `npm run down` stops it.\n");
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`up: ${errorText(error)}\n`);
    process.exit(1);
  },
);
