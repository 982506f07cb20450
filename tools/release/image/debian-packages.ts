import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { DefectError, InputError, UnavailableError } from "../../../src/domain/errors.ts";
import { type AptOptions, prepareApt } from "./apt.ts";
import { ARCHITECTURES, type Architecture, KEPT_FILES, LIBRARY_PACKAGES } from "./kept-files.ts";

const run = promisify(execFile);

/** A Debian package, as exactly as it can be named. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
}

export type DebianPackages = Readonly<Record<Architecture, readonly DebianPackage[]>>;

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
    /^[a-z0-9][a-z0-9.+-]+$/.test(each.name ?? "") && /^\w[\w.+:~-]*$/.test(each.version ?? "") && /^[0-9a-f]{64}$/.test(each.sha256 ?? "")
  );
}

/** A package on disk: its files below `directory`, and its control paragraph. */
export interface UnpackedPackage extends DebianPackage {
  readonly directory: string;
  readonly control: string;
}

/**
 * Downloads packages with apt-get and unpacks them below `work`, without running anything of them. Raises UnavailableError when apt does not
 * find one, or not in that version any more, DefectError when it gave other bytes than were asked for.
 */
export async function unpackDebianPackages(
  packages: readonly DebianPackage[],
  { architecture, mirrors, work }: { readonly work: string } & Omit<AptOptions, "place">,
): Promise<readonly UnpackedPackage[]> {
  const place = join(work, "apt");
  const settings = await prepareApt({ architecture, mirrors, place });
  await aptGet(["update", ...settings], place);
  await aptGet(["download", ...settings, ...packages.map(({ name, version }) => `${name}=${version}`)], place);
  const files = await readdir(place);
  const unpacked: UnpackedPackage[] = [];
  for (const each of packages) {
    const file = join(place, files.find((name) => name.startsWith(fileName(each))) ?? `${fileName(each)}.deb`);
    await check(each, file);
    const directory = join(work, each.name);
    await mkdir(directory, { recursive: true });
    await run("dpkg-deb", ["--extract", file, directory]);
    unpacked.push({ ...each, directory, control: (await run("dpkg-deb", ["--field", file])).stdout });
  }
  return unpacked;
}

/** The beginning of the name that apt-get gives a file. */
function fileName({ name, version }: DebianPackage): string {
  return `${name}_${version.replaceAll(":", "%3a")}_`;
}

/** What apt-get says of a version that the sources have no more. */
const GONE = /Version '[^']*' for '[^']*' was not found/;

async function aptGet(args: readonly string[], cwd: string): Promise<void> {
  try {
    await run("apt-get", ["--quiet", ...args], { cwd, env: { ...process.env, LC_ALL: "C" } });
  } catch (error) {
    const { stderr = "", message } = error as Error & { readonly stderr?: string };
    const said = stderr.trim() || message;
    const doing = `getting Debian packages: apt-get ${args[0]}`;
    const gone = GONE.exec(said)?.[0];
    if (gone === undefined)
      throw new UnavailableError(doing, { code: "release.debian-mirror", cause: new Error(said.slice(-LONGEST_COMPLAINT)) });
    const cause = new Error(`${gone}: run \`npm run release -- --update-packages\`, or name a mirror that keeps old versions`);
    throw new UnavailableError(doing, { code: "release.debian-gone", cause });
  }
}

const LONGEST_COMPLAINT = 1_000;

async function check({ name, version, sha256 }: DebianPackage, file: string): Promise<void> {
  const found = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
  if (found === sha256) return;
  throw new DefectError(`getting ${name} ${version}: its SHA-256 is ${found}, not ${sha256}`, { code: "release.debian-digest" });
}

export async function readDebianPackages(path: string): Promise<DebianPackages> {
  return parseDebianPackages(await readFile(path, "utf8"), path);
}
