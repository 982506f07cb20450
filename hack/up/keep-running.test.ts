import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keepRunning, type Part } from "./keep-running.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A part that ends on request. */
function aPart(restart: (signal: AbortSignal) => Promise<void> = () => Promise.resolve()) {
  let end = (_code: number): void => undefined;
  const begin = () => new Promise<number>((resolve) => (end = resolve));
  let running = begin();
  let starts = 0;
  const part: Part = {
    name: "Argosy",
    logFile: "/log/argosy-1.log",
    ended: () => running,
    async restart(signal) {
      starts += 1;
      await restart(signal);
      running = begin();
    },
  };
  return { part, end: (code: number) => end(code), starts: () => starts };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

describe("a part that is to run", () => {
  it("is restarted at once, with a message that says how it ended", async () => {
    const [said, { part, end, starts }]: [string[], ReturnType<typeof aPart>] = [[], aPart()];
    const keeping = keepRunning(part, { say: (text) => said.push(text) });
    end(137);
    await settle();
    expect(starts()).toBe(1);
    expect(said).toEqual(["  ! Argosy ended by signal 9; it is started again now (log: /log/argosy-1.log)", "  ✓ Argosy runs again"]);
    await keeping.stop();
  });

  it("is restarted later each time it ends soon, and at once after a long run", async () => {
    const [said, { part, end, starts }]: [string[], ReturnType<typeof aPart>] = [[], aPart()];
    const keeping = keepRunning(part, { say: (text) => said.push(text), backoff: { minMs: 1000, maxMs: 4000 } });
    for (const waits of [0, 1000, 2000, 4000, 4000]) {
      const before = starts();
      end(1);
      await settle();
      await vi.advanceTimersByTimeAsync(Math.max(0, waits - 1));
      expect(starts()).toBe(before + Number(waits === 0));
      await vi.advanceTimersByTimeAsync(1);
      expect(starts()).toBe(before + 1);
    }
    await vi.advanceTimersByTimeAsync(10_000);
    end(1);
    await settle();
    expect(starts()).toBe(6);
    expect(said.filter((line) => line.includes("!")).map((line) => /again (now|in \d s)/.exec(line)?.[1])).toEqual([
      ...["now", "in 1 s", "in 2 s", "in 4 s", "in 4 s", "now"],
    ]);
    await keeping.stop();
  });

  it("that cannot be started is tried again, with the reason each time", async () => {
    let failures = 2;
    const said: string[] = [];
    const { part, end, starts } = aPart(() => (failures-- > 0 ? Promise.reject(new Error("the port is taken")) : Promise.resolve()));
    const keeping = keepRunning(part, { say: (text) => said.push(text), backoff: { minMs: 1000, maxMs: 4000 } });
    end(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(starts()).toBe(3);
    expect(said.filter((line) => line.includes("✗"))).toEqual([
      "  ✗ Argosy could not be started: the port is taken; next try in 1 s",
      "  ✗ Argosy could not be started: the port is taken; next try in 2 s",
    ]);
    expect(said.at(-1)).toBe("  ✓ Argosy runs again");
    await keeping.stop();
  });

  it("is not restarted once everything is to end, and a start under way is aborted first", async () => {
    const waiting = (signal: AbortSignal) =>
      new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
    const said: string[] = [];
    const { part, end, starts } = aPart(waiting);
    const keeping = keepRunning(part, { say: (text) => said.push(text) });
    end(137);
    await settle();
    await keeping.stop();
    expect([starts(), said.length]).toEqual([1, 1]);

    const other = aPart();
    const idle = keepRunning(other.part, { say: (text) => said.push(text) });
    await idle.stop();
    other.end(1);
    await settle();
    expect([other.starts(), said.length]).toEqual([0, 1]);
  });
});
