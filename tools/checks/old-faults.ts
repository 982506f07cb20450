import type { OwnCheck } from "./own-check.ts";
import { fileAt, tableRows, titlesOf } from "./project.ts";

const LIST = "docs/compatibility.md";
/** Faults of the service whose API this is: fourteen of correctness, eight of security. */
const IDS: readonly string[] = [...ids("W", 14), ...ids("S", 8)];

/** Every fault of the service of before has one row in the list, with a file in which the title of a test begins with its id. */
export const oldFaults: OwnCheck = {
  name: "old faults",
  mend: `begin the title of the test that would fail with the old fault with its id, and name the test's file in ${LIST}`,
  find(project) {
    const rows = tableRows(fileAt(project, LIST)?.text ?? "");
    const problems = IDS.flatMap((id) => {
      const found = rows.filter(([cell]) => cell === id);
      if (found.length !== 1) return [`${LIST} has ${found.length} rows for ${id}`];
      const paths = [...(found[0]?.at(-1) ?? "").matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
      if (paths.length === 0) return [`${LIST}: the row of ${id} names no file`];
      return paths.flatMap((path) => {
        const file = fileAt(project, path);
        const isNamed = file !== undefined && titlesOf(file).some((title) => title.slice(1).startsWith(`${id}: `));
        return isNamed ? [] : [`${path}: no title of a test begins with "${id}: "`];
      });
    });
    return { problems };
  },
};

function ids(letter: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
}
