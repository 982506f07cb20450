import { describe, expect, it } from "vitest";
import { type Fetched, NOTHING_FETCHED, nextFetched } from "./fetched.ts";
import type { HealthPage } from "./parse-page.ts";
import { aHealthPage } from "./testing/stage.ts";

const MINUTE_MS = 60_000;
const WALL_S = 1_000_000;
type Seconds = Readonly<Record<string, number>>;
/** A process that began so many seconds before the wall clock of these tests, and what its counters say. */
const page = (seconds: Seconds, agoS = 60): HealthPage =>
  aHealthPage({ counters: { startedAt: WALL_S - agoS }, fetchSeconds: new Map(Object.entries(seconds)) });
const observed = (before: Fetched, atMs: number, pods: Readonly<Record<string, HealthPage | undefined>>): Fetched =>
  nextFetched(before, { atMs, wallS: WALL_S, repoServers: new Map(Object.entries(pods)) });
const secondsOf = ({ seconds }: Fetched): Seconds => Object.fromEntries(seconds);

describe("what repo-servers have fetched", () => {
  it("counts a young process from its begin, and then what its counters grow by", () => {
    const first = observed(NOTHING_FETCHED, 0, { one: page({ a: 10, b: 2 }), two: page({ a: 1 }) });
    expect(secondsOf(first)).toEqual({ a: 11, b: 2 });
    expect(secondsOf(observed(first, 0, { one: page({ a: 15, b: 2, c: 3 }), two: page({ a: 1 }) }))).toEqual({ a: 16, b: 2, c: 3 });
  });

  it("counts an old process only from the first probe on: what it fetched in weeks says nothing about now", () => {
    const first = observed(NOTHING_FETCHED, 0, { one: page({ a: 90_000 }, 3_601) });
    expect(secondsOf(first)).toEqual({});
    expect(secondsOf(observed(first, 0, { one: page({ a: 90_004 }, 3_601) }))).toEqual({ a: 4 });
  });

  it("outlives an eviction: the counters of the next pod, or of a process that began anew, are added from zero", () => {
    const first = observed(NOTHING_FETCHED, 0, { one: page({ a: 10 }) });
    const evicted = observed(first, 0, { two: page({ a: 3 }, 5) });
    expect(secondsOf(evicted)).toEqual({ a: 13 });
    expect(secondsOf(observed(evicted, 0, { two: page({ a: 2 }, 1) }))).toEqual({ a: 15 });
  });

  it("does not count twice what a pod says again after it gave no answer", () => {
    const first = observed(NOTHING_FETCHED, 0, { one: page({ a: 10 }) });
    const silent = observed(first, 0, { one: undefined });
    expect(secondsOf(observed(silent, 0, { one: page({ a: 12 }) }))).toEqual({ a: 12 });
    const notFound = observed(first, 0, {});
    expect(secondsOf(observed(notFound, 0, { one: page({ a: 12 }) }))).toEqual({ a: 12 });
    const gone = observed(first, 60 * MINUTE_MS, {});
    expect([first.pods.size, notFound.pods.size, gone.pods.size]).toEqual([1, 1, 0]);
  });

  it("takes nothing away where a counter goes back", () => {
    const first = observed(NOTHING_FETCHED, 0, { one: page({ a: 10 }) });
    expect(secondsOf(observed(first, 0, { one: page({ a: 4 }) }))).toEqual({ a: 10 });
  });

  it("is halved every half hour, and forgotten in the end", () => {
    const first = observed(NOTHING_FETCHED, 0, { one: page({ a: 8 }) });
    const later = observed(first, 30 * MINUTE_MS, {});
    expect(secondsOf(later)).toEqual({ a: 4 });
    expect(secondsOf(observed(later, 90 * MINUTE_MS, {}))).toEqual({ a: 1 });
    expect(secondsOf(observed(later, 24 * 60 * MINUTE_MS, {}))).toEqual({});
  });
});
