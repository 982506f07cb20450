import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UnavailableError } from "../../src/domain/errors.ts";
import { type Mirrors, prepareApt } from "./image/apt.ts";
import { type DebianPackage, type DebianPackages, PACKAGE_NAMES, parseDebianPackages } from "./image/debian-packages.ts";
import { ARCHITECTURES, type Architecture } from "./image/kept-files.ts";
import { runProgram } from "./run-program.ts";

/**
 * Finds the newest versions of the image's Debian packages for each architecture, with the digests that Debian's signed lists give, and writes
 * them to a file. Needs apt; the machine's own packages and lists are neither read nor changed. Answers what it wrote.
 */
export async function updatePackages(file: string, mirrors: Mirrors | undefined, signal: AbortSignal): Promise<DebianPackages> {
  const work = await mkdtemp(join(tmpdir(), "argosy-packages-"));
  try {
    const found = {} as Record<Architecture, readonly DebianPackage[]>;
    for (const architecture of ARCHITECTURES) found[architecture] = await newestPackages(architecture, { mirrors, work }, signal);
    const text = `${JSON.stringify(found, undefined, 2)}\n`;
    const parsed = parseDebianPackages(text, file);
    await writeFile(file, text);
    return parsed;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

interface Apt {
  readonly mirrors: Mirrors | undefined;
  readonly work: string;
}

async function newestPackages(architecture: Architecture, { mirrors, work }: Apt, signal: AbortSignal): Promise<readonly DebianPackage[]> {
  const place = join(work, architecture);
  const settings = await prepareApt({ architecture, mirrors, place });
  await runProgram("apt-get", ["update", "--quiet", ...settings], {}, signal);
  const printed = await runProgram("apt-get", ["download", "--print-uris", ...settings, ...PACKAGE_NAMES], { cwd: place }, signal);
  return parseUris(printed.toString("utf8"));
}

const LINE = /^'[^']+' ([^_ ]+)_([^_ ]+)_[^ ]+ \d+ SHA256:([0-9a-f]{64})$/;

/** Parses what `apt-get download --print-uris` prints, sorted by name. */
export function parseUris(printed: string): readonly DebianPackage[] {
  const lines = printed.split("\n").filter((line) => line.startsWith("'"));
  return lines.map(packageOf).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function packageOf(line: string): DebianPackage {
  const [, name, version, sha256] = LINE.exec(line) ?? [];
  if (name !== undefined && version !== undefined && sha256 !== undefined) return { name, version: decodeURIComponent(version), sha256 };
  throw new UnavailableError("reading the packages that apt names", { code: "release.apt", cause: new Error(`it said: ${line}`) });
}
