import type { OwnCheck } from "./own-check.ts";
import type { ProjectFile } from "./project.ts";

/** Written with brackets so that this table does not find itself. */
const FORBIDDEN: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/\b(?:TO[D]O|FIX[M]E|X[X]X)\b/, "a note to self: do it, or open an issue"],
  [/(?<![\w.)}\]*<>$-])\/(?:wo[r]k|ro[o]t)\/[\w.-]/, "a path of one machine"],
  [/\bregistry\.[a-z]+js\.(?:org|com)\b|\bproxy\.golang[.]org\b/, "a registry's host name: it belongs to the machine's configuration"],
];

/** Finds words that do not belong in the project: notes to self, paths of one machine, host names of package registries. */
export const words: OwnCheck = {
  name: "words",
  mend: "take the word out",
  find(project) {
    return { problems: project.files.filter(({ path }) => !path.startsWith("LICENSE")).flatMap((file) => [...found(file)]) };
  },
};

function* found(file: ProjectFile): Generator<string> {
  for (const [index, line] of file.text.split("\n").entries()) {
    for (const [pattern, why] of FORBIDDEN) {
      const hit = pattern.exec(line);
      if (hit !== null) yield `${file.path}:${index + 1} "${hit[0]}" is ${why}`;
    }
  }
}
