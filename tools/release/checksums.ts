import { createHash } from "node:crypto";
import { InputError } from "../../src/domain/errors.ts";

export const CHECKSUMS = "SHA256SUMS";

export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The file that `sha256sum --check` reads: one line per file, sorted by name. */
export function renderChecksums(files: ReadonlyMap<string, Buffer>): string {
  return [...files.keys()]
    .sort()
    .map((name) => `${sha256(files.get(name) ?? Buffer.alloc(0))}  ${name}\n`)
    .join("");
}

/** Parses it. Raises InputError for a line that is none, and for a name that leads out of the folder or comes twice. */
export function parseChecksums(text: string): ReadonlyMap<string, string> {
  const sums = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line === "") continue;
    const [, sum, name] = /^([0-9a-f]{64}) [ *]([\w.+-]+)$/.exec(line) ?? [];
    if (sum === undefined || name === undefined || name.startsWith(".") || sums.has(name)) throw notASum(index + 1);
    sums.set(name, sum);
  }
  return sums;
}

function notASum(line: number): InputError {
  return new InputError(`line ${line} is no checksum of a file beside it`, {
    code: "release.checksums",
    path: CHECKSUMS,
    remedy: "Fetch the release again",
  });
}
