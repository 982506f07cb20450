import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { filesOf, type Suite } from "../suites.ts";
import { runVitest } from "../vitest.ts";
import { countTests, type VitestReport } from "./count-tests.ts";
import type { Stage, StageOptions } from "./stage.ts";

/** The tests of one suite, run by Vitest in the caller's terminal. */
export function suiteStage(suite: Suite): Stage {
  return {
    name: suite.name,
    isBackground: suite.isBackground === true,
    async run(options) {
      const files = filesOf(suite, options.filters);
      if (files.length === 0) return { passed: 0, failed: 0, skipped: 0 };
      const directory = mkdtempSync(join(tmpdir(), "argosy-test-"));
      try {
        const reportFile = join(directory, "report.json");
        const outputFile = options.isBeside === true ? join(directory, "output") : undefined;
        const status = await runVitest(argumentsFor(suite, options, { reportFile, files: files.length }), {
          reportFile,
          outputFile,
          signal: options.signal,
        });
        if (outputFile !== undefined) options.print(readFileSync(outputFile, "utf8"));
        if (status === "lingered") options.print("Vitest did not end after its report, and was ended");
        return countTests({ status, report: readReport(reportFile), files: files.length });
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  };
}

function argumentsFor(
  suite: Suite,
  { filters, bail }: StageOptions,
  { reportFile, files }: { readonly reportFile: string; readonly files: number },
): readonly string[] {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  const workers = Math.min(files, suite.filesAtOnce ?? files, Math.ceil(availableParallelism() * suite.filesPerCore));
  return [`--project=${suite.name}`, `--maxWorkers=${workers}`, ...reporters, ...(bail ? ["--bail=1"] : []), ...filters];
}

function readReport(path: string): VitestReport | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as VitestReport;
  } catch {
    return undefined;
  }
}
