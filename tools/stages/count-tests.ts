import type { StageResult } from "./stage.ts";

/** What Vitest's JSON reporter writes, as far as it is read here. */
export interface VitestReport {
  /** Whether nothing failed, tests or not. */
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly { readonly status: string }[] }[];
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
export function countTests({ status: ended, report, files }: SuiteRun): Pick<StageResult, "passed" | "failed" | "skipped" | "note"> {
  const status = ended === "lingered" ? Number(report?.success !== true) : ended;
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0, note: `Vitest ended with status ${status} and reported nothing` };
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  const failed = report.numFailedTests + report.testResults.filter(couldNotRun).length;
  if (failed === 0 && status !== 0)
    return { passed, failed: 1, skipped, note: `no test failed, and Vitest ended with status ${status}: see its output` };
  if (failed === 0 && passed === 0 && files > 0)
    return { passed, failed: 1, skipped, note: `no test ran, although ${files} files hold some` };
  return { passed, failed, skipped };
}

function couldNotRun({ status, assertionResults }: VitestReport["testResults"][number]): boolean {
  return status === "failed" && !assertionResults.some((test) => test.status === "failed");
}
