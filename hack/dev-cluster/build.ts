import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { InputError } from "../../src/domain/errors.ts";
import { withFileLock } from "./file-lock.ts";
import { type GoProgram, type GoSet, goSet } from "./go-sets.ts";
import { findGo, type GoToolchain, isGoNewEnough, runGo } from "./go-toolchain.ts";

/** A set of programs ready to run. */
export interface BuiltSet {
  /** Folder with `bin/`, and for Argo CD `crds/` and `base/`. Its name changes with everything it was built from. */
  readonly directory: string;
  readonly bin: string;
  program(name: string): string;
}

/** Called about once a second while a step runs and once when it is done. */
export type BuildProgress = (step: {
  readonly set: string;
  readonly step: string;
  readonly seconds: number;
  readonly done: boolean;
}) => void;

export interface BuildOptions {
  readonly progress?: BuildProgress;
  /** Default: `$ARGOSY_CACHE`, else `$XDG_CACHE_HOME/argosy`, else `~/.cache/argosy`. */
  readonly cache?: string;
}

/** In each built set: the Go version that built it. By it the set is found where Go is not installed any more. */
const goVersionFile = "go-version";
const unusedAfterMs = 30 * 24 * 3_600_000;

export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  if (env["ARGOSY_CACHE"]) return env["ARGOSY_CACHE"];
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "argosy");
}

/**
 * Builds a set of programs, or finds it in the cache under a hash of everything that goes into it. Two builders of
 * the same set take turns, and the cache only has complete sets. Without Go, a set that was built from the same
 * sources earlier is used. Throws `InputError` when Go is missing or too old, `UnavailableError` when the build
 * fails.
 */
export async function buildSet(name: string, options: BuildOptions, signal: AbortSignal): Promise<BuiltSet> {
  const set = goSet(name);
  const parent = join(options.cache ?? cacheDirectory(), "go");
  const directory = await findGo().then(
    (go) => obtain(parent, { set, go, options }, signal),
    async (noGo: Error) => (await findBuilt(parent, set)) ?? Promise.reject(noGo),
  );
  await utimes(directory, new Date(), new Date());
  return { directory, bin: join(directory, "bin"), program: (program) => join(directory, "bin", program) };
}

/** Finds a set that was built from exactly these sources, by any version of Go. */
async function findBuilt(parent: string, set: GoSet): Promise<string | undefined> {
  const built = (await isThere(parent)) ? (await readdir(parent)).filter((name) => name.startsWith(`${set.name}-`)) : [];
  for (const name of built) {
    const version = await readFile(join(parent, name, goVersionFile), "utf8").catch(() => undefined);
    if (version !== undefined && name === `${set.name}-${await contentAddress(set, version)}`) return join(parent, name);
  }
  return undefined;
}

interface Job {
  readonly set: GoSet;
  readonly go: GoToolchain;
  readonly options: BuildOptions;
}

async function obtain(parent: string, { set, go, options }: Job, signal: AbortSignal): Promise<string> {
  await requireGo(set, go);
  const directory = join(parent, `${set.name}-${await contentAddress(set, go.version)}`);
  if (!(await isThere(directory))) {
    await withFileLock(
      `${directory}.lock`,
      async () => ((await isThere(directory)) ? undefined : buildInto(directory, { set, go, options }, signal)),
      signal,
    );
    await removeUnused(parent, directory);
  }
  return directory;
}

async function buildInto(directory: string, job: Job, signal: AbortSignal): Promise<void> {
  const draft = await mkdtemp(`${directory}.draft-`);
  try {
    for (const program of job.set.programs) {
      const args = ["build", ...buildFlags(program), "-o", join(draft, "bin", program.name), program.package];
      await timed(job, program.name, () => runGo(job.go, { directory: job.set.directory, args }, signal));
    }
    if (job.set.extras !== undefined) await copyExtras(draft, job, signal);
    await writeFile(join(draft, goVersionFile), job.go.version);
    await rename(draft, directory);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function buildFlags(program: GoProgram): readonly string[] {
  const variables = Object.entries(program.variables).map(([name, value]) => ` -X ${name}=${value}`);
  return ["-trimpath", "-buildvcs=false", `-ldflags=-s -w${variables.join("")}`];
}

async function copyExtras(draft: string, job: Job, signal: AbortSignal): Promise<void> {
  const extras = job.set.extras;
  if (extras === undefined) return;
  const module = (
    await runGo(job.go, { directory: job.set.directory, args: ["list", "-m", "-f", "{{.Dir}}", extras.module] }, signal)
  ).trim();
  for (const folder of extras.folders) await copyWritable(join(module, folder.from), join(draft, folder.to));
  for (const script of extras.scripts) {
    const to = join(draft, "bin", basename(script));
    await copyFile(join(module, script), to);
    await chmod(to, 0o755);
  }
}

/** Copies a folder of the module cache, whose folders are read-only, into one that can be deleted. */
async function copyWritable(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (entry.isDirectory()) await copyWritable(join(from, entry.name), join(to, entry.name));
    else await copyFile(join(from, entry.name), join(to, entry.name)).then(() => chmod(join(to, entry.name), 0o644));
  }
}

async function timed<T>(job: Job, step: string, work: () => Promise<T>): Promise<T> {
  const started = Date.now();
  const say = (done: boolean) =>
    job.options.progress?.({ set: job.set.name, step, seconds: Math.round((Date.now() - started) / 1000), done });
  say(false);
  const ticker = setInterval(() => say(false), 1000);
  try {
    return await work();
  } finally {
    clearInterval(ticker);
    say(true);
  }
}

async function contentAddress(set: GoSet, goVersion: string): Promise<string> {
  const hash = createHash("sha256");
  const add = (...parts: readonly (string | Buffer)[]) => parts.forEach((part) => hash.update(`${Buffer.byteLength(part)}:`).update(part));
  add(
    goVersion,
    process.platform,
    process.arch,
    JSON.stringify([set.programs.map((program) => [program.name, program.package, buildFlags(program)]), set.extras ?? {}]),
  );
  for (const file of await sourceFiles(set.directory)) add(file, await readFile(join(set.directory, file)));
  return hash.digest("hex").slice(0, 16);
}

async function sourceFiles(directory: string): Promise<readonly string[]> {
  const files = await readdir(directory, { recursive: true });
  return files.filter((file) => file.endsWith(".go") || basename(file) === "go.mod" || basename(file) === "go.sum").sort();
}

async function requireGo(set: GoSet, go: GoToolchain): Promise<void> {
  const need = /^go (\S+)$/m.exec(await readFile(join(set.directory, "go.mod"), "utf8"))?.[1] ?? "1.0";
  if (isGoNewEnough(go.version, need)) return;
  throw new InputError(`Building ${set.name} with ${go.version}`, {
    code: "dev.old-go",
    path: "PATH",
    remedy: `install Go ${need} or newer (https://go.dev/dl)`,
  });
}

/** Deletes sets that nobody has used for a month. Each use renews a set, so other checkouts keep theirs. */
async function removeUnused(parent: string, keep: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    const used = await stat(path).catch(() => undefined);
    if (path !== keep && used !== undefined && Date.now() - used.mtimeMs > unusedAfterMs) await rm(path, { recursive: true, force: true });
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
