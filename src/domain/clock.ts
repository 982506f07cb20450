import type { Brand } from "./brand.ts";

/** Wall-clock time in milliseconds since the epoch. */
export type Millis = Brand<number, "Millis">;

export const millis = (value: number): Millis => value as Millis;

/** ISO 8601 in UTC with whole seconds, the form Kubernetes uses for times. */
export function rfc3339(at: Millis): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** The same with milliseconds. */
export function rfc3339Millis(at: Millis): string {
  return new Date(at).toISOString();
}

/** Reads a time in that form, with or without fractions of a second; `undefined` for anything else. */
export function parseRfc3339(text: string): Millis | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : millis(at);
}

/**
 * Time as a value. Core functions are given `now`; only controllers, adapters and the toolkit hold a clock.
 * The simulation's clock is virtual: nothing but `after` makes time pass there.
 */
export interface Clock {
  now(): Millis;
  /** Milliseconds that only grow, for measuring durations; unaffected by changes of the wall clock. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`; the returned function cancels it and may be called at any time. */
  after(delayMs: number, run: () => void): () => void;
}
