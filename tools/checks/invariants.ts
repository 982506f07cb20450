import ts from "typescript";
import type { OwnCheck } from "./own-check.ts";
import { fileAt, nodes, type Project, tableRows } from "./project.ts";

const LIST = "docs/invariants.md";
const TITLED = /^(?:describe|it|test)(?:\.\w+)*$/;

/** Every invariant that the list does not call planned is named, by its id, in the title of at least one test. */
export const invariants: OwnCheck = {
  name: "invariants",
  mend: `name the invariant in the title of the test that would fail without it, or call it planned in ${LIST}`,
  find(project) {
    const rows = tableRows(fileAt(project, LIST)?.text ?? "").map(([id = "", , enforcement = ""]) => ({
      id,
      isPlanned: /^planned/i.test(enforcement),
    }));
    const titles = titlesOf(project);
    const isNamed = (id: string): boolean => titles.some((title) => new RegExp(`\\b${id}\\b`).test(title));
    const problems = rows.filter(({ id, isPlanned }) => !isPlanned && !isNamed(id)).map(({ id }) => `${LIST}: no test names ${id}`);
    const ready = rows
      .filter(({ id, isPlanned }) => isPlanned && isNamed(id))
      .map(({ id }) => `${LIST}: ${id} is called planned, and a test names it`);
    return { problems: rows.length === 0 ? [`${LIST} lists no invariant`] : problems, notes: ready };
  },
};

function titlesOf(project: Project): readonly string[] {
  return project.files.filter(({ path }) => path.endsWith(".test.ts")).flatMap((file) => [...nodes(file)].flatMap(titleOf));
}

/** The title where a node is a call like `it("…", …)`, `describe("…", …)` or `it.each(rows)("…", …)`. */
function titleOf(node: ts.Node): readonly string[] {
  if (!ts.isCallExpression(node)) return [];
  const callee = ts.isCallExpression(node.expression) ? node.expression.expression : node.expression;
  const [title] = node.arguments;
  const isText = title !== undefined && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title));
  return isText && TITLED.test(callee.getText()) ? [title.getText()] : [];
}
