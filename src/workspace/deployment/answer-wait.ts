import type { Clock } from "../../domain/clock.ts";

/**
 * How long an instance is given to answer a new intent before its user reads that it is being worked on, in ms. Argo CD
 * reports a first status within half a second: most users get one status, with what they want to know.
 */
export const FIRST_STATUS_MS = 700;
/** By how much later each further intent of a burst is answered, in ms, until it has been measured: a busy API server of two cores. */
const EACH_MS = 20;
/** What is believed of a measurement, in ms: beyond it nobody was working through a burst. */
const SLOWEST_EACH_MS = 100;
/** Weight of a new gap between two answers in the moving average of gaps. */
const NOTIFICATIONS = 0.05;
/** How many times the expected time is waited for: a status too early is one write too many when there is least room for it, one too late is only later. */
const MARGIN = 2;
/** Nobody waits longer for a first status. */
export const LONGEST_WAIT_MS = 8_000;

/** Keys that are remembered as waited for, at most: of a larger burst the oldest are forgotten, and their answers teach nothing. */
const REMEMBERED = 10_000;

export interface AnswerWait {
  /** How long to wait for an instance's answer to the intent of this key that comes now, in ms. A key that is waited for already is given what is left of its time. */
  waitMs(key: string): number;
  /** An instance has answered. Says something about the burst only where an answer was waited for. */
  answered(key: string): void;
  /** Whether this key's time has not passed, and nobody has answered. */
  isAwaited(key: string): boolean;
}

/**
 * The wait grows while intents come faster than they are answered, as the level of a leaking bucket does, and is back at
 * {@link FIRST_STATUS_MS} when the burst is over. A status in between would be one more write for each intent of a burst, and would
 * delay the answers. How fast the bucket leaks is learnt from bursts: from the time between their answers.
 */
export function createAnswerWait(clock: Clock): AnswerWait {
  let answeredAtMs = clock.monotonicMs();
  let lastAnswerMs = Number.NEGATIVE_INFINITY;
  let eachMs = EACH_MS;
  /** Until when, in ms. */
  const awaited = new Map<string, number>();

  const leftMs = (key: string): number => (awaited.get(key) ?? 0) - clock.monotonicMs();
  const remember = (key: string, untilMs: number): void => {
    // To the end of the map.
    awaited.delete(key);
    awaited.set(key, untilMs);
    const [oldest = ""] = awaited.keys();
    if (awaited.size > REMEMBERED) awaited.delete(oldest);
  };
  return {
    waitMs(key) {
      if (leftMs(key) > 0) return leftMs(key);
      const nowMs = clock.monotonicMs();
      const waitMs = FIRST_STATUS_MS + Math.max(0, answeredAtMs - nowMs);
      answeredAtMs = Math.min(Math.max(answeredAtMs, nowMs) + MARGIN * eachMs, nowMs + LONGEST_WAIT_MS - FIRST_STATUS_MS);
      remember(key, nowMs + waitMs);
      return waitMs;
    },
    answered(key) {
      if (!awaited.delete(key)) return;
      const nowMs = clock.monotonicMs();
      const gapMs = nowMs - lastAnswerMs;
      const isBurst = answeredAtMs - nowMs > FIRST_STATUS_MS && gapMs < FIRST_STATUS_MS;
      if (isBurst) eachMs += NOTIFICATIONS * (Math.min(gapMs, SLOWEST_EACH_MS) - eachMs);
      lastAnswerMs = nowMs;
    },
    isAwaited: (key) => leftMs(key) > 0,
  };
}
