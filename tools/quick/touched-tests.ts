import { dirname } from "node:path/posix";
import type { ImportGraph } from "../imports/import-graph.ts";

/** A change of one of these may change any test. */
const BEHIND_ALL: readonly string[] = ["package-lock.json", "tsconfig.json", ".node-version", "vitest.config.ts", "tools/suites.ts"];

export interface TestFiles {
  readonly core: readonly string[];
  /** Run in front of each of them. */
  readonly setup: readonly string[];
  /** Tests of other suites. */
  readonly others: readonly string[];
}

export interface TouchedTests {
  /** Core tests that lead to a change, sorted. */
  readonly core: readonly string[];
  /** How many tests of other suites do. */
  readonly others: number;
}

/**
 * The tests that a change may turn red, by what they import, start and read. A file that nothing names (a golden file, a fixture) is
 * taken to belong to the tests in its folder and in the one above.
 */
export function touchedTests(graph: ImportGraph, changed: readonly string[], tests: TestFiles): TouchedTests {
  const leading = graph.leadingTo(changed);
  const folders = new Set(
    changed.filter((path) => graph.leadingTo([path]).size === 1).flatMap((path) => [dirname(path), dirname(dirname(path))]),
  );
  folders.delete(".");
  const behindAll = new Set([...BEHIND_ALL, ...graph.reachedFrom(tests.setup)]);
  const isEverything = changed.some((path) => behindAll.has(path));
  const isTouched = (test: string): boolean => isEverything || leading.has(test) || folders.has(dirname(test));
  return { core: tests.core.filter(isTouched).sort(), others: tests.others.filter((test) => leading.has(test)).length };
}
