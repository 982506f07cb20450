import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { contentHash, sha256 } from "../../domain/hash.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ENTRY = join(ROOT, "simulation/marathon/marathon.ts");
const SCENARIOS = join(ROOT, "simulation/scenarios/data");
/** An import or re-export of one of our own files that is there at run time. */
const IMPORT = /(?:^|\n)(?:import|export)\s+(?!type\b)[^;]*?"(\.{1,2}\/[^"]+)"/g;

/**
 * Hash of the scenario and of every file below `src` that runs in a long run, as it is on disk, committed or not. A run on other code says
 * nothing about this one, and files that never run here do not matter.
 */
export function codeHash(scenario: string): string {
  const files = [...withImports(ENTRY), join(SCENARIOS, `${scenario}.json`)].sort();
  return contentHash(files.map((file) => [relative(ROOT, file), sha256(readFileSync(file, "utf8"))]));
}

/** The file and all that it imports, and so on. */
export function withImports(entry: string): ReadonlySet<string> {
  const found = new Set([entry]);
  for (const file of found) for (const [, name = ""] of readFileSync(file, "utf8").matchAll(IMPORT)) found.add(join(dirname(file), name));
  return found;
}
