import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InputError } from "../src/domain/errors.ts";
import type { Conditions } from "./conditions.ts";
import type { SizedFigure } from "./figures.ts";

export interface Result {
  readonly conditions: Conditions;
  readonly options: Readonly<Record<string, unknown>>;
  readonly figures: readonly SizedFigure[];
}

const RESULTS = fileURLToPath(new URL("results", import.meta.url));

/** Writes a result into the folder of results, and to `also` if given. Returns its file in the folder. */
export function writeResult(result: Result, also: string | undefined): string {
  mkdirSync(RESULTS, { recursive: true });
  const file = join(RESULTS, `${result.conditions.at.replaceAll(":", "-")}.json`);
  const text = `${JSON.stringify(result, undefined, 2)}\n`;
  for (const each of also === undefined ? [file] : [file, also]) writeFileSync(each, text);
  return file;
}

/** Reads the result in that file, or with `latest` the newest one in the folder. */
export function readResult(which: string): Result {
  const kept = which === "latest" && existsSync(RESULTS) ? readdirSync(RESULTS).filter((name) => name.endsWith(".json")) : [];
  const newest = kept.sort().at(-1);
  const file = which === "latest" ? newest && join(RESULTS, newest) : which;
  if (file === undefined || !existsSync(file)) {
    const remedy = "Run it once without --compare, or name the file of a result";
    throw new InputError(`there is no result to compare with${file === undefined ? "" : ` in ${file}`}`, {
      code: "bench.no-result",
      path: "--compare",
      remedy,
    });
  }
  return JSON.parse(readFileSync(file, "utf8")) as Result;
}
