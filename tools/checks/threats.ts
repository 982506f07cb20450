import type { OwnCheck } from "./own-check.ts";
import { fileAt, tableRows, titlesOf } from "./project.ts";

const LIST = "docs/threat-model.md";
/** A test as the list names it: its file, and words of its title in quotation marks. */
const TEST = /`([^`]+\.test\.ts)`: "([^"]+)"/g;

/** Every threat of the list names a test that would fail if nothing stopped it, or says that the risk is accepted. */
export const threats: OwnCheck = {
  name: "threats",
  mend: `name the test that would fail, as \`its/file.test.ts\`: "words of its title", in the last cell of the row, or say "accepted" there (${LIST})`,
  find(project) {
    const rows = tableRows(fileAt(project, LIST)?.text ?? "").filter(([id = ""]) => /^[A-Z][0-9]+$/.test(id));
    const problems = rows.flatMap((row) => {
      const [id, proof] = [row[0] ?? "", row.at(-1) ?? ""];
      const named = [...proof.matchAll(TEST)].map(([, path = "", title = ""]) => ({ path, title }));
      if (named.length === 0) return /\baccepted\b/i.test(proof) ? [] : [`${LIST}: ${id} names no test and is not accepted`];
      return named.flatMap(({ path, title }) => {
        const file = fileAt(project, path);
        const isThere = file !== undefined && titlesOf(file).some((one) => one.includes(title));
        return isThere ? [] : [`${LIST}: ${id} names the test "${title}", which ${path} does not have`];
      });
    });
    const ids = rows.map(([id = ""]) => id);
    const twice = ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${LIST}: ${id} is given twice`);
    return { problems: rows.length === 0 ? [`${LIST} lists no threat`] : [...problems, ...twice] };
  },
};
