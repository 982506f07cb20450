import ts from "typescript";
import type { OwnCheck } from "./own-check.ts";
import { nodes, type ProjectFile, place } from "./project.ts";

/** Tests wait for a level with a deadline; a fixed time is too short on a busy machine and too long on every other. */
export const sleeps: OwnCheck = {
  name: "sleeping tests",
  mend: "wait for what should become true (`vi.waitFor`, or a promise the code resolves), or move the clock of the test",
  find(project) {
    return { problems: project.files.filter(({ path }) => path.endsWith(".test.ts")).flatMap((file) => [...sleepsIn(file)]) };
  },
};

function* sleepsIn(file: ProjectFile): Generator<string> {
  const timers = importedTimers(file);
  for (const node of nodes(file)) {
    if (!ts.isCallExpression(node)) continue;
    const name = node.expression.getText();
    if (timers.has(name) || sleepsForReal(node, name) || resolvesAPromise(node, name)) yield `${place(file, node)} sleeps`;
  }
}

/** A function called `sleep`, unless it is given a clock that only moves when the test says so. */
function sleepsForReal(call: ts.CallExpression, name: string): boolean {
  const clock = call.arguments[0]?.getText() ?? "";
  return /(?:^|\.)sleep$/.test(name) && (!/clock$/i.test(clock) || clock === "systemClock");
}

/** Local names of the timers the file imports from node:timers/promises; `setImmediate` only lets others go first. */
function importedTimers(file: ProjectFile): ReadonlySet<string> {
  const imports = file.tree().statements.filter(ts.isImportDeclaration);
  const timers = imports.filter(
    ({ moduleSpecifier }) => ts.isStringLiteral(moduleSpecifier) && /^(node:)?timers\/promises$/.test(moduleSpecifier.text),
  );
  return new Set(
    timers.flatMap(({ importClause }) => (importClause?.namedBindings !== undefined ? [...localNames(importClause.namedBindings)] : [])),
  );
}

function localNames(bindings: ts.NamedImportBindings): readonly string[] {
  return ts.isNamedImports(bindings)
    ? bindings.elements.filter(({ name, propertyName }) => (propertyName ?? name).text !== "setImmediate").map(({ name }) => name.text)
    : [`${bindings.name.text}.setTimeout`];
}

/** `new Promise((resolve) => setTimeout(resolve, 100))`, the sleep that calls itself something else. */
function resolvesAPromise(call: ts.CallExpression, name: string): boolean {
  if (!/^(?:globalThis\.)?setTimeout$/.test(name)) return false;
  const callback = call.parent.parent;
  const executor = ts.isArrowFunction(call.parent) ? call.parent : ts.isExpressionStatement(call.parent) ? callback.parent : undefined;
  const made = executor?.parent;
  return made !== undefined && ts.isNewExpression(made) && made.expression.getText() === "Promise";
}
