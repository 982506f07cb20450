import type { OwnCheck } from "./own-check.ts";
import { fileAt, tableRows, titlesOf } from "./project.ts";

const LIST = "docs/invariants.md";

/** Every invariant that the list does not call planned is named, by its id, in the title of at least one test. */
export const invariants: OwnCheck = {
  name: "invariants",
  mend: `name the invariant in the title of the test that would fail without it, or call it planned in ${LIST}`,
  find(project) {
    const rows = tableRows(fileAt(project, LIST)?.text ?? "").map(([id = "", , enforcement = ""]) => ({
      id,
      isPlanned: /^planned/i.test(enforcement),
    }));
    const titles = project.files.filter(({ path }) => path.endsWith(".test.ts")).flatMap(titlesOf);
    const isNamed = (id: string): boolean => titles.some((title) => new RegExp(`\\b${id}\\b`).test(title));
    const problems = rows.filter(({ id, isPlanned }) => !isPlanned && !isNamed(id)).map(({ id }) => `${LIST}: no test names ${id}`);
    const ready = rows
      .filter(({ id, isPlanned }) => isPlanned && isNamed(id))
      .map(({ id }) => `${LIST}: ${id} is called planned, and a test names it`);
    return { problems: rows.length === 0 ? [`${LIST} lists no invariant`] : problems, notes: ready };
  },
};
