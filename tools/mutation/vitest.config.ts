import process from "node:process";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { SUITES } from "../suites.ts";
import { QuickestFirst } from "./quickest-first.ts";

/** Hours of a simulated fleet, and resources by the ten thousand: run for every change, they would notice what other tests notice. */
const SLOW = "**/{fuzz,growth}.test.ts";

/**
 * The tests of one module's core, which is all a mutant of it has to survive. Core keeps nothing between tests, so they share one
 * worker: starting one for each file would cost more than most of them take. A test that a busy machine delays has not noticed
 * anything, and is waited for as long as in `npm test`.
 */
export default defineConfig({
  resolve: { alias: { "fast-check": fileURLToPath(new URL("few-runs.ts", import.meta.url)) } },
  test: {
    root: process.cwd(),
    include: [`src/${process.env["ARGOSY_MODULE"] ?? "domain"}/**/*.test.ts`],
    exclude: ["**/node_modules/**", "**/*.{contract,fault,e2e}.test.ts", "**/adapters/**", "**/controller.test.ts", SLOW],
    testTimeout: SUITES.find(({ name }) => name === "core")?.timeoutMs ?? 60_000,
    isolate: false,
    sequence: { sequencer: QuickestFirst },
  },
});
