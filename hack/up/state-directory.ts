import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { InputError } from "../../src/domain/errors.ts";

/** The directory that holds everything a started fleet needs and leaves. */
export interface StateDirectory {
  readonly root: string;
  path(...segments: string[]): string;
  write(name: string, text: string, mode?: number): void;
  read(name: string): string | undefined;
  remove(name: string): void;
}

/** Less than this is not enough for a database, a cluster and its logs, in bytes. */
const LEAST_FREE_BYTES = 500 * 1024 * 1024;

const ENOUGH = "Free 500 MiB or name another directory with --state DIR";

/** Opens the directory, and creates it if needed. Throws `InputError` when it cannot be written or the disk is full. */
export function openStateDirectory(directory: string): StateDirectory {
  const root = resolve(directory);
  const refuse = (what: string, remedy: string, cause?: unknown): InputError =>
    new InputError(`${root} ${what}`, { code: "up.state", path: "--state", remedy, ...(cause === undefined ? {} : { cause }) });
  try {
    makeDirectory(join(root, "bin"));
    makeDirectory(join(root, "log"));
    accessSync(root, constants.W_OK | constants.X_OK);
    // Under a unique name, because another start may do the same at this moment.
    const trial = join(root, `.writable.${process.pid}`);
    writeFileSync(trial, "");
    rmSync(trial);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? "";
    if (reason === "ENOSPC") throw refuse("is on a full disk", ENOUGH, cause);
    throw refuse(`cannot be written (${reason})`, "Name a directory that you may write with --state DIR", cause);
  }
  const { bavail, bsize } = statfsSync(root);
  if (bavail * bsize < LEAST_FREE_BYTES) {
    throw refuse(`has ${Math.round((bavail * bsize) / 1048576)} MiB left`, ENOUGH);
  }
  return stateDirectory(root);
}

/** The same error, or what to do about it if the disk has become full. */
export function fullDiskError(state: StateDirectory, error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOSPC") continue;
    return new InputError(`${state.root} is on a full disk`, { code: "up.state", path: "--state", remedy: ENOUGH, cause: error });
  }
  return error;
}

/** The directory as it is, without creating or checking anything. `undefined`: it does not exist. */
export function findStateDirectory(directory: string): StateDirectory | undefined {
  const root = resolve(directory);
  return existsSync(root) ? stateDirectory(root) : undefined;
}

function stateDirectory(root: string): StateDirectory {
  const path = (...segments: string[]): string => join(root, ...segments);
  return {
    root,
    path,
    write: (name, text, mode = 0o644) => writeFileSync(path(name), text, { mode }),
    read: (name) => readIfThere(path(name)),
    remove: (name) => rmSync(path(name), { force: true }),
  };
}

/**
 * Creates a directory and its parents. Node's own function never returns below a directory like /proc, which reports
 * that a name in it does not exist although the directory does.
 */
function makeDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return;
  makeDirectory(dirname(directory));
  try {
    mkdirSync(directory);
  } catch (error) {
    // Another start may create the same directory.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !statSync(directory).isDirectory()) throw error;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
