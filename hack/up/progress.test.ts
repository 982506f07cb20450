import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createProgress, type ProgressOutput } from "./progress.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function anOutput(terminal: Pick<ProgressOutput, "isTTY" | "columns"> = {}) {
  const written: string[] = [];
  const output: ProgressOutput = { ...terminal, write: (text) => written.push(text) };
  return { output, written, progress: createProgress(output) };
}

describe("progress", () => {
  it("is one plain line per step where lines are not redrawn", async () => {
    const { progress, written } = anOutput();
    expect(await progress.step("counting", async () => 7)).toBe(7);
    expect(written).toEqual([`${"  ✓ counting".padEnd(61)}0.0 s\n`]);
  });

  it("keeps a space before the seconds of a step with a long name", async () => {
    const { progress, written } = anOutput();
    await progress.step("x".repeat(80), async () => undefined);
    expect(written[0]).toMatch(/x 0\.0 s\n$/);
  });

  it("prints a long step again from time to time, with its detail", async () => {
    const { progress, written } = anOutput();
    const work = Promise.withResolvers<void>();
    const step = progress.step("building", () => work.promise);
    progress.detail("etcd");
    await vi.advanceTimersByTimeAsync(65_000);
    work.resolve();
    await step;
    expect(written.map((line) => line.trim())).toEqual([
      "… building (etcd) 20 s",
      "… building (etcd) 40 s",
      "… building (etcd) 60 s",
      expect.stringMatching(/^✓ building +65\.0 s$/),
    ]);
  });

  it.each([80, 20])("never draws a line that wraps on a terminal of %i columns", async (columns) => {
    const { progress, written } = anOutput({ isTTY: true, columns });
    const work = Promise.withResolvers<void>();
    const step = progress.step("building", () => work.promise);
    progress.detail("y".repeat(100));
    await vi.advanceTimersByTimeAsync(3_500);
    work.resolve();
    await step;
    const drawn = written.slice(0, -1).map((text) => text.replace("\r\x1b[K", ""));
    expect(drawn).toHaveLength(4);
    for (const line of drawn) expect([line.length < columns, line.includes("\n")]).toEqual([true, false]);
    expect(written.at(-1)).toMatch(/ {2}✓ building.*\n$/);
  });

  it("says which step failed, passes the error on and prints nothing more", async () => {
    const { progress, written } = anOutput();
    await expect(progress.step("failing", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await vi.advanceTimersByTimeAsync(100_000);
    expect(written).toEqual(["  ✗ failing\n"]);
  });
});
