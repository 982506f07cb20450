import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { DefectError, InputError, UnavailableError } from "../../../src/domain/errors.ts";
import { ARCHITECTURES, type Architecture, KEPT_FILES, LIBRARY_PACKAGES } from "./kept-files.ts";

const run = promisify(execFile);

/** A Debian package, as exactly as it can be named. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** Which of the two archives holds it, and where. */
  readonly archive: "debian" | "debian-security";
  readonly path: string;
  readonly sha256: string;
}

export type DebianPackages = Readonly<Record<Architecture, readonly DebianPackage[]>>;

/** The addresses of the archives, without a slash at the end. A snapshot of an earlier day will do as well. */
export type Mirrors = Readonly<Record<DebianPackage["archive"], string>>;

/** The names of all packages that the image takes something from, sorted. */
export const PACKAGE_NAMES: readonly string[] = [...new Set([...Object.keys(KEPT_FILES), ...LIBRARY_PACKAGES])].sort();

/** Parses `debian-packages.json`. Raises InputError when it names another set of packages than the table of kept files, or is broken. */
export function parseDebianPackages(text: string, path: string): DebianPackages {
  const wrong = (message: string) =>
    new InputError(message, { code: "release.debian-packages", path, remedy: "Write it anew with `npm run release -- --update-packages`" });
  const parsed = parseJson(text) as Partial<Record<Architecture, readonly Partial<DebianPackage>[]>> | undefined;
  for (const architecture of ARCHITECTURES) {
    const packages = parsed?.[architecture];
    if (!Array.isArray(packages)) throw wrong(`has no list of packages for ${architecture}`);
    const broken = packages.find((each: Partial<DebianPackage>) => !isPackage(each));
    if (broken !== undefined) throw wrong(`has an entry for ${architecture} that is none: ${JSON.stringify(broken).slice(0, 200)}`);
    const names = packages.map(({ name }: { readonly name: string }) => name).join(" ");
    if (names !== PACKAGE_NAMES.join(" ")) throw wrong(`does not name the packages of kept-files.ts for ${architecture}`);
  }
  return parsed as DebianPackages;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isPackage(each: Partial<DebianPackage>): boolean {
  return (
    /^[a-z0-9][a-z0-9.+-]+$/.test(each.name ?? "") &&
    /^[\w.+:~-]+$/.test(each.version ?? "") &&
    (each.archive === "debian" || each.archive === "debian-security") &&
    /^pool\/[\w./+~%-]+\.deb$/.test(each.path ?? "") &&
    /^[0-9a-f]{64}$/.test(each.sha256 ?? "")
  );
}

/** A package on disk: its files below `directory`, and its control paragraph. */
export interface UnpackedPackage extends DebianPackage {
  readonly directory: string;
  readonly control: string;
}

/**
 * Fetches packages and unpacks them below `work`, without running anything of them. Raises UnavailableError when a mirror does not have one
 * any more, DefectError when it gave other bytes than were asked for.
 */
export async function unpackDebianPackages(
  packages: readonly DebianPackage[],
  { mirrors, work }: { readonly mirrors: Mirrors; readonly work: string },
): Promise<readonly UnpackedPackage[]> {
  const unpacked: UnpackedPackage[] = [];
  for (const each of packages) {
    const file = join(work, `${each.name}.deb`);
    const directory = join(work, each.name);
    await mkdir(directory, { recursive: true });
    await writeFile(file, await fetchPackage(each, mirrors));
    await run("dpkg-deb", ["--extract", file, directory]);
    unpacked.push({ ...each, directory, control: (await run("dpkg-deb", ["--field", file])).stdout });
  }
  return unpacked;
}

const ATTEMPTS = 3;

async function fetchPackage(each: DebianPackage, mirrors: Mirrors): Promise<Buffer> {
  const url = `${mirrors[each.archive]}/${each.path}`;
  const doing = `fetching ${each.name} ${each.version} from ${url}`;
  let cause: unknown;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(120_000) });
      if (response.status === 404) throw gone(doing);
      if (!response.ok) throw new Error(`it answered ${response.status}`);
      return checked(Buffer.from(await response.arrayBuffer()), each.sha256, doing);
    } catch (error) {
      if (error instanceof UnavailableError || error instanceof DefectError) throw error;
      cause = error;
    }
  }
  throw new UnavailableError(doing, { code: "release.debian-mirror", cause });
}

function gone(doing: string): UnavailableError {
  const cause = new Error(
    "the mirror has it no more: run `npm run release -- --update-packages`, or name a mirror that keeps old versions",
  );
  return new UnavailableError(doing, { code: "release.debian-gone", cause });
}

function checked(bytes: Buffer, sha256: string, doing: string): Buffer {
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found === sha256) return bytes;
  throw new DefectError(`${doing}: its SHA-256 is ${found}, not ${sha256}`, { code: "release.debian-digest" });
}

export async function readDebianPackages(path: string): Promise<DebianPackages> {
  return parseDebianPackages(await readFile(path, "utf8"), path);
}
