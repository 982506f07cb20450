import type { Clock } from "../../domain/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Issuer, KeySet } from "./port.ts";

/** Keys of this age are read again in passing, and of twice this age before they are used, in ms: a key that was revoked works that much longer. */
const REFRESH_MS = 300_000;
/** Reads begin this far apart, in ms, however many tokens name a key that nobody knows, and however often the issuer fails. */
const READ_EVERY_MS = 10_000;
/** Both documents have to be there in this time, in ms: a caller waits for them. */
const READ_TIMEOUT_MS = 5_000;

export interface IssuerKeys {
  /** The keys to check a token with this header by; `undefined`: there are none, because the issuer is away. */
  keysFor(header: { readonly alg: string; readonly kid: string | undefined }): Promise<KeySet | undefined>;
}

/**
 * Keeps the keys of an issuer. They are read when they are needed first, when they are old, and when a token names one that is not among them:
 * that is how a rotation is noticed. While the issuer is away the former ones are used, for `keepKeysMs`.
 */
export function createIssuerKeys(
  { alias, documents, keepKeysMs }: Pick<Issuer, "alias" | "documents" | "keepKeysMs">,
  { clock, log }: { readonly clock: Pick<Clock, "monotonicMs">; readonly log: Log },
): IssuerKeys {
  let last: { readonly keys: KeySet; readonly atMs: number } | undefined;
  let triedMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    const atMs = clock.monotonicMs();
    try {
      const keys = await documents.read(AbortSignal.timeout(READ_TIMEOUT_MS));
      last = { keys, atMs };
    } catch (error) {
      log.warn({ issuer: alias, error }, "Not knowing the present keys of an issuer: those read last are used, if there are any");
    }
  };
  /** Resolves when a read has ended that is under way or may begin now; at once where it is too early for one. */
  const refresh = async (): Promise<void> => {
    if (reading === undefined && clock.monotonicMs() - triedMs < READ_EVERY_MS) return;
    triedMs = reading === undefined ? clock.monotonicMs() : triedMs;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    await reading;
  };
  const ageMs = (): number => (last === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - last.atMs);

  return {
    async keysFor(header) {
      const isStrange = last !== undefined && !last.keys.knows(header);
      if (isStrange || ageMs() > 2 * REFRESH_MS) await refresh();
      else if (ageMs() > REFRESH_MS) void refresh();
      return ageMs() > keepKeysMs ? undefined : last?.keys;
    },
  };
}
