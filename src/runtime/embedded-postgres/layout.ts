import { chmod, mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InputError } from "../../domain/errors.ts";
import type { RunAs } from "./run-as.ts";

/** Where the server's things are, all under `postgres/` of the state directory. */
export interface Layout {
  readonly root: string;
  /** The cluster itself; owned by the user the server runs as, 0700. */
  readonly dataDir: string;
  /** Our copy of the superuser's password, 0600. */
  readonly passwordFile: string;
  readonly serverLog: string;
  readonly lockFile: string;
  /** One file for each live process that uses the server. */
  readonly holdersDir: string;
}

/** Creates the directories and names the paths. Raises InputError when the state directory cannot be written. */
export async function prepareLayout(stateDir: string): Promise<Layout> {
  try {
    // 0711: the server's user must be able to walk through to its own directory, and may not list what else is here.
    await mkdir(join(stateDir, "postgres", "holders"), { recursive: true, mode: 0o711 });
  } catch (cause) {
    throw stateDirError(`creating the state directory ${stateDir}`, "postgres.state-dir", cause);
  }
  const root = join(await realpath(stateDir), "postgres");
  return {
    root,
    dataDir: join(root, "data"),
    passwordFile: join(root, "password"),
    serverLog: join(root, "server.log"),
    lockFile: join(root, "lock"),
    holdersDir: join(root, "holders"),
  };
}

/**
 * Makes sure that the server's user can walk to the data directory. Gives search permission (not more) on the state directory
 * and on our part of it, which are ours; the directories above are not, so a closed one there is an InputError.
 */
export async function openWay(layout: Layout, runAs: RunAs | undefined): Promise<void> {
  if (runAs === undefined) return;
  for (let path = layout.root, depth = 0; path !== dirname(path); path = dirname(path), depth += 1) {
    const { mode, uid, gid } = await stat(path);
    const searchable = uid === runAs.uid ? mode & 0o100 : gid === runAs.gid ? mode & 0o010 : mode & 0o001;
    if (searchable !== 0) continue;
    if (depth < 2) await chmod(path, (mode & 0o7777) | 0o011);
    else {
      throw new InputError(`reaching ${layout.root} as user ${runAs.name}: ${path} is closed to it`, {
        code: "postgres.way",
        path: "stateDir",
        remedy: `Choose a state directory outside of ${path} (for example /var/lib/argosy), set DATABASE_URL, or start Argosy as an ordinary user`,
        context: { path, uid: runAs.uid },
      });
    }
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  EROFS: "The file system is read-only: choose a state directory on one that can be written",
  ENOSPC: "The file system is full: free space or choose a state directory elsewhere",
  EDQUOT: "The disk quota is used up: free space or choose a state directory elsewhere",
  EACCES: "Choose a state directory that this user may write",
  EPERM: "Choose a state directory that this user may write, on a file system that allows changes of owner",
  ENOTDIR: "Part of the path is a file: choose another state directory",
  EEXIST: "Part of the path is a file: choose another state directory",
};

/** A failure of the file system as an InputError on the state directory that says what can be done about it. */
export function stateDirError(doing: string, code: `postgres.${string}`, cause: unknown): InputError {
  const systemCode = (cause as NodeJS.ErrnoException | undefined)?.code ?? "";
  const remedy = REMEDIES[systemCode] ?? "Choose another state directory, or set DATABASE_URL";
  return new InputError(doing, { code, path: "stateDir", remedy, cause });
}
