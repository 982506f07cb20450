import { expect, it } from "vitest";
import type { Check } from "./checks.ts";
import { runChecks } from "./run-checks.ts";
import { runTool } from "./tool.ts";

const never = new AbortController().signal;

function check(name: string, run: Check["run"]): Check {
  return { name, mend: `mend ${name}`, run };
}

it("prints a line for each check, and for a failure what was found and what to do", async () => {
  const lines: string[] = [];
  const checks = [
    check("good", () => Promise.resolve({ isFine: true, text: "by the way" })),
    check("bad", () => Promise.resolve({ isFine: false, text: "line 3 is wrong" })),
  ];
  const outcomes = await runChecks(checks, (line) => lines.push(line), never);
  expect(outcomes.map(({ isFine }) => isFine)).toEqual([true, false]);
  expect(lines.join("\n").replaceAll(/ +\d\.\d s/g, "")).toBe("✓ good\n    by the way\n✗ bad\n\n── bad ──\nline 3 is wrong\n→ mend bad");
});

it("counts a check that cannot run as failed and goes on", async () => {
  const broken = check("broken", () => Promise.reject(new Error("no such program")));
  const outcomes = await runChecks([broken, check("good", () => Promise.resolve({ isFine: true, text: "" }))], () => {}, never);
  expect(outcomes.filter(({ isFine }) => isFine).map(({ check: { name } }) => name)).toEqual(["good"]);
});

it("runs no more than two at a time", async () => {
  let running = 0;
  const seen: number[] = [];
  const slow = check("slow", async () => {
    seen.push(++running);
    await Promise.resolve();
    running--;
    return { isFine: true, text: "" };
  });
  await runChecks([slow, slow, slow, slow, slow], () => {}, never);
  expect(seen).toHaveLength(5);
  expect(Math.max(...seen)).toBeLessThanOrEqual(2);
});

it("tells a tool's status and everything it printed", async () => {
  const { status, output } = await runTool("-e", ["console.log('out'); console.error('err'); process.exitCode = 3"], never);
  expect({ status, lines: output.split("\n").sort() }).toEqual({ status: 3, lines: ["err", "out"] });
});
