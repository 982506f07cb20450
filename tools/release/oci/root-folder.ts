import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Layer } from "./image-archive.ts";
import type { TarEntry } from "./tar.ts";

/** The layers of the image from the one that changes least, each with the paths it holds; what no other takes is the last one's. */
const LAYERS: readonly { readonly name: string; readonly holds: RegExp }[] = [
  { name: "Debian packages", holds: /^(?!app\/|usr\/bin\/(?:node|argosy)$|usr\/share\/doc\/node\/)/ },
  { name: "Node.js", holds: /^usr\// },
  { name: "npm packages", holds: /^app\/node_modules\// },
  { name: "Argosy", holds: /^/ },
];

/** Reads a folder and everything below it, sorted. Devices, sockets and owners are no part of it. */
export async function readFolder(root: string): Promise<readonly TarEntry[]> {
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = found.map((entry) => join(entry.parentPath, entry.name)).sort();
  const entries: TarEntry[] = [];
  for (const path of paths) {
    const entry = await entryAt(path, relative(root, path).split(sep).join("/"));
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

async function entryAt(file: string, path: string): Promise<TarEntry | undefined> {
  const stat = await lstat(file);
  const mode = stat.mode & 0o7777;
  if (stat.isSymbolicLink()) return { kind: "link", path, target: await readlink(file) };
  if (stat.isDirectory()) return { kind: "directory", path, mode };
  return stat.isFile() ? { kind: "file", path, mode, content: await readFile(file) } : undefined;
}

/** Divides an image's root into layers. Each has the folders its files stand in, with their modes; an empty folder is the first layer's that holds it. */
export function divideIntoLayers(entries: readonly TarEntry[]): readonly Layer[] {
  const folders = new Map(entries.filter(({ kind }) => kind === "directory").map((entry) => [entry.path, entry]));
  const full = new Set(entries.flatMap(({ path }) => parentsOf(path)));
  const own = new Map(LAYERS.map(({ name }) => [name, [] as TarEntry[]]));
  for (const entry of entries) if (!full.has(entry.path)) own.get(layerOf(entry))?.push(entry);
  return [...own]
    .filter(([, held]) => held.length > 0)
    .map(([name, held]) => {
      const parents = new Set(held.flatMap(({ path }) => parentsOf(path)));
      return { name, entries: [...[...parents].flatMap((path) => folders.get(path) ?? []), ...held] };
    });
}

function layerOf({ path }: TarEntry): string {
  return LAYERS.find(({ holds }) => holds.test(path))?.name ?? "";
}

function parentsOf(path: string): readonly string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
