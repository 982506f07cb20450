import { sha256 } from "../../domain/hash.ts";
import type { World } from "../world/world.ts";

/**
 * One repository with a folder for each deployment; each file is one object, by name, with its content. Folders have commits of their
 * own, as repositories do: a push to one does not change the revision of another.
 */
export interface Git {
  readonly url: string;
  /** What the folder holds, or held with one of its commits; nothing where there is no such folder. */
  files(path: string, revision?: string): Readonly<Record<string, string>>;
  /** The last commit that changed the folder. */
  head(path: string): string;
  push(path: string, files: Readonly<Record<string, string>>): void;
  /** Calls the listener with each push, as a webhook does. The returned function ends that. */
  onPush(listener: (path: string) => void): () => void;
}

export function createGit(world: World): Git {
  const folders = new Map<string, Readonly<Record<string, string>>>();
  const heads = new Map<string, string>();
  const past = new Map<string, Readonly<Record<string, string>>>();
  const listeners = new Set<(path: string) => void>();
  let commits = 0;
  const head = (path: string): string => heads.get(path) ?? "";
  return {
    url: "https://git.example/team/apps",
    files: (path, revision = "") => past.get(`${path}@${revision}`) ?? folders.get(path) ?? {},
    head,
    push(path, files) {
      commits += 1;
      folders.set(path, files);
      heads.set(path, sha256(`commit ${commits}`).slice(0, 40));
      past.set(`${path}@${head(path)}`, files);
      world.record({ kind: "push", path, files: Object.keys(files).sort(), revision: head(path) });
      for (const listener of listeners) listener(path);
    },
    onPush(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
