import ts from "typescript";
import { TEST } from "../core-files.ts";
import type { OwnCheck } from "./own-check.ts";
import { fileAt, nodes, type Project, type ProjectFile, place, tableRows } from "./project.ts";

const LIST = "docs/errors.md";
const CODE = /^[a-z][a-z-]*\.[a-zA-Z][\w-]*$/;
const test = new RegExp(TEST);

interface Use {
  readonly code: string;
  /** Class of the error the code is given to, where the code stands inside its constructor call. */
  readonly errorClass: string | undefined;
  readonly place: string;
}

/** Compares the codes errors are made with, in src/ and hack/, with the table of docs/errors.md, both ways. */
export const errorCodes: OwnCheck = {
  name: "error codes",
  mend: `give every code one row in ${LIST}: code | class | meaning | what to do`,
  find(project) {
    const used = usedCodes(project);
    const listed = new Map(
      tableRows(fileAt(project, LIST)?.text ?? "").map(([code = "", errorClass = ""]) => [code.replaceAll("`", ""), errorClass]),
    );
    const unlisted = used
      .filter(({ code }) => !listed.has(code))
      .map((use) => `${use.place} ${use.code} (${use.errorClass ?? "?"}) is not in ${LIST}`);
    const unused = [...listed.keys()]
      .filter((code) => !used.some((use) => use.code === code))
      .map((code) => `${LIST} lists ${code}, which nothing uses`);
    const misnamed = used.filter((use) => use.errorClass !== undefined && listed.get(use.code)?.includes(use.errorClass) === false);
    return {
      problems: [
        ...unlisted,
        ...unused,
        ...misnamed.map((use) => `${use.place} ${use.code} is a ${use.errorClass}, and ${LIST} says otherwise`),
      ],
    };
  },
};

function usedCodes(project: Project): readonly Use[] {
  return project.files.filter(({ path }) => /^(src|hack)\/.*\.ts$/.test(path) && !test.test(path)).flatMap((file) => [...codesOf(file)]);
}

function* codesOf(file: ProjectFile): Generator<Use> {
  for (const node of nodes(file)) {
    if (ts.isStringLiteralLike(node) && CODE.test(node.text) && isGivenAsCode(node)) {
      yield { code: node.text, errorClass: classAround(node), place: place(file, node) };
    }
  }
}

/** Whether a literal is (a branch of) the value of a property `code`, or an argument of a function called `…Error`. */
function isGivenAsCode(literal: ts.Node): boolean {
  const { parent } = literal;
  if (ts.isConditionalExpression(parent)) return parent.condition !== literal && isGivenAsCode(parent);
  if (ts.isParenthesizedExpression(parent)) return isGivenAsCode(parent);
  if (ts.isPropertyAssignment(parent)) return parent.initializer === literal && parent.name.getText() === "code";
  return ts.isCallExpression(parent) && parent.expression !== literal && parent.expression.getText().endsWith("Error");
}

function classAround(node: ts.Node): string | undefined {
  for (let at: ts.Node | undefined = node.parent; at !== undefined && !ts.isStatement(at); at = at.parent) {
    if (ts.isNewExpression(at) && at.expression.getText().endsWith("Error")) return at.expression.getText();
  }
  return undefined;
}
