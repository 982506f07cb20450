import ts from "typescript";
import { TEST } from "../core-files.ts";
import type { OwnCheck } from "./own-check.ts";
import { fileAt, nodes, type Project, type ProjectFile, place, tableRows } from "./project.ts";

const LIST = "docs/errors.md";
const CODE = /^[a-z][a-z-]*\.[a-zA-Z][\w-]*$/;
/** One way to write them, so that nobody has to look up which. */
const KEBAB = /^[a-z]+(-[a-z]+)*\.[a-z0-9]+(-[a-z0-9]+)*$/;
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
    const odd = used.filter(({ code }) => !KEBAB.test(code)).map((use) => `${use.place} ${use.code} is not written like-this.like-this`);
    const unmade = comparedCodes(project)
      .filter(({ code }) => !listed.has(code))
      .map((use) => `${use.place} compares with ${use.code}, which no error has`);
    return {
      problems: [
        ...unlisted,
        ...unmade,
        ...odd,
        ...unused,
        ...misnamed.map((use) => `${use.place} ${use.code} is a ${use.errorClass}, and ${LIST} says otherwise`),
      ],
    };
  },
};

const usedCodes = (project: Project): readonly Use[] => codesWhere(project, isGivenAsCode);

/** Codes that are asked for: one that was renamed where it is made would never be met again. */
const comparedCodes = (project: Project): readonly Use[] => codesWhere(project, isComparedWithCode);

function codesWhere(project: Project, holds: (literal: ts.Node) => boolean): readonly Use[] {
  const files = project.files.filter(({ path }) => /^(src|hack)\/.*\.ts$/.test(path) && !test.test(path));
  return files.flatMap((file) => [...codesOf(file, holds)]);
}

function* codesOf(file: ProjectFile, holds: (literal: ts.Node) => boolean): Generator<Use> {
  for (const node of nodes(file)) {
    if (ts.isStringLiteralLike(node) && CODE.test(node.text) && holds(node)) {
      yield { code: node.text, errorClass: classAround(node), place: place(file, node) };
    }
  }
}

/** Whether a literal is compared with something called `code`, as a variable or a property. */
function isComparedWithCode(literal: ts.Node): boolean {
  const { parent } = literal;
  if (!ts.isBinaryExpression(parent) || !/^[!=]==$/.test(parent.operatorToken.getText())) return false;
  return /\bcode$/.test((parent.left === literal ? parent.right : parent.left).getText());
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
