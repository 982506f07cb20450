import ts from "typescript";
import { retiredWordsIn } from "../measure/retired-words.ts";
import type { OwnCheck } from "./own-check.ts";
import { nodes, type ProjectFile } from "./project.ts";

/** Written with brackets so that this table does not find itself. */
const FORBIDDEN: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/\b(?:TO[D]O|FIX[M]E|X[X]X)\b/, "a note to self: do it, or open an issue"],
  [/(?<![\w.)}\]*<>$-])\/(?:wo[r]k|ro[o]t)\/[\w.-]/, "a path of one machine"],
  [/\bregistry\.[a-z]+js\.(?:org|com)\b|\bproxy\.golang[.]org\b/, "a registry's host name: it belongs to the machine's configuration"],
];

/** The list of retired words itself, and whoever reads it. */
const ABOUT_WORDS = /^tools\/(?:measure|checks)\//;

/**
 * Finds words that do not belong in the project: notes to self, paths of one machine, host names of package registries, and in
 * names of the code and of its files the words that gave way to the field's own (tools/measure/retired-words.ts).
 */
export const words: OwnCheck = {
  name: "words",
  mend: "take the word out, or say it as the message says",
  find(project) {
    const files = project.files.filter(({ path }) => !path.startsWith("LICENSE"));
    return { problems: files.flatMap((file) => [...forbidden(file), ...retiredNames(file)]) };
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

/** Names in code and of files. Prose is told by people: a sentence may need a word that no name should have. */
function* retiredNames(file: ProjectFile): Generator<string> {
  if (!/\.(?:ts|mjs)$/.test(file.path) || ABOUT_WORDS.test(file.path)) return;
  for (const { retired } of retiredWordsIn(file.path)) yield `${file.path}: its name has "${retired.word}": say ${retired.say}`;
  const found = [...retiredWordsIn(file.text)];
  if (found.length === 0) return;
  for (const node of nodes(file)) {
    if (!ts.isIdentifier(node)) continue;
    const [from, to] = [node.getStart(), node.getEnd()];
    for (const { retired, at } of found.filter((each) => each.at >= from && each.at < to)) {
      const line = file.tree().getLineAndCharacterOfPosition(at).line + 1;
      yield `${file.path}:${line} the name ${node.text} has "${retired.word}": say ${retired.say}`;
    }
  }
}
