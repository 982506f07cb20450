import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";

const FOLDERS = ["src", "migrations", "hack", "e2e", "bench", "tools", "bin", "docs"];
const NOT_OURS = new Set(["node_modules", ".argosy", "planted"]);
/** Of the top only these: `.cache/`, `.git/` and others are written while tests run. */
const AT_TOP = /\.(?:ts|mjs|json)$/;
/** Editors write a file in several steps, and a branch that is checked out writes many. */
const SETTLE_MS = 300;

/**
 * Calls back when files below `root` have been written and none has for a moment; until the signal. Each folder is watched by itself: what
 * Node.js does for a tree on Linux loses sight of a file that another one is put in the place of, which is how most editors save.
 */
export function onChange(root: string, call: () => void, signal: AbortSignal): void {
  const watchers = new Map<string, FSWatcher>();
  let settling: NodeJS.Timeout | undefined;
  const heard = (): void => {
    clearTimeout(settling);
    settling = setTimeout(() => {
      watchAll();
      call();
    }, SETTLE_MS);
  };
  const watchOne = (folder: string): void => {
    const watcher = watch(folder, (_event, name) => {
      if (folder !== root || name === null || AT_TOP.test(name)) heard();
    });
    watchers.set(folder, watcher.on("error", heard));
  };
  const watchAll = (): void => {
    const present = new Set([root, ...FOLDERS.flatMap((folder) => foldersIn(join(root, folder)))]);
    for (const folder of present) if (!watchers.has(folder)) watchOne(folder);
    for (const [folder, watcher] of watchers) {
      if (present.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
  };
  watchAll();
  signal.addEventListener("abort", () => {
    clearTimeout(settling);
    for (const watcher of watchers.values()) watcher.close();
  });
}

/** A folder and those in it; none where it is not there. */
function foldersIn(folder: string): readonly string[] {
  try {
    const within = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !NOT_OURS.has(entry.name));
    return [folder, ...within.flatMap(({ name }) => foldersIn(join(folder, name)))];
  } catch {
    return [];
  }
}
