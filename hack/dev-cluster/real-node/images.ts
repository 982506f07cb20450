import { createHash } from "node:crypto";
import { appendFileSync, existsSync } from "node:fs";
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { provideBinaries } from "../../../src/runtime/embedded-postgres/binaries.ts";
import { argoCdImageName, REDIS_IMAGE } from "../../fleet/images.ts";
import type { BuiltSet } from "../build.ts";
import { withFileLock } from "../file-lock.ts";
import { architecture, digestOfArchive, type ImageContent, writeImageArchive } from "./image-archive.ts";
import { run } from "./run.ts";

/** The name that clusters usually know it by: sample manifests use it for pods that do nothing. */
export const PAUSE_IMAGE = "registry.k8s.io/pause:3.10";
export const NAME_SERVER_IMAGE = "argosy.dev/coredns:1";

/** The Debian that images stand on, and what Argo CD's processes run besides their own programs. */
const DEBIAN = { suite: "bookworm", packages: ["ca-certificates", "git", "gpg", "openssh-client", "redis-server", "tini"] } as const;

/** Raised with each change of how images are put together: what was made before is made again. */
const RECIPE = 1;

/** User and group of Argo CD's image. */
const ARGO_CD_USER = 999;

/** User and group of PostgreSQL's image. */
const POSTGRES_USER = 999;

/** Names under which Argo CD's one program is called; each says what it does. */
const ARGO_CD_PROGRAMS = [
  "application-controller",
  "repo-server",
  "server",
  "dex",
  "notifications",
  "applicationset-controller",
  "k8s-auth",
];

export interface ImageBuilder {
  /** Folder that keeps what was made. */
  readonly cache: string;
  /** Builds a set of Go programs, or finds it. */
  obtain(set: string, signal: AbortSignal): Promise<BuiltSet>;
  /** Runs a step that takes long, and shows it. */
  readonly step: <T>(what: string, work: () => Promise<T>) => Promise<T>;
}

/** An image that lies on this machine as an archive. */
export interface LocalImage {
  readonly name: string;
  readonly archive: string;
}

/** How a manifest names exactly this image: a node that has it knows it by its digest too. */
export async function referenceOf({ name, archive }: LocalImage, signal: AbortSignal): Promise<string> {
  return `${name}@${await digestOfArchive(archive, signal)}`;
}

/** The image of the container that holds a pod's namespaces. */
export async function pauseImage(builder: ImageBuilder, signal: AbortSignal): Promise<LocalImage> {
  const tools = await builder.obtain("tools", signal);
  return programImage(builder, { name: PAUSE_IMAGE, program: tools.program("pause") }, signal);
}

export async function nameServerImage(builder: ImageBuilder, signal: AbortSignal): Promise<LocalImage> {
  const coredns = await builder.obtain("coredns", signal);
  return programImage(builder, { name: NAME_SERVER_IMAGE, program: coredns.program("coredns") }, signal);
}

/** Redis of Debian under the name that the development fleet declares. */
export async function redisImage(builder: ImageBuilder, signal: AbortSignal): Promise<LocalImage> {
  const base = await baseLayer(builder, signal);
  return archived(builder, { name: REDIS_IMAGE, layers: [base], entrypoint: ["/usr/bin/redis-server"], user: ARGO_CD_USER }, signal);
}

/** A release of Argo CD, built from its module, with the Kustomize and the Helm of that release. `tag` is written as `v3.5.7`. */
export async function argoCdImage(
  builder: ImageBuilder,
  release: { readonly tag: string; readonly sets: readonly string[] },
  signal: AbortSignal,
): Promise<LocalImage> {
  const sets: BuiltSet[] = [];
  for (const set of release.sets) sets.push(await builder.obtain(set, signal));
  const base = await baseLayer(builder, signal);
  const own = await layer(
    builder,
    sets.map(({ directory }) => basename(directory)),
    (root) => putArgoCd(root, sets),
    signal,
  );
  const image = {
    name: argoCdImageName(release.tag.replace(/^v/, "")),
    layers: [base, own],
    entrypoint: ["/usr/bin/tini", "--"],
    user: ARGO_CD_USER,
    workingDirectory: "/home/argocd",
  };
  return archived(builder, image, signal);
}

/**
 * PostgreSQL under a name of its own, with the user and the places of the image that Docker publishes: user 999, called postgres, programs on
 * PATH, ended with SIGINT. It has `initdb`, `postgres` and `pg_ctl`, which are all that the npm package has: neither `psql` nor `pg_isready`. It
 * stands on Debian because `initdb` starts `postgres` with a shell, and for libstdc++.
 */
export async function postgresImage(builder: ImageBuilder, signal: AbortSignal): Promise<LocalImage> {
  const { postgres, majorVersion } = await provideBinaries(builder.cache, undefined, signal);
  const native = dirname(dirname(postgres));
  const { version } = JSON.parse(await readFile(join(dirname(native), "package.json"), "utf8")) as { readonly version: string };
  const base = await baseLayer(builder, signal);
  const own = await layer(builder, ["postgres", version], (root) => putPostgres(root, native, signal), signal);
  const image = {
    ...{ name: `argosy.dev/postgres:${majorVersion}`, layers: [base, own], entrypoint: ["postgres"], user: POSTGRES_USER },
    stopSignal: "SIGINT",
  };
  return archived(builder, image, signal);
}

