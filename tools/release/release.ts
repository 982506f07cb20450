import { createPublicKey, type KeyObject } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { DefectError, InputError } from "../../src/domain/errors.ts";
import { type BuildImageOptions, buildImage } from "./build-image.ts";
import { chartText, packageChart } from "./chart.ts";
import { CHECKSUMS } from "./checksums.ts";
import { type Commit, readCommit } from "./commit.ts";
import { parseDebianPackages } from "./image/debian-packages.ts";
import type { ReleaseOptions } from "./options.ts";
import type { Progress } from "./progress.ts";
import { type BuiltFor, type Made, renderRelease } from "./render-release.ts";
import { runProgram } from "./run-program.ts";
import { readPrivateKey, SIGNATURE, signBytes } from "./signature.ts";
import { verifyRelease } from "./verify.ts";
import { type ReleaseVersion, releaseVersion } from "./versions.ts";

export interface ReleasePlace {
  /** The checkout. */
  readonly project: string;
  /** Folder that keeps what was built. */
  readonly cache: string;
  readonly progress: Progress;
  /** Tells a person what is worth knowing. */
  readonly note: (line: string) => void;
}

export interface Released {
  readonly version: string;
  readonly commit: string;
  readonly directory: string;
  /** Digests of the images by platform. */
  readonly images: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly isSigned: boolean;
}

const PACKAGES = "tools/release/image/debian-packages.json";

/** Makes a release in a folder, which appears only once all of it is there and was found right. */
export async function makeRelease(options: ReleaseOptions, place: ReleasePlace, signal: AbortSignal): Promise<Released> {
  const out = resolve(place.project, options.out);
  await requireReplaceable(out);
  const key = options.key === undefined ? undefined : await readPrivateKey(options.key);
  const commit = await readCommit(place.project, options.commit, signal);
  if (commit.isDirty) place.note(`what is not committed is no part of it: it is made of ${commit.hash.slice(0, 12)}`);
  const version = await versionOf(commit, options.snapshot);
  const { files: made, images } = await makeFiles({ commit, version, options, place }, signal);
  const files = key === undefined ? made : withSignatures(made, key);
  await place.progress("checking and writing it", () => putInPlace(files, { out, publicKey: key && createPublicKey(key) }));
  const names = [...files.keys()].sort();
  return { version: version.version, commit: commit.hash, directory: out, images, files: names, isSigned: key !== undefined };
}

async function versionOf(commit: Commit, isSnapshot: boolean): Promise<ReleaseVersion> {
  const text = async (path: string): Promise<string> => (await commit.read(path)).toString("utf8");
  const [manifest, changelog, chart] = await Promise.all([text("package.json"), text("CHANGELOG.md"), chartText(commit)]);
  return releaseVersion({ manifest, changelog, chart, commit: commit.hash, isSnapshot });
}

interface Making {
  readonly commit: Commit;
  readonly version: ReleaseVersion;
  readonly options: ReleaseOptions;
  readonly place: ReleasePlace;
}

async function makeFiles({ commit, version, options, place }: Making, signal: AbortSignal): Promise<Made> {
  const chart = await packageChart(commit, version.version);
  if (chart === undefined) place.note("this commit has no charts/argosy, so the release has no chart");
  const built: BuiltFor[] = [];
  for (const architecture of options.architectures) {
    const build: BuildImageOptions = {
      ...{ commit, architecture, base: options.base, rebuild: options.rebuild, cache: place.cache, project: place.project },
      mirrors: options.mirrors,
      progress: place.progress,
    };
    built.push({ architecture, ...(await buildImage(build, signal)) });
  }
  const text = async (path: string): Promise<string> => (await commit.read(path)).toString("utf8");
  return renderRelease({
    ...{ commit, version, chart, built, image: options.image, builder: options.builder },
    lockfile: await text("package-lock.json"),
    debian: parseDebianPackages(await text(PACKAGES), PACKAGES),
    tools: await toolVersions(signal),
  });
}

async function toolVersions(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
  const buildah = (await runProgram("buildah", ["--version"], {}, signal)).toString("utf8");
  return { buildah: /version (\S+)/.exec(buildah)?.[1] ?? buildah.trim(), node: process.versions.node, zlib: process.versions.zlib };
}

/** Only a release, or nothing, is replaced. */
async function requireReplaceable(out: string): Promise<void> {
  const names = existsSync(out) ? await readdir(out) : [];
  if (names.length === 0 || names.includes(CHECKSUMS)) return;
  throw new InputError("holds something that is no release", {
    code: "release.out",
    path: out,
    remedy: "Empty it, or give another folder with --out",
  });
}

export function withSignatures(files: ReadonlyMap<string, Buffer>, key: KeyObject): ReadonlyMap<string, Buffer> {
  return new Map([...files].flatMap(([name, bytes]) => [[name, bytes] as const, [name + SIGNATURE, signBytes(bytes, key)] as const]));
}

interface Target {
  readonly out: string;
  readonly publicKey: KeyObject | undefined;
}

async function putInPlace(files: ReadonlyMap<string, Buffer>, { out, publicKey }: Target): Promise<void> {
  await mkdir(dirname(out), { recursive: true });
  const draft = await mkdtemp(join(dirname(out), `.${basename(out)}-`));
  try {
    for (const [name, bytes] of files) await writeFile(join(draft, name), bytes);
    const { problems } = await verifyRelease(draft, publicKey);
    if (problems.length > 0) {
      const said = problems.map(({ file, what }) => `${file} ${what}`).join("; ");
      throw new DefectError(`checking the release that was just made: ${said}`, { code: "release.unverified" });
    }
    await rm(out, { recursive: true, force: true });
    await rename(draft, out);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
