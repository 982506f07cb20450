import type { Clock } from "../domain/clock.ts";
import { RefusedError, UnavailableError } from "../domain/errors.ts";
import { sleep } from "../runtime/clock.ts";
import { secondsOf } from "./duration.ts";
import { errorText } from "./error-text.ts";
import type { Terminal } from "./terminal.ts";

/** Whether it may be otherwise a little later. A certificate that was made anew is served a minute or two after the authority is there. */
function isPassing(error: unknown): boolean {
  return error instanceof UnavailableError || (error instanceof RefusedError && error.code === "cli.untrusted");
}

/** Between two tries, in ms. */
const PAUSE_MS = 2_000;

/**
 * Tries until `isDone`, or until the time of `wait` is over, and returns what the last try gave. A server that is away counts as one more thing to
 * wait for, and each new reason is noted once; any other error, and an interruption, ends it. Without `wait` it tries once.
 */
export async function tryUntil<T>(
  { wait, clock, terminal }: { readonly wait: string | undefined; readonly clock: Clock; readonly terminal: Terminal },
  attempt: () => Promise<T>,
  isDone: (value: T) => boolean,
): Promise<T> {
  const endsMs = clock.monotonicMs() + (wait === undefined ? 0 : secondsOf(wait, "--wait") * 1000);
  if (wait === undefined) return attempt();
  const interrupted = terminal.interrupted();
  let said = "";
  for (;;) {
    const isLast = clock.monotonicMs() + PAUSE_MS > endsMs;
    const seen = await attempt().then(
      (value) => ({ value }),
      (error: unknown) => {
        if (isLast || !isPassing(error)) throw error;
        return { why: errorText(error) };
      },
    );
    if ("value" in seen && (isLast || isDone(seen.value))) return seen.value;
    if ("why" in seen && seen.why !== said) {
      said = seen.why;
      terminal.note(`waiting: ${said}`);
    }
    await sleep(clock, PAUSE_MS, interrupted);
  }
}
