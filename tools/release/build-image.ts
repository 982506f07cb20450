import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { withFileLock } from "../../hack/dev-cluster/file-lock.ts";
import { InputError } from "../../src/domain/errors.ts";
import { openBuilder } from "./builder.ts";
import type { Commit } from "./commit.ts";
import type { Mirrors } from "./image/apt.ts";
import type { Architecture } from "./image/kept-files.ts";
import { provideLocalBase } from "./local-base.ts";
import { type PackedLayer, packLayer } from "./oci/image-archive.ts";
import type { RunConfig } from "./oci/image-config.ts";
import { divideIntoLayers, readFolder } from "./oci/root-folder.ts";
import type { Progress } from "./progress.ts";
import { runProgram } from "./run-program.ts";

export const LOCAL_BASE = "local";

export interface BuildImageOptions {
  readonly commit: Commit;
  readonly architecture: Architecture;
  /** Reference of the base image, or `local` for one made on this machine. */
  readonly base: string;
  /** Where Debian packages come from; `undefined`: from the sources that apt is set up with here. */
  readonly mirrors: Mirrors | undefined;
  readonly project: string;
  /** Folder that keeps what was built. */
  readonly cache: string;
  /** Builds even what was built before. */
  readonly rebuild: boolean;
  readonly progress: Progress;
}

/** What the Containerfile made of a commit: the packed root folder, and how a container is started. */
export interface BuiltImage {
  readonly layers: readonly PackedLayer[];
  readonly run: RunConfig;
  /** The base it was built on, by the most exact name there is. */
  readonly base: string;
}

const UNUSED_AFTER_MS = 30 * 24 * 3_600_000;
const OWN_FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** Files of the checkout that the image is made of, as `.containerignore` has them, and that file itself. */
export function isImageInput(path: string): boolean {
  if (
    /^(?:Containerfile|\.containerignore|\.npmrc|LICENSE|package\.json|package-lock\.json|tools\/node\/package(?:-lock)?\.json)$/.test(path)
  )
    return true;
  return /^(?:migrations|src|tools\/release\/image)\//.test(path) && !/\.test\.ts$|^src\/(?:simulation\/|.*\/?testing\/)/.test(path);
}

/**
 * Builds the image of a commit for one architecture with the Containerfile, or finds it in the cache under a hash of everything that takes part:
 * files of the commit, architecture, base, and what packs it. A base that is not named by its digest may change, so nothing built on it is kept.
 */
export async function buildImage(options: BuildImageOptions, signal: AbortSignal): Promise<BuiltImage> {
  const { cache, architecture, base, progress } = options;
  const parent = join(cache, "image");
  await mkdir(parent, { recursive: true });
  const directory = join(parent, `${architecture}-${await contentAddress(options)}`);
  const isLasting = base === LOCAL_BASE || base.includes("@sha256:");
  return withFileLock(
    join(parent, "lock"),
    async () => {
      const found = isLasting && !options.rebuild ? await readBuilt(directory) : undefined;
      if (found !== undefined) return found;
      const built = await progress(`building the image for linux/${architecture}`, () => build(options, parent, signal));
      if (isLasting) await keepBuilt(built, directory);
      await removeUnused(parent);
      return built;
    },
    signal,
  );
}

/** What the cache has of a commit's image; `undefined` when it would have to be built. */
export async function findImage(options: BuildImageOptions): Promise<BuiltImage | undefined> {
  return readBuilt(join(options.cache, "image", `${options.architecture}-${await contentAddress(options)}`));
}

async function contentAddress({ commit, architecture, base }: BuildImageOptions): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([architecture, base, process.version, process.versions.zlib]));
  for (const { path, mode, object } of commit.files) if (isImageInput(path)) hash.update(`${mode} ${object} ${path}\n`);
  const packers = globSync(["oci/*.ts", "local-base.ts", "build-image.ts"], { cwd: OWN_FOLDER, exclude: ["**/*.test.ts"] }).sort();
  for (const file of packers) hash.update(file).update(await readFile(join(OWN_FOLDER, file)));
  return hash.digest("hex").slice(0, 16);
}

