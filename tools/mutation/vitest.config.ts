import process from "node:process";
import { defineConfig } from "vitest/config";

/** The tests of one room's core, which is all a mutant of it has to survive. */
export default defineConfig({
  test: {
    root: process.cwd(),
    include: [`src/${process.env["ARGOSY_ROOM"] ?? "domain"}/**/*.test.ts`],
    exclude: ["**/node_modules/**", "**/*.{contract,fault,e2e}.test.ts", "**/adapters/**", "**/controller.test.ts"],
  },
});
