import { existsSync } from "node:fs";
import { type Check, TYPES, tool } from "../checks/checks.ts";

/** Where the types' build info is kept between runs: what did not change is not checked again. */
const BUILD_INFO = ".cache/types.tsbuildinfo";
const CODE = /\.(?:ts|mjs|js)$/;
const LINTED = /\.(?:ts|mjs|js|json)$/;

/** Types of the whole checkout, as they all hang together; what is about one file is asked of the changed ones only. */
export function quickChecks(changed: readonly string[]): readonly Check[] {
  const there = changed.filter((path) => existsSync(path) && !path.startsWith("tools/layers/planted/"));
  const code = there.filter((path) => CODE.test(path));
  const linted = there.filter((path) => LINTED.test(path) && path !== "package-lock.json");
  const tsc = ["node_modules/typescript7/bin/tsc", "--project", ".", "--incremental", "--tsBuildInfoFile", BUILD_INFO];
  const biome = ["node_modules/@biomejs/biome/bin/biome", "ci", "--colors=off", "--error-on-warnings", "--max-diagnostics=50"];
  return [
    tool(TYPES, tsc, "mend the types"),
    ...(code.length === 0
      ? []
      : [
          tool(
            "promises",
            ["node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings", "--format=unix", ...code],
            "mend the line it names",
          ),
        ]),
    ...(linted.length === 0
      ? []
      : [tool("format and lint", [...biome, "--no-errors-on-unmatched", ...linted], "run `npm run format`, then mend what it leaves")]),
  ];
}
