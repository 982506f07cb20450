import { globSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { cruise } from "./cruise.ts";
import { complaints, silentRules } from "./verdict.ts";

const PLANTED = "tools/layers/planted";

// The reader keeps state between cruises of different trees, so they take turns.
const real = await cruise(resolve("."));
const planted = await cruise(resolve(PLANTED));
const problems = [
  ...complaints(real, globSync("src/**/*.ts").length),
  ...silentRules(planted.violations).map((name) => `the check is blind: ${name} did not notice its plant in ${PLANTED}`),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
