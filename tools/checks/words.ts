import { hasOurWords, retiredWordsIn } from "../measure/retired-words.ts";
import type { OwnCheck } from "./own-check.ts";
import type { ProjectFile } from "./project.ts";

/** Written with brackets so that this table does not find itself. */
const FORBIDDEN: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/\b(?:TO[D]O|FIX[M]E|X[X]X)\b/, "a note to self: do it, or open an issue"],
  [/(?<![\w.)}\]*<>$-])\/(?:wo[r]k|ro[o]t)\/[\w.-]/, "a path of one machine"],
  [/\bregistry\.[a-z]+js\.(?:org|com)\b|\bproxy\.golang[.]org\b/, "a registry's host name: it belongs to the machine's configuration"],
];

/**
 * Finds words that do not belong in the project: notes to self, paths of one machine, host names of package registries, and in
 * everything that people write the words that gave way to the field's own (tools/measure/retired-words.ts).
 */
export const words: OwnCheck = {
  name: "words",
  mend: "take the word out, or say it as the message says",
  find(project) {
    const files = project.files.filter(({ path }) => !path.startsWith("LICENSE"));
    return { problems: files.flatMap((file) => [...forbidden(file), ...retiredWords(file)]) };
  },
};

function* forbidden(file: ProjectFile): Generator<string> {
  for (const [index, line] of file.text.split("\n").entries()) {
    for (const [pattern, why] of FORBIDDEN) {
      const hit = pattern.exec(line);
      if (hit !== null) yield `${file.path}:${index + 1} "${hit[0]}" is ${why}`;
    }
  }
}

/** In everything that people write: names, comments, tests, messages, pages. Honest uses of the same letters are told apart by the table. */
function* retiredWords({ path, text }: ProjectFile): Generator<string> {
  if (!hasOurWords(path)) return;
  for (const { retired } of retiredWordsIn(path)) yield `${path}: its name has "${retired.word}": say ${retired.say}`;
  for (const { retired, at } of retiredWordsIn(text)) {
    const line = text.slice(0, at).split("\n").length;
    yield `${path}:${line} has "${retired.word}": say ${retired.say}, or tell this use apart in tools/measure/retired-words.ts`;
  }
}