async function putPostgres(root: string, native: string, signal: AbortSignal): Promise<void> {
  const prefix = join(root, "usr", "local");
  await mkdir(prefix, { recursive: true });
  await cp(native, prefix, { recursive: true, verbatimSymlinks: true, filter: (path) => extname(path) !== ".a" });
  await mkdir(join(root, "etc"));
  // initdb refuses a user without a name.
  const users = [`root:x:0:0::/root:/bin/sh`, `postgres:x:${POSTGRES_USER}:${POSTGRES_USER}::/var/lib/postgresql:/bin/sh`];
  await writeFile(join(root, "etc", "passwd"), `${users.join("\n")}\n`);
  await writeFile(join(root, "etc", "group"), `root:x:0:\npostgres:x:${POSTGRES_USER}:\n`);
  await mkdir(join(root, "var", "lib", "postgresql"), { recursive: true });
  await run("chmod", ["--recursive", "u=rwX,go=rX", root], signal);
}

async function putArgoCd(root: string, sets: readonly BuiltSet[]): Promise<void> {
  const bin = join(root, "usr", "local", "bin");
  await mkdir(bin, { recursive: true });
  for (const { bin: from } of sets)
    for (const file of await readdir(from)) {
      await copyFile(join(from, file), join(bin, file));
      await chmod(join(bin, file), 0o755);
    }
  for (const program of ARGO_CD_PROGRAMS) await symlink("argocd", join(bin, `argocd-${program}`));
  for (const folder of ["app/config", "home/argocd"]) await mkdir(join(root, folder), { recursive: true });
}

async function programImage(
  builder: ImageBuilder,
  { name, program }: { readonly name: string; readonly program: string },
  signal: AbortSignal,
): Promise<LocalImage> {
  const file = basename(program);
  const only = await layer(
    builder,
    [program],
    async (root) => {
      await copyFile(program, join(root, file));
      await chmod(join(root, file), 0o755);
    },
    signal,
  );
  return archived(builder, { name, layers: [only], entrypoint: [`/${file}`], user: 65_532 }, signal);
}

/** A small Debian. It is made once; packages are those of the day. */
async function baseLayer(builder: ImageBuilder, signal: AbortSignal): Promise<string> {
  const { suite, packages } = DEBIAN;
  return layer(
    builder,
    ["base", suite, ...packages],
    (root) => builder.step("making a small Debian for images", () => putBase(root, signal)),
    signal,
  );
}

async function putBase(root: string, signal: AbortSignal): Promise<void> {
  await run("debootstrap", ["--variant=minbase", `--include=${DEBIAN.packages.join(",")}`, DEBIAN.suite, root], signal);
  const unused = [
    "var/cache/apt",
    "var/lib/apt/lists",
    "var/log",
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/info",
    "dev",
  ];
  for (const path of unused) await rm(join(root, path), { recursive: true, force: true });
  for (const path of ["dev", "var/log"]) await mkdir(join(root, path), { recursive: true });
  // ssh refuses a user without a name.
  appendFileSync(join(root, "etc", "passwd"), `argocd:x:${ARGO_CD_USER}:${ARGO_CD_USER}::/home/argocd:/usr/sbin/nologin\n`);
}

/** The tar file of a folder that `fill` fills, kept under a hash of what goes into it. */
async function layer(
  builder: ImageBuilder,
  inputs: readonly string[],
  fill: (root: string) => Promise<void>,
  signal: AbortSignal,
): Promise<string> {
  return kept(builder, ["layer", ...inputs], signal, async (file) => {
    const root = await mkdtemp(join(builder.cache, "root-"));
    try {
      await chmod(root, 0o755);
      await fill(root);
      // The same files give the same layer: whose they are and how old is set, not found.
      const same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
      await run("tar", [...same, "-C", root, "-cf", file, "."], signal);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
}

async function archived(builder: ImageBuilder, image: ImageContent, signal: AbortSignal): Promise<LocalImage> {
  const archive = await kept(builder, ["image", JSON.stringify(image)], signal, (file) => writeImageArchive(file, image, signal));
  return { name: image.name, archive };
}

/** A file of the cache, made by one of those who ask at the same time. */
async function kept(
  { cache }: ImageBuilder,
  inputs: readonly string[],
  signal: AbortSignal,
  make: (file: string) => Promise<void>,
): Promise<string> {
  const key = createHash("sha256")
    .update(JSON.stringify([RECIPE, architecture(), ...inputs]))
    .digest("hex");
  const file = join(cache, `${inputs[0]}-${key.slice(0, 16)}.tar`);
  await mkdir(cache, { recursive: true });
  await withFileLock(
    `${file}.lock`,
    async () => {
      if (existsSync(file)) return;
      const draft = `${file}.draft`;
      await make(draft);
      await rename(draft, file);
    },
    signal,
  );
  await utimes(file, new Date(), new Date());
  await removeUnused(cache);
  return file;
}

/** Deletes files that nobody has used for a month. Each use renews a file, so other checkouts keep theirs. */
async function removeUnused(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const used = await stat(path).catch(() => undefined);
    if (used !== undefined && Date.now() - used.mtimeMs > UNUSED_AFTER_MS) await rm(path, { recursive: true, force: true });
  }
}

const UNUSED_AFTER_MS = 30 * 24 * 3_600_000;
