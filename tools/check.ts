import process from "node:process";
import { allChecks } from "./checks/checks.ts";
import { runChecks } from "./checks/run-checks.ts";

const wanted = process.argv.slice(2);
const checks = allChecks().filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
const print = (line: string): void => void process.stdout.write(`${line}\n`);

if (checks.length === 0) {
  print(
    `no check is called ${wanted.join(" or ")}; there are: ${allChecks()
      .map(({ name }) => name)
      .join(", ")}`,
  );
  process.exitCode = 1;
} else {
  const outcomes = await runChecks(checks, print, new AbortController().signal);
  const failed = outcomes.filter(({ isFine }) => !isFine).length;
  print(`\n${outcomes.length - failed} checks passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}
