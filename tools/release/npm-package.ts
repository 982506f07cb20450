import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DefectError } from "../../src/domain/errors.ts";
import { runProgram } from "./run-program.ts";

export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** As lockfiles write it: `sha512-` and base64. */
  readonly integrity: string;
}

/** Fetches a package with npm, as it is configured here, and unpacks it into a folder. Raises DefectError when its bytes are others. */
export async function unpackNpmPackage(
  wanted: NpmPackage,
  { work, to }: { readonly work: string; readonly to: string },
  signal: AbortSignal,
): Promise<void> {
  await mkdir(work, { recursive: true });
  const args = ["pack", "--silent", "--pack-destination", work, `${wanted.name}@${wanted.version}`];
  const name = (await runProgram("npm", args, { cwd: work }, signal)).toString("utf8").trim();
  const file = join(work, name);
  const found = `sha512-${createHash("sha512")
    .update(await readFile(file))
    .digest("base64")}`;
  if (found !== wanted.integrity)
    throw new DefectError(`fetching ${wanted.name} ${wanted.version}: it is ${found}, not ${wanted.integrity}`, {
      code: "release.integrity",
    });
  await mkdir(to, { recursive: true });
  await runProgram(
    "tar",
    ["--extract", "--gzip", "--strip-components", "1", "--no-same-owner", "--file", file, "--directory", to],
    {},
    signal,
  );
}