async function build(options: BuildImageOptions, parent: string, signal: AbortSignal): Promise<BuiltImage> {
  if (process.getuid?.() !== 0) throw notRoot();
  const builder = await openBuilder(join(parent, "buildah"), signal);
  const base = options.base === LOCAL_BASE ? await provideLocalBase({ ...options, builder }, signal) : options.base;
  const work = await mkdtemp(join(parent, "draft-"));
  const name = "localhost/argosy-build:draft";
  try {
    const context = await writeContext(options.commit, work, signal);
    const secrets = await writeSecrets(work, signal);
    const { mirrors } = options;
    const from = mirrors === undefined ? {} : { DEBIAN_MIRROR: mirrors.debian, DEBIAN_SECURITY_MIRROR: mirrors.security };
    const given = Object.entries({ BASE: base, ARCHITECTURE: options.architecture, ...from });
    const buildArgs = given.flatMap(([key, value]) => ["--build-arg", `${key}=${value}`]);
    // The builder's own platform is not changed: its first stage runs here, and what it makes is for ARCHITECTURE.
    const always = ["--quiet", "--layers=false", "--no-cache", "--timestamp", "0", "--tag", name];
    await builder.run(["build", ...always, ...buildArgs, ...secrets, "--file", join(context, "Containerfile"), context], signal);
    const container = await builder.run(["from", "--pull-never", name], signal);
    const root = await builder.run(["mount", container], signal);
    const inspected = JSON.parse(await builder.run(["inspect", "--type", "image", name], signal)) as {
      readonly OCIv1: { readonly config: RunConfig };
    };
    const run = inspected.OCIv1.config;
    const layers = await options.progress(`packing its layers`, async () =>
      Promise.all(divideIntoLayers(await readFolder(root)).map(packLayer)),
    );
    await builder.run(["rm", container], signal);
    return { layers, run, base };
  } finally {
    await builder.run(["rm", "--all"], new AbortController().signal);
    await builder.run(["rmi", "--force", name], new AbortController().signal).catch(() => "");
    await rm(work, { recursive: true, force: true });
  }
}

/** The files of the commit that the image is made of, and no other: nothing that lies about in the checkout can get in. */
async function writeContext(commit: Commit, work: string, signal: AbortSignal): Promise<string> {
  const [archive, context] = [join(work, "context.tar"), join(work, "context")];
  const paths = commit.files.map(({ path }) => path).filter(isImageInput);
  await mkdir(context);
  await commit.archive(archive, paths, signal);
  await runProgram("tar", ["--extract", "--no-same-owner", "--file", archive, "--directory", context], {}, signal);
  return context;
}

/** npm's settings and the authorities that are trusted here, for the build and not for the image. */
async function writeSecrets(work: string, signal: AbortSignal): Promise<readonly string[]> {
  const secrets: string[] = [];
  const authorities = process.env["NODE_EXTRA_CA_CERTS"];
  if (authorities !== undefined && authorities !== "") secrets.push("--secret", `id=authorities,src=${authorities}`);
  const userConfig = await readFile(process.env["NPM_CONFIG_USERCONFIG"] ?? join(homedir(), ".npmrc"), "utf8").catch(() => "");
  const registry = (await runProgram("npm", ["config", "get", "registry"], { cwd: work }, signal)).toString("utf8").trim();
  const npmrc = join(work, "npmrc");
  await writeFile(npmrc, `${userConfig}\nregistry=${registry}\n`, { mode: 0o600 });
  return [...secrets, "--secret", `id=npmrc,src=${npmrc}`];
}

interface Kept {
  readonly run: RunConfig;
  readonly base: string;
  readonly layers: readonly { readonly name: string; readonly diffId: string }[];
}

async function keepBuilt({ layers, run, base }: BuiltImage, directory: string): Promise<void> {
  const draft = await mkdtemp(`${directory}.draft-`);
  for (const [index, { content }] of layers.entries()) await writeFile(join(draft, `layer-${index}`), content);
  const kept: Kept = { run, base, layers: layers.map(({ name, diffId }) => ({ name, diffId })) };
  await writeFile(join(draft, "image.json"), JSON.stringify(kept));
  await rm(directory, { recursive: true, force: true });
  await rename(draft, directory);
}

async function readBuilt(directory: string): Promise<BuiltImage | undefined> {
  const text = await readFile(join(directory, "image.json"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  await utimes(directory, new Date(), new Date());
  const { run, base, layers } = JSON.parse(text) as Kept;
  const contents = await Promise.all(layers.map((_, index) => readFile(join(directory, `layer-${index}`))));
  return { run, base, layers: layers.map((layer, index) => ({ ...layer, content: contents[index] ?? Buffer.alloc(0) })) };
}

/** Deletes images that nobody used for a month, and drafts of builds that were killed. The caller holds the lock. */
async function removeUnused(parent: string): Promise<void> {
  for (const name of globSync(["{amd64,arm64}-*", "draft-*"], { cwd: parent })) {
    const used = await stat(join(parent, name)).catch(() => undefined);
    const isOver = name.includes("draft-") || (used !== undefined && Date.now() - used.mtimeMs > UNUSED_AFTER_MS);
    if (isOver) await rm(join(parent, name), { recursive: true, force: true });
  }
}

function notRoot(): InputError {
  return new InputError("the image is built by root", {
    code: "release.not-root",
    path: "npm run release",
    remedy: "Run it as root, in a container or a virtual machine if need be; --verify needs no rights",
  });
}
