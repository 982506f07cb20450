import { describe, expect, it } from "vitest";
import type { Clock } from "../domain/clock.ts";
import { giveTurns } from "./give-turns.ts";
import { createVirtualClock } from "./testing/virtual-clock.ts";

const never = new AbortController().signal;

/** Work of so many pieces, which notes what was done. */
function* piecesOf(count: number, done: string[]): Generator<void, string, void> {
  for (let index = 0; index < count; index += 1) {
    done.push("piece");
    yield;
  }
  return "result";
}

/** A clock on which so many ms pass whenever it is asked. */
function passing(ms: number): Clock {
  let at = 0;
  const monotonicMs = (): number => {
    at += ms;
    return at;
  };
  return { ...createVirtualClock(), monotonicMs };
}

describe("giving turns", () => {
  it("comes to the result of the work, and lets others go first once ten milliseconds have passed", async () => {
    const done: string[] = [];
    setImmediate(() => done.push("other"));
    expect(await giveTurns(piecesOf(12, done), passing(3), never)).toBe("result");
    // Four questions to the clock are twelve milliseconds.
    expect(done.indexOf("other")).toBe(4);
    expect(done.filter((each) => each === "piece")).toHaveLength(12);
  });

  it("waits for nobody while the work takes less", async () => {
    const done: string[] = [];
    setImmediate(() => done.push("other"));
    await giveTurns(piecesOf(1_000, done), createVirtualClock(), never);
    expect(done).not.toContain("other");
  });

  it("ends with the signal's reason at the next turn", async () => {
    const ending = new AbortController();
    const done: string[] = [];
    const work = giveTurns(piecesOf(1_000, done), passing(10), ending.signal);
    ending.abort(new Error("the end"));
    await expect(work).rejects.toThrow("the end");
    expect(done.length).toBeLessThan(5);
  });
});
