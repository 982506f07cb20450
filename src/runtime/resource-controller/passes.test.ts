import { describe, expect, it } from "vitest";
import { createPasses } from "./passes.ts";

const { signal } = new AbortController();

/** Passes through numbers, two a page. */
function passesThrough(count: number) {
  const numbers = Array.from({ length: count }, (_, index) => `${index}`);
  const happened: string[] = [];
  let breaksAt: string | undefined;
  const passes = createPasses<string>({
    size: 2,
    list: async ({ limit, after }) => numbers.filter((one) => one > after).slice(0, limit),
    keyOf: (one) => one,
    visit(rows) {
      if (breaksAt !== undefined && rows.includes(breaksAt)) throw new Error("broken");
      happened.push(rows.join());
    },
    onBegin: () => void happened.push("begin"),
    onEnd: () => void happened.push("end"),
  });
  const during = async (run: () => Promise<void>): Promise<readonly string[]> => {
    happened.length = 0;
    await run();
    return [...happened];
  };
  return {
    passes,
    run: () => during(() => passes.run(signal)),
    breakAt(number: string | undefined) {
      breaksAt = number;
    },
  };
}

describe("passes through a list", () => {
  it("visit everything at first, and then one page with each run", async () => {
    const { run } = passesThrough(5);
    expect(await run()).toEqual(["begin", "0,1", "2,3", "4", "end"]);
    expect([await run(), await run(), await run(), await run()]).toEqual([["begin", "0,1"], ["2,3"], ["4", "end"], ["begin", "0,1"]]);
  });

  it("visit a list of one page as a whole with each run, an empty one too", async () => {
    for (const [count, visited] of [
      [1, "0"],
      [0, ""],
    ] as const) {
      const { run } = passesThrough(count);
      for (let time = 0; time < 3; time += 1) expect(await run()).toEqual(["begin", visited, "end"]);
    }
  });

  it("begin anew and visit everything when that is asked for, once", async () => {
    const { passes, run } = passesThrough(5);
    await run();
    await run();
    passes.visitAll();
    expect(await run()).toEqual(["begin", "0,1", "2,3", "4", "end"]);
    expect(await run()).toEqual(["begin", "0,1"]);
  });

  it("visit everything once more when that is asked for while they do", async () => {
    let asks = 1;
    const visited: string[] = [];
    const passes = createPasses<string>({
      size: 1,
      list: async ({ after }) => ["a", "b"].filter((one) => one > after).slice(0, 1),
      keyOf: (one) => one,
      visit(rows) {
        visited.push(...rows);
        if (asks > 0) passes.visitAll();
        asks -= 1;
      },
    });
    await passes.run(signal);
    await passes.run(signal);
    expect(visited).toEqual(["a", "b", "a", "b"]);
  });

  it("go on with the page that failed, or with everything if that was under way", async () => {
    const { run, breakAt } = passesThrough(5);
    breakAt("2");
    await expect(run()).rejects.toThrow("broken");
    breakAt(undefined);
    expect(await run()).toEqual(["begin", "0,1", "2,3", "4", "end"]);
    await run();
    breakAt("2");
    await expect(run()).rejects.toThrow("broken");
    breakAt(undefined);
    expect(await run()).toEqual(["2,3"]);
  });
});
