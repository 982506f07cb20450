import process from "node:process";

/** `npm run mutation -- <room>` sets the files; see tools/mutation.ts. */
const mutate = (process.env.ARGOSY_MUTATE ?? "").split(",").filter((path) => path !== "");

export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "tools/mutation/vitest.config.ts" },
  mutate,
  coverageAnalysis: "perTest",
  concurrency: 2,
  ignorePatterns: [".argosy", "bench", "charts", "coverage", "docs", "e2e", "hack", "tools/floors/planted"],
  reporters: ["clear-text", "html"],
  clearTextReporter: { allowColor: false, logTests: false, reportScoreTable: true },
  htmlReporter: { fileName: "reports/mutation.html" },
  thresholds: { high: 95, low: 85, break: 80 },
};
