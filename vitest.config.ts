import process from "node:process";
import { defineConfig } from "vitest/config";
import { SUITES, type Suite } from "./tools/suites.ts";

// A test that reaches a cluster reaches the one it started, never the one its developer works with.
delete process.env["KUBECONFIG"];

const project = (suite: Suite) => ({
  test: {
    name: suite.name,
    include: [...suite.include],
    exclude: ["**/node_modules/**", ...suite.exclude],
    testTimeout: suite.timeoutMs,
    hookTimeout: suite.timeoutMs,
    restoreMocks: true,
    ...(suite.sharesWorkers === true ? { isolate: false } : {}),
    ...(suite.isAlone ? { fileParallelism: false } : {}),
    ...(suite.setupFiles === undefined ? {} : { setupFiles: [...suite.setupFiles] }),
    ...(suite.globalSetup === undefined ? {} : { globalSetup: suite.globalSetup }),
  },
});

export default defineConfig({
  test: {
    // One fewer than there are cores is half of a small machine.
    maxWorkers: "100%",
    projects: SUITES.map(project),
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["**/*.test.ts"],
      reporter: ["json-summary", "html"],
      reportsDirectory: "coverage",
      reportOnFailure: true,
    },
  },
});
