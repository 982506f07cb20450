import { InputError } from "../../src/domain/errors.ts";
import { runProgram } from "./run-program.ts";

/** What is released: a commit, never what lies in a working tree. */
export interface Commit {
  readonly hash: string;
  /** Of its committer, in seconds since the epoch: the time of everything that is made of it. */
  readonly epochSeconds: number;
  readonly files: readonly CommitFile[];
  /** Whether the working tree differs from it. */
  readonly isDirty: boolean;
  /** Address of the repository it came from, without credentials; `undefined` where it has no remote `origin`. */
  readonly origin: string | undefined;
  read(path: string): Promise<Buffer>;
  /** Writes an archive with these files. */
  archive(file: string, paths: readonly string[], signal: AbortSignal): Promise<void>;
}

export interface CommitFile {
  readonly path: string;
  /** As git writes it: 100644, 100755 or 120000. */
  readonly mode: string;
  readonly object: string;
}

/** Reads what a name means in the repository at `project`. Raises InputError when it names no commit. */
export async function readCommit(project: string, name: string, signal: AbortSignal): Promise<Commit> {
  const git = (...args: readonly string[]): Promise<Buffer> => runProgram("git", args, { cwd: project }, signal);
  const found = await git("log", "-1", "--format=%H %ct", "--end-of-options", name, "--").catch((cause: unknown) => {
    signal.throwIfAborted();
    throw noCommit(name, cause);
  });
  const [hash = "", seconds = ""] = found.toString("utf8").trim().split(" ");
  const listed = (await git("ls-tree", "-r", "-z", hash))
    .toString("utf8")
    .split("\0")
    .filter((line) => line !== "");
  const status = await git("status", "--porcelain");
  const origin = await git("remote", "get-url", "origin").catch(() => Buffer.alloc(0));
  return {
    hash,
    epochSeconds: Number(seconds),
    files: listed.map(parseFile),
    isDirty: status.length > 0,
    origin: withoutCredentials(origin.toString("utf8").trim()),
    read: (path) => git("cat-file", "blob", `${hash}:${path}`),
    archive: async (file, paths, until) => {
      const args = ["archive", "--format=tar", "--output", file, hash, "--", ...paths];
      await runProgram("git", args, { cwd: project }, until);
    },
  };
}

/** `mode blob object<TAB>path` */
function parseFile(line: string): CommitFile {
  const tab = line.indexOf("\t");
  const [mode = "", , object = ""] = line.slice(0, tab).split(" ");
  return { path: line.slice(tab + 1), mode, object };
}

/** An address of a repository as it may be published. */
export function withoutCredentials(address: string): string | undefined {
  if (address === "") return undefined;
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.protocol === "file:") return undefined;
  url.username = "";
  url.password = "";
  return url.href;
}

function noCommit(name: string, cause: unknown): InputError {
  return new InputError(`${name} names no commit`, {
    code: "release.no-commit",
    path: "--commit",
    remedy: "Give a commit, a tag or a branch",
    cause,
  });
}
