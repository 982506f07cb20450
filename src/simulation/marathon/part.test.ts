import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { addUp, movesOf, type Part, renderSum } from "./part.ts";
import { readParts } from "./read-parts.ts";

const aPart = (over: Partial<Part> = {}): Part => ({
  ...{ code: "code-1", scenario: "move-marathon", seed: 1, runs: 3, ends: { DONE: 90, ABORTED: 10 }, faults: { "call delay": 40 } },
  ...{ events: 1_000, simulatedMs: 86_400_000, cpuMs: 10_000, trace: "trace", failed: [] },
  ...over,
});

describe("parts of a long run", () => {
  it("are added up in any order, failures and faults of each kind too", () => {
    const failed = [{ seed: 5, property: "I4", text: "a move has not ended" }];
    const sum = addUp([aPart({ seed: 4, faults: { crash: 2, "call delay": 1 }, failed }), aPart()]);
    expect(sum).toMatchObject({ parts: 2, runs: 6, ends: { DONE: 180, ABORTED: 20 }, faults: { crash: 2, "call delay": 41 }, failed });
    expect(movesOf(sum)).toBe(200);
    const text = renderSum(sum);
    for (const part of [
      "200 (20 ABORTED, 180 DONE) in 6 runs",
      "43, 0.21 a move",
      "violations 1",
      "2.00 days",
      "10.0 moves a second",
      "seed 5: I4",
    ])
      expect(text).toContain(part);
  });

  it.each<readonly [string, Partial<Part>, string]>([
    ["other code", { seed: 4, code: "code-2" }, "ran on other code"],
    ["another scenario", { seed: 4, scenario: "moves" }, "is of moves"],
    ["seeds that another has", { seed: 3 }, "seed 3 is in two parts"],
  ])("are refused when one is of %s", (_what, over, message) => {
    expect(() => addUp([aPart(), aPart(over)])).toThrow(
      expect.objectContaining({ code: "simulation.parts", message: expect.stringContaining(message) }),
    );
  });

  it("are read from a file with one in each line, and refused by the number of the line that is none", () => {
    const file = join(mkdtempSync(join(tmpdir(), "parts-")), "parts.jsonl");
    writeFileSync(file, `${JSON.stringify(aPart())}\n${JSON.stringify(aPart({ seed: 4 }))}\n`);
    expect(readParts(file)).toEqual([aPart(), aPart({ seed: 4 })]);
    writeFileSync(file, `${JSON.stringify(aPart())}\n{"code": 1}\n`);
    expect(() => readParts(file)).toThrow("line 2");
    expect(() => readParts(`${file}.none`)).toThrow("cannot be read");
    expect(() => addUp([])).toThrow("no part");
  });
});
