import type { Clock } from "../domain/clock.ts";
import { type ArgosyError, InputError, RefusedError, UnavailableError } from "../domain/errors.ts";
import type { Reason } from "../runtime/keep-trying.ts";

/** What is the matter with a database that somebody else can mend while this process waits. An address that is none is not among it. */
const MENDED_BY_OTHERS: ReadonlySet<string> = new Set([
  "store.missing-rights",
  "store.no-right",
  "store.postgres-too-old",
  "store.refused",
  "store.schema",
  "store.schema-changed",
  "store.schema-newer",
  "store.schema-older",
  // Its certificate is renewed there, and the file with authorities is read for each connection anew.
  "store.untrusted",
]);

/** What the address itself may be the reason of. */
const OF_THE_ADDRESS: ReadonlySet<string> = new Set(["store.refused", "store.untrusted"]);

const RECOVERY: ReadonlySet<string> = new Set(["main.old-database", "main.unfinished-recovery"]);

/** Why it is worth waiting after the database could not be used; `undefined` where it never passes by waiting. */
export function whyWaitForDatabase(error: unknown): Reason | undefined {
  if (error instanceof UnavailableError) return reasonOf(error);
  return error instanceof InputError && MENDED_BY_OTHERS.has(error.code) ? reasonOf(error) : undefined;
}

/**
 * A process reads the address once. Where it comes from a variable that was changed since, as a rotated password does, only a process that
 * is started again has the new one: who is refused, or does not trust the server, for this long ends, so that whatever keeps it running
 * starts it. In ms.
 */
const REFUSED_MS = 10 * 60_000;

/** The same for one process, which waits for ten minutes at most while the database refuses its user or is not trusted. */
export function waitingForDatabase(clock: Clock): (error: unknown) => Reason | undefined {
  let refusedAtMs: number | undefined;
  return (error) => {
    const isRefused = error instanceof InputError && OF_THE_ADDRESS.has(error.code);
    refusedAtMs = isRefused ? (refusedAtMs ?? clock.monotonicMs()) : undefined;
    if (refusedAtMs !== undefined && clock.monotonicMs() - refusedAtMs >= REFUSED_MS) return undefined;
    return whyWaitForDatabase(error);
  };
}

/** The same of a service that keeps an encryption key. Keys that are wrong do not pass by waiting. */
export function whyWaitForKeys(error: unknown): Reason | undefined {
  return error instanceof UnavailableError ? reasonOf(error) : undefined;
}

/** The same of the question whether the database is as new as what stands, which the API cluster is asked too. */
export function whyWaitForNewDatabase(error: unknown): Reason | undefined {
  if (error instanceof RefusedError || (error instanceof InputError && RECOVERY.has(error.code))) return reasonOf(error);
  return whyWaitForDatabase(error);
}

/**
 * What happened and what to do about it, as one sentence for people; with what lies beneath where the error is not about something people
 * gave.
 */
function reasonOf(error: ArgosyError): Reason {
  const key = [error.code, ...causesOf(error).map(({ code, name }) => code ?? name)].join(" ");
  if (error instanceof InputError) return { key, sentence: `${error.message}. ${error.remedy}` };
  const beneath = causesOf(error).map(({ message, code }) => (message === "" ? code : message));
  const known = beneath.filter((text) => text !== undefined);
  return { key, sentence: known.length === 0 ? error.message : `${error.message}: ${known.join(": ")}` };
}

/** A chain of causes ends somewhere; where one names itself, here. */
const DEEPEST = 5;

function causesOf(error: Error): readonly NodeJS.ErrnoException[] {
  const causes: Error[] = [];
  for (let cause = error.cause; cause instanceof Error && causes.length < DEEPEST; cause = cause.cause) causes.push(cause);
  return causes;
}
