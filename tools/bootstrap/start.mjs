import { existsSync } from "node:fs";
import { execute } from "./execute.mjs";
import { suitableNode } from "./node.mjs";
import { environment, installPackages } from "./packages.mjs";
import { NotReady, path } from "./project.mjs";

/**
 * What `npm run …` can start: the program, and what goes in front of the caller's own arguments. Tests end with the npm that started
 * them; everything else goes on, as what somebody put in the background may.
 */
const PROGRAMS = {
  up: { program: "hack/up/main.ts" },
  down: { program: "hack/up/down.ts" },
  argosy: { program: "src/cli/argosy.ts" },
  check: { program: "tools/check.ts" },
  test: { program: "tools/test.ts", endsWithNpm: true },
  "test:quick": { program: "tools/quick.ts", endsWithNpm: true },
  "test:long": { program: "tools/test.ts", args: ["simulation", "e2e"], env: { ARGOSY_LONG: "1" }, endsWithNpm: true },
  format: { program: "node_modules/@biomejs/biome/bin/biome", args: ["check", "--write"] },
  coverage: { program: "tools/coverage.ts" },
  mutation: { program: "tools/mutation.ts" },
  measure: { program: "tools/measure.ts" },
  bench: { program: "bench/main.ts" },
  simulate: { program: "src/simulation/main.ts" },
  release: { program: "tools/release/main.ts", endsWithNpm: true },
};

/**
 * Runs one of the programs above on a suitable Node.js with the packages of the lockfile, fetching either first where it is
 * missing, and ends this process as that program ended. Problems of the machine are printed in one sentence, with exit status 1.
 */
export async function start(what, args) {
  try {
    const chosen = PROGRAMS[what];
    if (chosen === undefined)
      throw new NotReady(`"${what ?? ""}" is nothing that can be run: use one of ${Object.keys(PROGRAMS).join(", ")}`);
    if (!existsSync(path(chosen.program)))
      throw new NotReady(
        `${what} is not part of what is installed here: ${chosen.program} is missing. Run it in a checkout of Argosy's sources`,
      );
    const node = await suitableNode();
    await installPackages(node);
    await execute(node, [path(chosen.program), ...(chosen.args ?? []), ...args], {
      env: { ...environment(node), ...chosen.env },
      endsWithNpm: chosen.endsWithNpm,
    });
  } catch (error) {
    if (!(error instanceof NotReady)) throw error;
    process.stderr.write(`argosy: ${error.message}\n`);
    process.exitCode = 1;
  }
}
