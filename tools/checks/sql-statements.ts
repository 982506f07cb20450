/**
 * The statements of an SQL text: without comments, with what is between quotation marks left out (`''`, `$$`), in lower case outside of
 * quoted names, with single spaces. Enough to see what a statement does to tables, not to run it.
 */
export function statementsOf(sql: string): readonly string[] {
  const statements: string[] = [];
  let text = "";
  for (let at = 0; at < sql.length; ) {
    const rest = sql.slice(at);
    const [token, as] = tokenAt(rest);
    at += token.length;
    if (as === ";") {
      statements.push(text);
      text = "";
    } else text += as;
  }
  return [...statements, text].map((each) => each.replace(/\s+/g, " ").trim()).filter((each) => each !== "");
}

/** What stands first in a text, and what is kept of it. */
function tokenAt(rest: string): readonly [token: string, kept: string] {
  const line = /^--[^\n]*/.exec(rest)?.[0];
  if (line !== undefined) return [line, " "];
  if (rest.startsWith("/*")) return [blockComment(rest), " "];
  const dollar = /^\$(?:[a-z_][a-z0-9_]*)?\$/i.exec(rest)?.[0];
  if (dollar !== undefined) {
    const end = rest.indexOf(dollar, dollar.length);
    return [end < 0 ? rest : rest.slice(0, end + dollar.length), "$$"];
  }
  const escaped = /^e'(?:[^'\\]|\\[\s\S]|'')*'?/i.exec(rest)?.[0];
  if (escaped !== undefined) return [escaped, "''"];
  const text = /^'(?:[^']|'')*'?/.exec(rest)?.[0];
  if (text !== undefined) return [text, "''"];
  const name = /^"(?:[^"]|"")*"?/.exec(rest)?.[0];
  if (name !== undefined) return [name, name];
  const word = /^[a-z_][a-z0-9_$]*/i.exec(rest)?.[0] ?? rest[0] ?? "";
  return [word, word.toLowerCase()];
}

/** Comments of this kind may hold others. */
function blockComment(rest: string): string {
  let depth = 0;
  for (const { 0: mark, index } of rest.matchAll(/\/\*|\*\//g)) {
    depth += mark === "/*" ? 1 : -1;
    if (depth === 0) return rest.slice(0, index + 2);
  }
  return rest;
}

/** The parts of a text between commas that stand in no brackets. */
export function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let [depth, from] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if ("([".includes(char)) depth += 1;
    if (")]".includes(char)) depth -= 1;
    if (char !== "," || depth > 0) continue;
    parts.push(text.slice(from, at).trim());
    from = at + 1;
  }
  return [...parts, text.slice(from).trim()];
}
