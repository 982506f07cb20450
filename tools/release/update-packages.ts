import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UnavailableError } from "../../src/domain/errors.ts";
import { type DebianPackage, type DebianPackages, type Mirrors, PACKAGE_NAMES, parseDebianPackages } from "./image/debian-packages.ts";
import { ARCHITECTURES, type Architecture } from "./image/kept-files.ts";
import { runProgram } from "./run-program.ts";

const SUITE = "bookworm";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/**
 * Finds the newest versions of the image's Debian packages for each architecture, with the digests that Debian's signed lists give, and writes
 * them to a file. Needs apt and Debian's keys; the machine's own packages and lists are neither read nor changed. Answers what it wrote.
 */
export async function updatePackages(file: string, mirrors: Mirrors, signal: AbortSignal): Promise<DebianPackages> {
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
  readonly mirrors: Mirrors;
  readonly work: string;
}

async function newestPackages(architecture: Architecture, { mirrors, work }: Apt, signal: AbortSignal): Promise<readonly DebianPackage[]> {
  const place = join(work, architecture);
  for (const folder of ["state/lists/partial", "cache/archives/partial"]) await mkdir(join(place, folder), { recursive: true });
  await writeFile(join(place, "status"), "");
  await writeFile(join(place, "sources.list"), sourcesList(mirrors));
  const settings = {
    ...{ "APT::Architecture": architecture, "APT::Architectures": architecture, "APT::Sandbox::User": "root" },
    ...{ "Dir::State": join(place, "state"), "Dir::State::status": join(place, "status"), "Dir::Cache": join(place, "cache") },
    ...{ "Dir::Etc::sourcelist": join(place, "sources.list"), "Dir::Etc::sourceparts": "/dev/null", "Acquire::Languages": "none" },
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  await runProgram("apt-get", ["update", "--quiet", ...options], {}, signal);
  const printed = await runProgram("apt-get", ["download", "--print-uris", ...options, ...PACKAGE_NAMES], { cwd: place }, signal);
  return parseUris(printed.toString("utf8"), mirrors);
}

function sourcesList({ debian, "debian-security": security }: Mirrors): string {
  const line = (url: string, suite: string): string => `deb [signed-by=${KEYRING}] ${url} ${suite} main\n`;
  return line(debian, SUITE) + line(debian, `${SUITE}-updates`) + line(security, `${SUITE}-security`);
}

const LINE = /^'([^']+)' ([^_ ]+)_([^_ ]+)_[^ ]+ \d+ SHA256:([0-9a-f]{64})$/;

/** Parses what `apt-get download --print-uris` prints, sorted by name. */
export function parseUris(printed: string, mirrors: Mirrors): readonly DebianPackage[] {
  const lines = printed.split("\n").filter((line) => line.startsWith("'"));
  return lines.map((line) => packageOf(line, mirrors)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function packageOf(line: string, mirrors: Mirrors): DebianPackage {
  const [, url = "", name = "", version = "", sha256 = ""] = LINE.exec(line) ?? [];
  const archive = (["debian-security", "debian"] as const).find((each) => url.startsWith(`${mirrors[each]}/pool/`));
  if (archive !== undefined)
    return { name, version: decodeURIComponent(version), archive, path: url.slice(mirrors[archive].length + 1), sha256 };
  throw new UnavailableError("reading the packages that apt names", { code: "release.apt", cause: new Error(`it said: ${line}`) });
}
