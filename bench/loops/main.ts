import process from "node:process";
import { parseArgs } from "node:util";
import { millis } from "../../src/domain/clock.ts";
import { InputError } from "../../src/domain/errors.ts";
import { readConditions, renderConditions } from "../conditions.ts";
import type { SizedFigure } from "../figures.ts";
import { writeResult } from "../results.ts";
import { exponentOf } from "../scale/growth.ts";
import { renderTable } from "../table.ts";
import { createWatchedFleet } from "./watched-fleet.ts";

const HELP = `Usage: npm run bench -- loops [options]

What one check of the watchdog takes of a core, against the number of applications, five hundred on each instance: where nothing has changed, where Argo CD has
compared a fifth of them meanwhile, and where everything is judged anew, as with each check of earlier versions. Rows and Applications are made up here.

  --applications N,N  (default: 25000,50000,100000,250000)
  --passes N          (default: 10)
  --json FILE         write the result there too
  --help              this text
`;

/** Between two checks, in ms. */
const EVERY_MS = 30_000;
/** Argo CD compares each Application once in this many checks. */
const COMPARED_IN = 5;
const KINDS = ["at rest", "a fifth compared", "everything anew"] as const;

/** Runs the measure with these arguments and writes the result. Resolves with the exit code. */
export async function loopsBench(args: readonly string[], write: (text: string) => void): Promise<number> {
  const { sizes, passes, json, help } = parse(args);
  if (help) {
    write(HELP);
    return 0;
  }
  const conditions = readConditions({ postgres: "none", kubernetes: "none", engine: "made up", processes: 1 });
  const figures: SizedFigure[] = [];
  for (const applications of sizes) figures.push(...(await measure(applications, passes)));
  const file = writeResult({ conditions, options: { sizes, passes }, figures }, json);
  write(`${renderConditions(conditions)}\n\n${renderTable(figures)}\n\n`);
  for (const what of KINDS) {
    const points = figures.filter((figure) => figure.what === what).map(({ applications, value }) => ({ applications, value }));
    write(`${what}: grows with the applications to the power of ${exponentOf(points)?.toFixed(2) ?? "?"}\n`);
  }
  write(`Written to ${file}\n`);
  return 0;
}

async function measure(applications: number, passes: number): Promise<readonly SizedFigure[]> {
  const fleet = createWatchedFleet(applications);
  let now = millis(1_700_000_000_000);
  await fleet.check(now);
  const figures: SizedFigure[] = [];
  for (const what of KINDS) {
    const times: number[] = [];
    for (let pass = 0; pass < passes; pass += 1) {
      now = millis(now + EVERY_MS);
      if (what !== "at rest") fleet.compare(pass % COMPARED_IN, COMPARED_IN, now);
      if (what === "everything anew") fleet.forget();
      const before = process.cpuUsage();
      await fleet.check(now);
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1_000);
    }
    const value = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
    figures.push({ measure: "loops", what, unit: "ms", better: "lower", value, noise: 0, samples: passes, applications });
  }
  return figures;
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { applications: text, passes: text, json: text, help: { type: "boolean", default: false } },
  });
  const whole = (path: string, value: string): number => {
    const number = Number(value);
    if (Number.isInteger(number) && number >= 1 && number <= 1_000_000) return number;
    throw new InputError("is no whole number from 1 to 1000000", { code: "cli.option", path, remedy: "Give one" });
  };
  const { applications = "25000,50000,100000,250000", passes = "10", json, help } = values;
  return {
    sizes: applications.split(",").map((each) => whole("--applications", each)),
    passes: whole("--passes", passes),
    json,
    help,
  };
}
