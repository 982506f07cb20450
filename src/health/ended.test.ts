import { describe, expect, it } from "vitest";
import { NOTHING_ENDED, nextEnded } from "./ended.ts";
import type { HealthPage } from "./parse-page.ts";
import { aHealthPage } from "./testing/stage.ts";

const MINUTE_MS = 60_000;
interface At {
  readonly fetching?: readonly string[];
  readonly pending?: readonly string[];
  readonly begun?: Readonly<Record<string, number>>;
}
/** A page of the process that began at that time, and is at this. */
const page = (startedAt: number, { fetching = [], pending = [], begun = {} }: At = {}): HealthPage =>
  aHealthPage({
    counters: { startedAt },
    fetchesBegun: new Map(Object.entries(begun)),
    fetching: new Set(fetching),
    pending: new Set(pending),
  });
type Probe = readonly [atMs: number, pods: Readonly<Record<string, HealthPage | undefined>>];
const endsOf = (...probes: readonly Probe[]): Readonly<Record<string, number>> => {
  let ended = NOTHING_ENDED;
  for (const [atMs, pods] of probes) ended = nextEnded(ended, { atMs, repoServers: new Map(Object.entries(pods)) });
  return Object.fromEntries(ended.ends);
};

describe("what repo-servers were at when they ended", () => {
  it("is what a process was fetching when it was last seen, once its pod has another one", () => {
    expect(endsOf([0, { one: page(1, { fetching: ["a"] }) }])).toEqual({});
    expect(endsOf([0, { one: page(1, { fetching: ["a"] }) }], [0, { one: page(2) }])).toEqual({ a: 1 });
    expect(endsOf([0, { one: page(1, { fetching: ["a"] }) }], [0, { one: page(2, { fetching: ["a"] }) }], [0, { one: page(3) }])).toEqual({
      a: 2,
    });
  });

  it("is nothing that ended well before", () => {
    expect(endsOf([0, { one: page(1, { fetching: ["a"] }) }], [0, { one: page(1) }], [0, { one: page(2) }])).toEqual({});
  });

  it("is known however long the pod gives no answer in between, up to a quarter of an hour", () => {
    const killed: Probe = [0, { one: page(1, { fetching: ["a"] }) }];
    expect(endsOf(killed, [0, { one: undefined }], [0, {}], [0, { one: page(2) }])).toEqual({ a: 1 });
    expect(endsOf(killed, [15 * MINUTE_MS, { one: page(2) }])).toEqual({});
  });

  it("answers for one end in equal parts", () => {
    expect(endsOf([0, { one: page(1, { fetching: ["a", "b"] }) }], [0, { one: page(2) }])).toEqual({ a: 0.5, b: 0.5 });
  });

  it("is what was pending where nothing was fetched, and not what may have waited for a fetch", () => {
    expect(endsOf([0, { one: page(1, { pending: ["a", "b"] }) }], [0, { one: page(2) }])).toEqual({ a: 0.5, b: 0.5 });
    expect(endsOf([0, { one: page(1, { fetching: ["a"], pending: ["a", "b"] }) }], [0, { one: page(2) }])).toEqual({ a: 1 });
  });

  it("is what was fetched for a request that goes on, as a checkout does, and not what waits beside it", () => {
    const began = page(1, { fetching: ["a"], pending: ["a"], begun: { a: 1, b: 5 } });
    const goesOn = page(1, { pending: ["a", "b"], begun: { a: 1, b: 5 } });
    expect(endsOf([0, { one: began }], [0, { one: goesOn }], [0, { one: goesOn }], [0, { one: page(2) }])).toEqual({ a: 1 });
    const unseen = page(1, { pending: ["a", "b"], begun: { a: 2, b: 5 } });
    expect(endsOf([0, { one: page(1, { begun: { a: 1, b: 5 } }) }], [0, { one: unseen }], [0, { one: page(2) }])).toEqual({ a: 1 });
  });

  it("is no more what was fetched for a request that has ended", () => {
    const fetched = page(1, { fetching: ["a"], pending: ["a"], begun: { a: 1 } });
    const later = page(1, { pending: ["a", "b"], begun: { a: 1 } });
    expect(endsOf([0, { one: fetched }], [0, { one: page(1, { begun: { a: 1 } }) }], [0, { one: later }], [0, { one: page(2) }])).toEqual({
      a: 0.5,
      b: 0.5,
    });
  });

  it("is nothing of a pod that was replaced, or of an answer that comes late", () => {
    expect(endsOf([0, { one: page(1, { fetching: ["a"] }) }], [0, { two: page(2) }])).toEqual({});
    expect(endsOf([0, { one: page(2, { fetching: ["a"] }) }], [0, { one: page(1) }])).toEqual({});
  });

  it("is halved every half hour, and forgotten in the end", () => {
    const once: readonly Probe[] = [
      [0, { one: page(1, { fetching: ["a"] }) }],
      [0, { one: page(2) }],
    ];
    expect(endsOf(...once, [30 * MINUTE_MS, {}])).toEqual({ a: 0.5 });
    expect(endsOf(...once, [24 * 60 * MINUTE_MS, {}])).toEqual({});
  });
});
