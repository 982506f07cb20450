import process from "node:process";

/** `npm run mutation -- <module>` sets the module and the files; see tools/mutation.ts. */
const module = process.env.ARGOSY_MODULE ?? "domain";
const mutate = (process.env.ARGOSY_MUTATE ?? "").split(",").filter((path) => path !== "");

export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "tools/mutation/vitest.config.ts", related: false },
  mutate,
  coverageAnalysis: "perTest",
  concurrency: 2,
  // A mutant that runs round in circles is stopped by how often it does; time is for the rest, and a busy machine is none of it.
  timeoutMS: 90_000,
  dryRunTimeoutMinutes: 15,
  incremental: true,
  incrementalFile: `reports/mutation/${module}.json`,
  ignorePatterns: [".argosy", "bench", "charts", "coverage", "docs", "e2e", "hack", "tools/layers/planted"],
  reporters: ["progress-append-only", "clear-text", "html"],
  clearTextReporter: { allowColor: false, logTests: false, reportScoreTable: true },
  htmlReporter: { fileName: `reports/mutation/${module}.html` },
  thresholds: { high: 95, low: 85, break: 80 },
};
