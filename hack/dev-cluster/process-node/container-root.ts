import { lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { VolumeMount } from "./pod.ts";

/**
 * Builds the folder that stands for a container's `/`. It is new with every start, as a container's file system is,
 * and has a link for each mount. A mount below another one goes into the outer volume, outermost first.
 */
export function prepareRoot(root: string, mounts: readonly VolumeMount[], volume: (name: string) => string): void {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  const outermostFirst = [...mounts].sort((a, b) => a.mountPath.length - b.mountPath.length);
  for (const mount of outermostFirst) {
    const at = join(root, mount.mountPath);
    const target = join(volume(mount.name), mount.subPath ?? "");
    mkdirSync(dirname(at), { recursive: true });
    if (mount.subPath === undefined) mkdirSync(target, { recursive: true });
    removeLink(at);
    symlinkSync(target, at);
  }
}

/** Creates folders that the image would have, where there is no mount. */
export function addFolders(root: string, folders: Readonly<Record<string, number>>): void {
  for (const [path, mode] of Object.entries(folders)) mkdirSync(join(root, path), { recursive: true, mode });
}

export interface VolumeContent {
  /** Path → content. */
  readonly files: Readonly<Record<string, string>>;
  /** Paths that the program itself writes. */
  readonly others: readonly string[];
}

/** Makes a volume's files exactly `content`. A file with the right content is left alone; `written` remembers it. */
export function writeVolume(directory: string, content: VolumeContent, written: Map<string, string>): void {
  mkdirSync(directory, { recursive: true });
  const wanted = new Set([...Object.keys(content.files), ...content.others]);
  for (const [path, text] of Object.entries(content.files)) {
    const at = join(directory, path);
    if (written.get(at) === text) continue;
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, text, { mode: 0o644 });
    written.set(at, text);
  }
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const at = join(entry.parentPath, entry.name);
    if (entry.isFile() && !wanted.has(at.slice(directory.length + 1))) {
      rmSync(at, { force: true });
      written.delete(at);
    }
  }
}

function removeLink(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) rmSync(path);
  else if (found !== undefined) rmSync(path, { recursive: true });
}
