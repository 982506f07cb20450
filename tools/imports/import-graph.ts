import { dirname, join, normalize } from "node:path/posix";

/** Which files of the checkout name which others. Paths are relative to the checkout, with forward slashes. */
export interface ImportGraph {
  /** These files and all that they lead to. */
  readonly reachedFrom: (paths: Iterable<string>) => ReadonlySet<string>;
  /** These files and all that lead to them. */
  readonly leadingTo: (paths: Iterable<string>) => ReadonlySet<string>;
  /** What a file names itself. */
  readonly namedBy: (path: string) => readonly string[];
}

/** Types are gone when a program runs. */
const ONLY_TYPES = /^(?:import|export) type [^"]*from "[^"]*";$/gm;
const LITERAL = /["'`]([^"'`\n]+)["'`]/g;

/**
 * Reads the graph from texts alone. An edge is every path in quotes that is there, seen from the file or from the checkout's top: that
 * takes in imports, `new URL("main.ts", import.meta.url)`, programs that tests start and pages that they read.
 */
export function importGraph(files: readonly { readonly path: string; readonly text: string }[]): ImportGraph {
  const known = new Set(files.map(({ path }) => path));
  const named = new Map(files.filter(({ path }) => /\.m?[tj]s$/.test(path)).map((file) => [file.path, pathsIn(file, known)]));
  const naming = new Map<string, string[]>();
  for (const [path, others] of named) for (const other of others) naming.set(other, [...(naming.get(other) ?? []), path]);
  return {
    reachedFrom: (paths) => closure(paths, named),
    leadingTo: (paths) => closure(paths, naming),
    namedBy: (path) => named.get(path) ?? [],
  };
}

function pathsIn({ path, text }: { readonly path: string; readonly text: string }, known: ReadonlySet<string>): readonly string[] {
  const found = new Set<string>();
  for (const [, literal = ""] of text.replaceAll(ONLY_TYPES, "").matchAll(LITERAL))
    for (const candidate of [normalize(join(dirname(path), literal)), normalize(literal)])
      if (candidate !== path && known.has(candidate)) found.add(candidate);
  return [...found];
}

function closure(paths: Iterable<string>, edges: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set(paths);
  // A set is walked in the order in which it grows.
  for (const path of reached) for (const next of edges.get(path) ?? []) reached.add(next);
  return reached;
}
