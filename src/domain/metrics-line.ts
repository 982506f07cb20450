/** One sample of a page of metrics in the Prometheus text format. */
export interface MetricsSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** What follows a label: another one, or the end, before which a comma may stand. */
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(,?\}|,)/y;
/** A value, and perhaps the time it was taken. */
const VALUE = /^ +(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?: +-?\d+)? *$/;
const [BRACE, BLANK] = ["{".charCodeAt(0), " ".charCodeAt(0)];

/**
 * A line that is a sample of one of the named metrics; `undefined` for every other line, and for one whose value cannot be a count (not a
 * number, negative, endless). Pages have a hundred thousand lines, of which few are wanted: the name alone is read of the others.
 *
 * Source of the format: https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function readMetricsLine(line: string, names: ReadonlySet<string>): MetricsSample | undefined {
  const end = nameEnd(line);
  const name = line.slice(0, end);
  if (!names.has(name)) return undefined;
  const found = labelsOf(line, end);
  if (found === undefined) return undefined;
  const value = Number(VALUE.exec(line.slice(found.end))?.[1]);
  return Number.isFinite(value) ? { name, labels: found.labels, value } : undefined;
}

function nameEnd(line: string): number {
  let end = 0;
  for (; end < line.length; end += 1) {
    const code = line.charCodeAt(end);
    if (code === BRACE || code === BLANK) break;
  }
  return end;
}

/** Labels are read one after the other: a value may hold anything, something that looks like a label too. */
function labelsOf(line: string, from: number): { readonly labels: ReadonlyMap<string, string>; readonly end: number } | undefined {
  const labels = new Map<string, string>();
  if (line[from] !== "{") return { labels, end: from };
  if (line[from + 1] === "}") return { labels, end: from + 2 };
  LABEL.lastIndex = from + 1;
  for (let match = LABEL.exec(line); match !== null; match = LABEL.exec(line)) {
    labels.set(match[1] ?? "", match[2] ?? "");
    if (match[3] !== ",") return { labels, end: LABEL.lastIndex };
  }
  return undefined;
}
