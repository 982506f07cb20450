import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { contentHash, sha256 } from "../../domain/hash.ts";

const SOURCES = new URL("../../", import.meta.url);

/** Of everything below `src` as it stands, committed or not: what ran on other code says nothing of this one. */
export function codeHash(): string {
  const root = fileURLToPath(SOURCES);
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .sort();
  return contentHash(files.map((file) => [file, sha256(readFileSync(join(root, file), "utf8"))]));
}
