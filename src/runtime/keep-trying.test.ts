import { describe, expect, it } from "vitest";
import { createHealthRegistry } from "../telemetry/health.ts";
import { silentLog } from "../telemetry/log.ts";
import { keepTrying } from "./keep-trying.ts";
import { createSeededRng } from "./rng.ts";
import { createVirtualClock, settle } from "./testing/virtual-clock.ts";

/** Something that fails as the test says, until it says nothing. */
function aTry(fails: () => Error | undefined) {
  const [clock, readiness] = [createVirtualClock(), createHealthRegistry()];
  const logged: string[] = [];
  const say = (_fields: object, message: string): void => void logged.push(message);
  const log = { ...silentLog, info: say, warn: (fields: Readonly<Record<string, unknown>>) => void logged.push(String(fields["reason"])) };
  const stop = new AbortController();
  let attempts = 0;
  const done = keepTrying(
    async () => {
      attempts += 1;
      const error = fails();
      if (error !== undefined) throw error;
      return "there";
    },
    {
      ...{ name: "database", clock, rng: createSeededRng(1), log, readiness },
      whyWait: (error) => {
        const { message } = error as Error;
        return message === "wrong" ? undefined : { key: message.split(" ")[0] ?? "", sentence: message };
      },
    },
    stop.signal,
  );
  done.catch(() => {});
  return { clock, readiness, logged, stop, done, attempts: () => attempts };
}

describe("trying until it works", () => {
  it("goes on by itself, and says so, once what failed is there", async () => {
    let isThere = false;
    const { clock, readiness, done, logged } = aTry(() => (isThere ? undefined : new Error("away")));
    await clock.advance(60_000);
    expect(readiness.report()).toEqual({ ok: false, checks: [{ name: "database", ok: false, detail: "away" }] });
    isThere = true;
    await clock.advance(15_000);
    expect(await done).toBe("there");
    expect(readiness.report()).toEqual({ ok: true, checks: [] });
    expect(logged).toEqual(["away", "Going on: what was waited for is there"]);
  });

  it("says nothing where the first attempt works", async () => {
    const { done, logged } = aTry(() => undefined);
    expect(await done).toBe("there");
    expect(logged).toEqual([]);
  });

  it("logs each reason once, and shows its newest sentence", async () => {
    let reason = "away at 1";
    const { clock, readiness, logged } = aTry(() => new Error(reason));
    await clock.advance(40_000);
    reason = "away at 2";
    await clock.advance(20_000);
    expect(readiness.report().checks[0]?.detail).toBe("away at 2");
    reason = "old";
    await clock.advance(20_000);
    expect(logged).toEqual(["away at 1", "old"]);
  });

  it("pauses longer and longer, and never more than 15 s", async () => {
    const { clock, attempts } = aTry(() => new Error("away"));
    await clock.advance(500);
    expect(attempts()).toBe(2);
    await clock.advance(60_000);
    const before = attempts();
    expect(before).toBeLessThan(20);
    await clock.advance(150_000);
    expect(attempts() - before).toBeGreaterThanOrEqual(10);
    expect(attempts() - before).toBeLessThanOrEqual(20);
  });

  it("throws what never passes by waiting, at once", async () => {
    const { readiness, done } = aTry(() => new Error("wrong"));
    await expect(done).rejects.toThrow("wrong");
    expect(readiness.report().ok).toBe(true);
  });

  it("ends with its signal, in a pause and after an attempt that had begun", async () => {
    const reason = new Error("SIGTERM");
    const waiting = aTry(() => new Error("away"));
    await settle();
    waiting.stop.abort(reason);
    await expect(waiting.done).rejects.toBe(reason);
    expect(waiting.readiness.report().ok).toBe(true);
    let isStopped = false;
    const trying = aTry(() => {
      if (isStopped) trying.stop.abort(reason);
      return new Error(isStopped ? "wrong" : "away");
    });
    await settle();
    isStopped = true;
    await trying.clock.advance(500);
    await expect(trying.done).rejects.toBe(reason);
  });
});
