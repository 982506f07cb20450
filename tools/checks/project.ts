import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** One text file of the checkout. */
export interface ProjectFile {
  /** Relative to the checkout, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** The parsed file, without types; parsed on first use and kept. */
  tree(): ts.SourceFile;
}

export interface Project {
  readonly files: readonly ProjectFile[];
}

const ROOTS = ["src", "migrations", "hack", "e2e", "bench", "tools", "bin", "docs", "charts", ".ci", "."];
const NOT_OURS = new Set(["node_modules", ".argosy", "planted"]);
const TEXT = /(?:\.(?:ts|mjs|cjs|js|json|md|ya?ml|sh|tpl|go|mod|html|css|sql|txt)|(?:^|\/)(?:run|\.npmrc|\.gitignore|\.node-version))$/;

/** Reads every text file of the checkout that people write. */
export function readProject(root: string): Project {
  const paths = ROOTS.flatMap((folder) => [...walk(root, folder)]);
  return { files: paths.sort().map((path) => projectFile(path, readFileSync(join(root, path), "utf8"))) };
}

/** A project of given files, for showing that a check turns red. */
export function projectOf(files: Readonly<Record<string, string>>): Project {
  return { files: Object.entries(files).map(([path, text]) => projectFile(path, text)) };
}

export function fileAt(project: Project, path: string): ProjectFile | undefined {
  return project.files.find((file) => file.path === path);
}

/** Every node of a file, parents before children. */
export function* nodes(file: ProjectFile): Generator<ts.Node> {
  const open: ts.Node[] = [file.tree()];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    open.push(...node.getChildren(file.tree()).toReversed());
  }
}

const TITLED = /^(?:describe|it|test)(?:\.\w+)*$/;

/** The titles in a test file as they are written, quotes included. */
export function titlesOf(file: ProjectFile): readonly string[] {
  return [...nodes(file)].flatMap(titleOf);
}

/** The title where a node is a call like `it("…", …)`, `describe("…", …)` or `it.each(rows)("…", …)`. */
function titleOf(node: ts.Node): readonly string[] {
  if (!ts.isCallExpression(node)) return [];
  const callee = ts.isCallExpression(node.expression) ? node.expression.expression : node.expression;
  const [title] = node.arguments;
  const isText = title !== undefined && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title));
  return isText && TITLED.test(callee.getText()) ? [title.getText()] : [];
}

/** `path:line`, the form terminals and editors turn into a link. */
export function place(file: ProjectFile, node: ts.Node): string {
  return `${file.path}:${file.tree().getLineAndCharacterOfPosition(node.getStart(file.tree())).line + 1}`;
}

/** The cells of each row of the tables in a Markdown text, without their headings. */
export function tableRows(markdown: string): readonly (readonly string[])[] {
  const lines = markdown.split("\n").filter((line) => line.startsWith("|"));
  const isRule = (line: string | undefined): boolean => line !== undefined && /^[|\s:-]+$/.test(line);
  return lines
    .filter((line, index) => !isRule(line) && !isRule(lines[index + 1]))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

function projectFile(path: string, text: string): ProjectFile {
  let tree: ts.SourceFile | undefined;
  return {
    path,
    text,
    tree() {
      tree ??= ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
      return tree;
    },
  };
}

function* walk(root: string, folder: string): Generator<string> {
  for (const entry of entries(join(root, folder))) {
    const path = folder === "." ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (folder !== "." && !NOT_OURS.has(entry.name)) yield* walk(root, path);
    } else if (TEXT.test(path)) {
      yield path;
    }
  }
}

function entries(folder: string): ReturnType<typeof list> {
  try {
    return list(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw cause;
  }
}

function list(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}
