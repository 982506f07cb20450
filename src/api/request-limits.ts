import type { Clock } from "../domain/clock.ts";
import { addressKey, createRateLimiter } from "./rate-limit.ts";

/** How many requests the API answers, per second on average. Ten seconds' worth of them may come at once. */
export interface RequestRates {
  /** GET and HEAD of one caller. */
  readonly reads: number;
  /** Everything else of one caller. */
  readonly writes: number;
  /** Of one address, without a token or with one that nobody knows. */
  readonly unknown: number;
}

export interface RequestLimits {
  /** 0: the request may go on; else in how many seconds there is room for another one. */
  ofCaller(name: string, method: string): number;
  ofAddress(ip: string): number;
  /** Whether `ofAddress` would let one more pass, which is not counted. */
  mayComeFrom(ip: string): boolean;
}

const BURST_SECONDS = 10;
/** Callers, and addresses, that have a bucket of their own at the same time: a few megabytes. */
const KEYS = 10_000;

/** Reads and writes are counted apart: a program that asks too often does not keep a person from doing something about it. */
export function createRequestLimits(rates: RequestRates, clock: Clock): RequestLimits {
  const limiterOf = (perSecond: number) => createRateLimiter({ perSecond, burst: perSecond * BURST_SECONDS }, KEYS);
  const [reads, writes, unknown] = [limiterOf(rates.reads), limiterOf(rates.writes), limiterOf(rates.unknown)];
  const seconds = (ms: number): number => Math.ceil(ms / 1_000);
  return {
    ofCaller: (name, method) => seconds((method === "GET" || method === "HEAD" ? reads : writes).take(name, clock.monotonicMs())),
    ofAddress: (ip) => seconds(unknown.take(addressKey(ip), clock.monotonicMs())),
    mayComeFrom: (ip) => unknown.waitMs(addressKey(ip), clock.monotonicMs()) === 0,
  };
}
