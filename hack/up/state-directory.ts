import { accessSync, constants, mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { InputError } from "../../src/domain/errors.ts";

/** The one directory that holds everything a started fleet needs and leaves. */
export interface StateDirectory {
  readonly root: string;
  path(...segments: string[]): string;
  write(name: string, text: string, mode?: number): void;
  read(name: string): string | undefined;
  remove(name: string): void;
}

/** Less than this is not enough for a database, a cluster and its logs, in bytes. */
const LEAST_FREE_BYTES = 500 * 1024 * 1024;

/** Opens the directory, creating it; throws `InputError` when it cannot be written or the disk is full. */
export function openStateDirectory(directory: string): StateDirectory {
  const root = resolve(directory);
  const refuse = (what: string, remedy: string, cause?: unknown): InputError =>
    new InputError(`${root} ${what}`, { code: "up.state", path: "--state", remedy, ...(cause === undefined ? {} : { cause }) });
  try {
    mkdirSync(join(root, "bin"), { recursive: true });
    mkdirSync(join(root, "log"), { recursive: true });
    accessSync(root, constants.W_OK | constants.X_OK);
    writeFileSync(join(root, ".writable"), "");
  } catch (cause) {
    throw refuse("cannot be written", "Name a directory that you may write with --state DIR", cause);
  }
  const { bavail, bsize } = statfsSync(root);
  if (bavail * bsize < LEAST_FREE_BYTES) {
    throw refuse(`has ${Math.round((bavail * bsize) / 1048576)} MiB left`, "Free 500 MiB or name another directory with --state DIR");
  }
  const path = (...segments: string[]): string => join(root, ...segments);
  return {
    root,
    path,
    write: (name, text, mode = 0o644) => writeFileSync(path(name), text, { mode }),
    read: (name) => readIfThere(path(name)),
    remove: (name) => rmSync(path(name), { force: true }),
  };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
