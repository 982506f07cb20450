import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const MAIN = "main";

export interface Changes {
  /** What the work tree is compared with, for people. */
  readonly since: string;
  /** Relative to the checkout, sorted; deleted files too. */
  readonly paths: readonly string[];
}

/**
 * What differs from where this branch left `main`, committed or not, with files that git does not know yet; on `main` itself from
 * its last commit.
 */
export async function findChanges(): Promise<Changes> {
  const head = await git("rev-parse", "--short", "HEAD");
  const fork = await git("merge-base", MAIN, "HEAD").catch(() => head);
  const [changed, added] = await Promise.all([
    git("diff", "--name-only", "--no-renames", "-z", fork),
    git("ls-files", "--others", "--exclude-standard", "-z"),
  ]);
  const paths = new Set(`${changed}\0${added}`.split("\0").filter((path) => path !== ""));
  return {
    since: fork.startsWith(head) ? `the last commit (${head})` : `${MAIN} (${fork.slice(0, head.length)})`,
    paths: [...paths].sort(),
  };
}

/** @throws {NoGitError} without git, or outside of a checkout. */
async function git(...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run("git", [...args], { maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim();
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (isMissing || /not a git repository/.test(String(cause))) throw new NoGitError(isMissing, { cause });
    throw cause;
  }
}

/** Nobody can say what has changed. */
export class NoGitError extends Error {
  constructor(isMissing: boolean, options: ErrorOptions) {
    super(
      `${isMissing ? "git is not installed" : "this is no checkout of git"}, so nobody can say what has changed. \`npm test\` needs no git.`,
      options,
    );
    this.name = "NoGitError";
  }
}
