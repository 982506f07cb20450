import { dirname, join, normalize } from "node:path/posix";
import ts from "typescript";
import { nodes, type Project, type ProjectFile } from "../checks/project.ts";
import { TEST } from "../core-files.ts";
import { hasOurWords, retiredWordsIn } from "./retired-words.ts";

/** The middle, the ninth tenth and the largest of a row of sizes, in lines. */
export interface Spread {
  readonly count: number;
  readonly median: number;
  readonly p90: number;
  readonly max: number;
}

/** What a reader meets in the production files of `src/`, in numbers. Lists are sorted. */
export interface Measures {
  readonly files: Spread;
  /** All lines of these files. */
  readonly lines: number;
  /** Functions with a body in braces, those inside of others too. */
  readonly functions: Spread;
  readonly folders: number;
  /** Folders that hold one production file and no other folder with any. */
  readonly foldersOfOneFile: readonly string[];
  /** Files under 25 lines. */
  readonly smallFiles: readonly string[];
  /** Files of more than 400 lines. */
  readonly largeFiles: readonly string[];
  readonly controllersWithLoop: readonly string[];
  readonly controllersWithoutLoop: readonly string[];
  /** Literals that are spread into another one, where the fields could stand. */
  readonly spreadLiterals: number;
  /** How often each retired word is left, in everything that people write: code, tests, docs. */
  readonly retiredWords: Readonly<Record<string, number>>;
  /** Names that more than one file exports, with these files. */
  readonly sharedNames: Readonly<Record<string, readonly string[]>>;
  /** By module: how large it is, and the longest way from one of its files to another along imports. */
  readonly modules: Readonly<Record<string, ModuleMeasures>>;
}

export interface ModuleMeasures {
  readonly files: number;
  readonly lines: number;
  readonly longestImportChain: readonly string[];
}

const test = new RegExp(TEST);
/** What makes a controller a loop: a queue of keys, or a timer. */
const LOOP = /\b(?:createKeyedQueue|createResourceController|every|clock\.after)\b\s*(?:<[^>]*>)?\(/;
const SMALL = 25;
const LARGE = 400;

/** Measures a checkout from its text alone. */
export function measureCode(project: Project): Measures {
  const files = project.files.filter(({ path }) => path.startsWith("src/") && path.endsWith(".ts") && !test.test(path));
  const sizes = new Map(files.map((file) => [file.path, linesOf(file.text)]));
  const controllers = files.filter(({ path }) => path.endsWith("/controller.ts"));
  const paths = (some: readonly ProjectFile[]): readonly string[] => some.map(({ path }) => path).sort();
  return {
    files: spread([...sizes.values()]),
    lines: sum(sizes.values()),
    functions: spread(files.flatMap(functionSizes)),
    folders: new Set(files.map(({ path }) => dirname(path))).size,
    foldersOfOneFile: foldersOfOneFile(files),
    smallFiles: paths(files.filter(({ path }) => (sizes.get(path) ?? 0) < SMALL)),
    largeFiles: paths(files.filter(({ path }) => (sizes.get(path) ?? 0) > LARGE)),
    controllersWithLoop: paths(controllers.filter(({ text }) => LOOP.test(text))),
    controllersWithoutLoop: paths(controllers.filter(({ text }) => !LOOP.test(text))),
    spreadLiterals: sum(files.map(spreadLiterals)),
    retiredWords: countRetiredWords(project.files.filter(({ path }) => hasOurWords(path))),
    sharedNames: sharedNames(files),
    modules: measureModules(files, sizes),
  };
}

function linesOf(text: string): number {
  return text.trimEnd().split("\n").length;
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { count: sorted.length, median: at(0.5), p90: at(0.9), max: sorted.at(-1) ?? 0 };
}

function functionSizes(file: ProjectFile): readonly number[] {
  const lineOf = (position: number): number => file.tree().getLineAndCharacterOfPosition(position).line;
  return [...nodes(file)]
    .filter((node): node is ts.FunctionLikeDeclaration => ts.isFunctionLike(node) && "body" in node)
    .flatMap(({ body }) => (body !== undefined && ts.isBlock(body) ? [lineOf(body.getEnd()) - lineOf(body.getStart()) + 1] : []));
}

function spreadLiterals(file: ProjectFile): number {
  const isLiteral = (node: ts.Node): boolean => ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node);
  return [...nodes(file)].filter((node) => (ts.isSpreadAssignment(node) || ts.isSpreadElement(node)) && isLiteral(node.expression)).length;
}

function foldersOfOneFile(files: readonly ProjectFile[]): readonly string[] {
  const below = new Map<string, number>();
  for (const { path } of files)
    for (let folder = dirname(path); folder !== "src" && folder !== "."; folder = dirname(folder))
      below.set(folder, (below.get(folder) ?? 0) + 1);
  return [...below].flatMap(([folder, count]) => (count === 1 ? [folder] : [])).sort();
}

function countRetiredWords(files: readonly ProjectFile[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { text, path } of files)
    for (const { retired } of [...retiredWordsIn(text), ...retiredWordsIn(path)])
      counts.set(retired.word, (counts.get(retired.word) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

function sharedNames(files: readonly ProjectFile[]): Readonly<Record<string, readonly string[]>> {
  const places = new Map<string, Set<string>>();
  for (const file of files)
    for (const name of file.tree().statements.flatMap(exportedNames)) places.set(name, (places.get(name) ?? new Set()).add(file.path));
  const shared = [...places].filter(([, paths]) => paths.size > 1).map(([name, paths]) => [name, [...paths].sort()] as const);
  return Object.fromEntries(shared.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function exportedNames(statement: ts.Statement): readonly string[] {
  if (!ts.canHaveModifiers(statement)) return [];
  if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
  const { name } = statement as ts.DeclarationStatement;
  return name === undefined ? [] : [name.text];
}

function measureModules(files: readonly ProjectFile[], sizes: ReadonlyMap<string, number>): Readonly<Record<string, ModuleMeasures>> {
  const byModule = Map.groupBy(files, ({ path }) => (path.split("/").length > 2 ? (path.split("/")[1] ?? "") : "(top)"));
  const measured = [...byModule].map(([name, own]) => {
    const lines = sum(own.map(({ path }) => sizes.get(path) ?? 0));
    return [name, { files: own.length, lines, longestImportChain: longestChain(own) }] as const;
  });
  return Object.fromEntries(measured.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The longest way from a file to another along imports among these files. Imports have no cycles: the layers' check sees to that. */
function longestChain(files: readonly ProjectFile[]): readonly string[] {
  const imports = new Map(files.map((file) => [file.path, importedBy(file)]));
  const longest = new Map<string, readonly string[]>();
  const from = (path: string): readonly string[] => {
    const known = longest.get(path);
    if (known !== undefined) return known;
    longest.set(path, [path]);
    const ways = (imports.get(path) ?? []).filter((next) => imports.has(next)).map(from);
    const chain = [path, ...ways.reduce((best, way) => (way.length > best.length ? way : best), [] as readonly string[])];
    longest.set(path, chain);
    return chain;
  };
  return files.map(({ path }) => from(path)).reduce((best, way) => (way.length > best.length ? way : best), [] as readonly string[]);
}

function importedBy(file: ProjectFile): readonly string[] {
  return file.tree().statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return [];
    const { text } = statement.moduleSpecifier;
    return text.startsWith(".") ? [normalize(join(dirname(file.path), text))] : [];
  });
}
