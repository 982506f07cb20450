import { relative } from "node:path";
import process from "node:process";
import type { StageResult } from "./stage.ts";

/** Characters of what a failed test said that are repeated beside its name. */
const SAID_LENGTH = 300;

/** What Vitest's JSON reporter writes, as far as it is read here. */
export interface VitestReport {
  /** Whether nothing failed, tests or not. */
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly FileReport[];
}

interface FileReport {
  /** Its path. */
  readonly name: string;
  readonly status: string;
  /** Why it could not be loaded; empty where it was. */
  readonly message: string;
  readonly assertionResults: readonly TestReport[];
}

interface TestReport {
  readonly status: string;
  readonly fullName: string;
  readonly failureMessages: readonly string[] | null;
}

export interface SuiteRun {
  /** Exit status of Vitest; of one that had to be ended after its report, what that says is all there is. */
  readonly status: number | "lingered";
  /** Nothing where Vitest ended before it wrote one. */
  readonly report: VitestReport | undefined;
  /** Test files that should have run. */
  readonly files: number;
}

/**
 * Counts the tests of one run so that nothing that went wrong counts as zero failures: a file that could not be loaded is one,
 * and so are a run that failed for any other reason and a suite that ran no test although it has files.
 */
export function countTests({
  status: ended,
  report,
  files,
}: SuiteRun): Pick<StageResult, "passed" | "failed" | "skipped" | "note" | "failures"> {
  const status = ended === "lingered" ? Number(report?.success !== true) : ended;
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0, note: `Vitest ended with status ${status} and reported nothing` };
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  const failed = report.numFailedTests + report.testResults.filter(couldNotRun).length;
  if (failed === 0 && status !== 0)
    return { passed, failed: 1, skipped, note: `no test failed, and Vitest ended with status ${status}: see its output` };
  if (failed === 0 && passed === 0 && files > 0)
    return { passed, failed: 1, skipped, note: `no test ran, although ${files} files hold some` };
  return { passed, failed, skipped, failures: report.testResults.flatMap(failuresOf) };
}

function couldNotRun({ status, assertionResults }: FileReport): boolean {
  return status === "failed" && !assertionResults.some((test) => test.status === "failed");
}

function failuresOf(file: FileReport): readonly string[] {
  const path = relative(process.cwd(), file.name);
  if (couldNotRun(file)) return [`${path}: ${beginning(file.message)}`];
  return file.assertionResults
    .filter(({ status }) => status === "failed")
    .map(({ fullName, failureMessages }) => `${path} > ${fullName}: ${beginning(failureMessages?.[0] ?? "")}`);
}

/** What is said before the places in the code, on one line. */
function beginning(message: string): string {
  const [said = ""] = message.split(/\n\s+at /);
  const line = said.replaceAll(/\s+/g, " ").trim();
  return line.length > SAID_LENGTH ? `${line.slice(0, SAID_LENGTH)}…` : line;
}
