import process from "node:process";
import type { Violation } from "../checkers/checker.ts";
import { runSeed } from "../run.ts";
import { loadScenario } from "../scenarios/load.ts";
import type { Bug } from "./bug.ts";

/** What came of the search for one deliberate bug. */
export interface Hunt {
  readonly bug: Bug;
  /** Runs until it was found through its property; absent: it never was. */
  readonly runs: number | undefined;
  readonly seed: number | undefined;
  readonly violation: Violation | undefined;
  /** CPU time. */
  readonly seconds: number;
}

/**
 * Runs seed after seed, the given one first and then from 1, until the property named for the bug does not hold. Another property alone does
 * not count.
 */
export async function huntBug(bug: Bug, longest: number, first?: number): Promise<Hunt> {
  const scenario = loadScenario(bug.scenario);
  const startedAt = process.cpuUsage();
  const seconds = (): number => process.cpuUsage(startedAt).user / 1e6;
  const seeds = [...(first === undefined ? [] : [first]), ...Array.from({ length: longest }, (_, index) => index + 1)];
  for (const [index, seed] of seeds.entries()) {
    const { violations } = await runSeed({ ...bug, scenario, seed });
    const violation = violations.find(({ property }) => property === bug.property);
    if (violation !== undefined) return { bug, runs: index + 1, seed, violation, seconds: seconds() };
  }
  return { bug, runs: undefined, seed: undefined, violation: undefined, seconds: seconds() };
}

/** One line for each bug: the property, scenario and seed that found it, and how long that took. */
export function renderHunts(hunts: readonly Hunt[]): string {
  const rows = hunts.map(({ bug, seed, violation, seconds }) => [
    ...[bug.name, bug.property, bug.scenario, seed === undefined ? "never" : `seed ${seed}`, `${seconds.toFixed(1)} s`],
    violation?.text.slice(0, 80) ?? "",
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
