import ts from "typescript";
import { isCoreFile } from "../core-files.ts";
import type { OwnCheck } from "./own-check.ts";
import { nodes, type ProjectFile, place } from "./project.ts";

/** What would make a function's answer depend on when, where or how often it is asked. */
const WORLD = new Set(
  ["Date", "process", "console", "performance", "crypto", "fetch", "globalThis"].concat([
    "setTimeout",
    "setInterval",
    "setImmediate",
    "queueMicrotask",
  ]),
);
/** Writes a given instant as text, which is pure; nothing else in core may name `Date`. */
const KNOWS_DATE = "src/domain/clock.ts";

/** Core files are pure: no waiting, no clock, no chance, no output, and nothing thrown but a defect. */
export const corePurity: OwnCheck = {
  name: "core purity",
  mend: "let the controller wait, read the clock or draw, and hand core the value; return what a caller can expect to go wrong",
  find(project) {
    return { problems: project.files.filter(({ path }) => isCoreFile(path)).flatMap((file) => [...impurities(file)]) };
  },
};

function* impurities(file: ProjectFile): Generator<string> {
  const own = namesDeclared(file);
  for (const node of nodes(file)) {
    const what = waits(node) ?? throws(node) ?? reaches(node, own, file.path);
    if (what !== undefined) yield `${place(file, node)} ${what}`;
  }
}

function waits(node: ts.Node): string | undefined {
  if (node.kind === ts.SyntaxKind.AsyncKeyword) return "is asynchronous";
  if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined)) return "waits";
  return undefined;
}

function throws(node: ts.Node): string | undefined {
  if (!ts.isThrowStatement(node)) return undefined;
  const isDefect = ts.isNewExpression(node.expression) && node.expression.expression.getText() === "DefectError";
  return isDefect ? undefined : "throws something other than a DefectError";
}

function reaches(node: ts.Node, own: ReadonlySet<string>, path: string): string | undefined {
  if (ts.isPropertyAccessExpression(node) && node.getText() === "Math.random") return "draws with Math.random";
  if (!ts.isIdentifier(node) || !WORLD.has(node.text) || own.has(node.text) || !isUsed(node)) return undefined;
  return node.text === "Date" && path === KNOWS_DATE ? undefined : `reaches for ${node.text}`;
}

/** Whether a name is called, constructed or read from here, rather than being a key, a property or a type. */
function isUsed(name: ts.Identifier): boolean {
  const { parent } = name;
  if (ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent)) return parent.expression === name;
  return (ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.expression === name;
}

function namesDeclared(file: ProjectFile): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of nodes(file)) {
    const declares = ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node) || ts.isFunctionDeclaration(node);
    if (declares && node.name !== undefined && ts.isIdentifier(node.name)) names.add(node.name.text);
  }
  return names;
}
