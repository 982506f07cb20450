import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import type { Stage } from "./stage.ts";

/**
 * Builds programs of the development cluster where they are not built yet, with visible output and without a time limit: on a new
 * machine that takes a quarter of an hour or longer, which no test should have to wait for. Fails nothing: where they cannot be built,
 * the tests that need them say so.
 */
export function partsStage(parts: readonly string[]): Stage {
  return {
    name: "parts",
    async run({ signal }) {
      const child = spawn(process.execPath, ["hack/dev-cluster/main.ts", "build", ...parts], { stdio: ["ignore", "inherit", "inherit"] });
      const end = (): void => void child.kill("SIGTERM");
      signal.addEventListener("abort", end);
      const [status] = (await once(child, "exit")) as [number | null];
      signal.removeEventListener("abort", end);
      return {
        passed: 0,
        failed: 0,
        skipped: 0,
        ...(status === 0 ? {} : { note: "the programs of the development cluster are not built" }),
      };
    },
  };
}
