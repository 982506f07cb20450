import { createHash } from "node:crypto";
import { lstat, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { isImageInput } from "./build-image.ts";
import { type Commit, type CommitFile, readCommit } from "./commit.ts";
import { runProgram } from "./run-program.ts";

/**
 * Reads the files of the image as they lie in a checkout, committed or not, but for those that git ignores: as the commit that they would
 * become. A checkout that was not changed has the same files as its commit, so their image is built once. Tests are for it; a release is made of a
 * commit.
 */
export async function readWorkingTree(project: string, signal: AbortSignal): Promise<Commit> {
  const head = await readCommit(project, "HEAD", signal);
  const listed = await runProgram("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], { cwd: project }, signal);
  const paths = new Set(listed.toString("utf8").split("\0").filter(isImageInput));
  const files: CommitFile[] = [];
  for (const path of [...paths].sort(byBytes)) {
    const file = await readEntry(project, path);
    if (file !== undefined) files.push(file);
  }
  return {
    ...head,
    files,
    read: (path) => readFile(join(project, path)),
    archive: async (file, wanted, until) => {
      // The modes that `git archive` gives files.
      const options = ["--create", "--mode=ug=rwX,o=rX", "--file", file, "--directory", project];
      await runProgram("tar", [...options, "--", ...wanted], {}, until);
    },
  };
}

/** `undefined` for a file that was deleted and is still in git's index. */
async function readEntry(project: string, path: string): Promise<CommitFile | undefined> {
  const at = join(project, path);
  const found = await lstat(at).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.isSymbolicLink()) return { path, mode: "120000", object: objectName(Buffer.from(await readlink(at))) };
  return { path, mode: (found.mode & 0o100) === 0 ? "100644" : "100755", object: objectName(await readFile(at)) };
}

/** As git calls a file of this content. */
function objectName(content: Buffer): string {
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}

/** Git's order of paths. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
