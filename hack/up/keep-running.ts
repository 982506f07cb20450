import { errorText } from "../../src/cli/error-text.ts";
import { sleep, systemClock } from "../../src/runtime/clock.ts";
import { type CrashBackoff, crashesInARow, developmentBackoff, restartDelayMs } from "../dev-cluster/process-node/backoff.ts";

/** A program that is to run as long as the fleet does. */
export interface Part {
  readonly name: string;
  /** File with its output. */
  readonly logFile: string;
  /** Resolves with the exit code of the present process. */
  ended(): Promise<number>;
  /** Starts it again, and resolves when it answers. */
  restart(signal: AbortSignal): Promise<void>;
}

export interface Keeping {
  /** Ends the supervision, also in the middle of a restart. When it resolves, nothing is started any more. */
  stop(): Promise<void>;
}

interface KeepOptions {
  readonly say: (text: string) => void;
  readonly backoff?: CrashBackoff;
}

/**
 * Restarts a part whenever it ends, at once the first time and later each next time, with a message. It never gives
 * up: the person in front of it sees what fails and can correct it or stop everything. The other parts keep running.
 */
export function keepRunning(part: Part, { say, backoff = developmentBackoff }: KeepOptions): Keeping {
  const life = new AbortController();
  const keeping = keep(part, { say, backoff }, life.signal);
  return {
    async stop() {
      life.abort();
      await keeping;
    },
  };
}

async function keep(part: Part, { say, backoff }: Required<KeepOptions>, signal: AbortSignal): Promise<void> {
  const when = (crashes: number) => {
    const delayMs = restartDelayMs(crashes, backoff);
    return delayMs === 0 ? "now" : `in ${Math.ceil(delayMs / 1000)} s`;
  };
  for (let crashes = 0; ; ) {
    const startedAt = performance.now();
    const code = await unlessAborted(part.ended(), signal);
    if (code === undefined) return;
    crashes = crashesInARow(crashes, performance.now() - startedAt, backoff);
    say(`  ! ${part.name} ended ${howEnded(code)}; it is started again ${when(crashes)} (log: ${part.logFile})`);
    for (;;) {
      const failure = await startAgain(part, restartDelayMs(crashes, backoff), signal);
      if (signal.aborted) return;
      if (failure === undefined) break;
      crashes += 1;
      say(`  ✗ ${part.name} could not be started: ${errorText(failure)}; next try ${when(crashes)}`);
    }
    say(`  ✓ ${part.name} runs again`);
  }
}

/** Starts it. Returns why it could not be started, if it could not. */
async function startAgain(part: Part, delayMs: number, signal: AbortSignal): Promise<unknown> {
  try {
    await sleep(systemClock, delayMs, signal);
    await part.restart(signal);
    return undefined;
  } catch (error) {
    return error ?? new Error("no reason was given");
  }
}

function howEnded(code: number): string {
  if (code === 255) return "in an unknown way";
  return code > 128 ? `by signal ${code - 128}` : `with exit code ${code}`;
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
    promise.then(resolve, reject);
  });
}
