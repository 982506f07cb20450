import process from "node:process";
import { corePurity } from "./core-purity.ts";
import { dependencies } from "./dependencies.ts";
import { errorCodes } from "./error-codes.ts";
import { invariants } from "./invariants.ts";
import { lockfile } from "./lockfile.ts";
import { migrations } from "./migrations.ts";
import { oldFaults } from "./old-faults.ts";
import type { OwnCheck } from "./own-check.ts";
import { type Project, readProject } from "./project.ts";
import { sleeps } from "./sleeps.ts";
import { threats } from "./threats.ts";
import { runTool } from "./tool.ts";
import { words } from "./words.ts";

/** Something the whole checkout has to satisfy before anybody tests it. */
export interface Check {
  readonly name: string;
  /** What a person does about a failure. */
  readonly mend: string;
  readonly run: (signal: AbortSignal) => Promise<CheckResult>;
}

export interface CheckResult {
  readonly isFine: boolean;
  /** What is wrong, as a person should read it; where nothing is, what is worth knowing, or "". */
  readonly text: string;
}

/** The name of the check without which no test means anything. */
export const TYPES = "types";

const TOOLS: readonly Check[] = [
  tool(TYPES, ["node_modules/typescript7/bin/tsc", "--project", "."], "mend the types"),
  tool("layers", ["tools/layers/main.ts"], "move the import to where CONTRIBUTING.md allows it"),
  tool("promises", ["node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings", "--format=unix"], "mend the line it names"),
  tool(
    "unused code",
    ["node_modules/knip/bin/knip.js", "--no-progress"],
    "take out what nothing uses, or list a program that starts it in knip.json",
  ),
  tool(
    "format and lint",
    ["node_modules/@biomejs/biome/bin/biome", "ci", "--colors=off", "--error-on-warnings", "--max-diagnostics=50", "."],
    "run `npm run format`, then mend what it leaves",
  ),
];

const OWN: readonly OwnCheck[] = [
  errorCodes,
  corePurity,
  invariants,
  threats,
  oldFaults,
  migrations,
  words,
  sleeps,
  dependencies,
  lockfile,
];

/** All checks, the slow ones first. */
export function allChecks(): readonly Check[] {
  let project: Project | undefined;
  const read = (): Project => {
    project ??= readProject(process.cwd());
    return project;
  };
  return [...TOOLS, ...OWN.map((check) => own(check, read))];
}

/** A check that is a Node.js program of the checkout: it is fine when that ends with status 0. */
export function tool(name: string, [program = "", ...args]: readonly string[], mend: string): Check {
  return {
    name,
    mend,
    async run(signal) {
      const { status, output } = await runTool(program, args, signal);
      return { isFine: status === 0, text: status === 0 ? "" : output };
    },
  };
}

function own(check: OwnCheck, project: () => Project): Check {
  return {
    name: check.name,
    mend: check.mend,
    run() {
      const { problems, notes = [] } = check.find(project());
      return Promise.resolve({ isFine: problems.length === 0, text: (problems.length === 0 ? notes : problems).join("\n") });
    },
  };
}
