import type { Clock } from "../domain/clock.ts";
import type { TokenStore } from "../store/token/port.ts";
import type { Log } from "../telemetry/log.ts";

/** How often one token's use is written, in ms. A little more than a minute: what comes sooner after the last time is not written at all. */
const EVERY_MS = 65_000;
/** Uses of several tokens within this time are one write, in ms. */
const GATHER_MS = 1_000;
const WRITE_TIMEOUT_MS = 10_000;
/** More than there are tokens: beyond it everything is forgotten, which costs writes that the database leaves out. */
const REMEMBERED = 10_000;

interface TokenUseDeps {
  readonly tokens: Pick<TokenStore, "recordUse">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Notes that a token was used, and writes it soon after, at most once a minute for each: no request waits for it, and none fails of it. What
 * could not be written is written at the next use.
 */
export function createTokenUse({ tokens, clock, log }: TokenUseDeps): (hash: string) => void {
  const notedAt = new Map<string, number>();
  const waiting = new Set<string>();

  const write = async (): Promise<void> => {
    const hashes = [...waiting];
    waiting.clear();
    try {
      await tokens.recordUse(hashes, AbortSignal.timeout(WRITE_TIMEOUT_MS));
    } catch (error) {
      for (const hash of hashes) notedAt.delete(hash);
      log.debug({ error }, "Recording the use of tokens failed");
    }
  };
  return (hash) => {
    if ((notedAt.get(hash) ?? Number.NEGATIVE_INFINITY) + EVERY_MS > clock.monotonicMs()) return;
    if (notedAt.size >= REMEMBERED) notedAt.clear();
    notedAt.set(hash, clock.monotonicMs());
    waiting.add(hash);
    if (waiting.size === 1) clock.after(GATHER_MS, () => void write());
  };
}
