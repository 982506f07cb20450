// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;

/**
 * Text as it may stand in a status, whoever wrote it: one line, nothing that moves a terminal's cursor or turns its writing round,
 * whole characters (an API server replaces halves, and what comes back would never equal what was written), at most `longest`
 * of them.
 */
export function oneLine(text: string, longest: number): string {
  const line = text.toWellFormed().replace(control, " ").trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
