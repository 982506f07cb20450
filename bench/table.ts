import { type Figure, isMet, ratioOf, type SizedFigure } from "./figures.ts";

const HEAD = ["apps", "", "figure", "value", "p99", "limit", "ratio", "noise", "goal", "met"] as const;
/** Columns of words. The others hold numbers and are aligned to the right. */
const WORDS: ReadonlySet<string> = new Set(["", "figure", "goal", "met"]);

/** The figures as a Markdown table. */
export function renderTable(figures: readonly SizedFigure[]): string {
  const rows = figures.map(cellsOf);
  const widths = HEAD.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (WORDS.has(HEAD[column] ?? "") ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = HEAD.map((name, column) => "-".repeat(widths[column] ?? 0).replace(/-$/, WORDS.has(name) ? "-" : ":"));
  return [line(HEAD), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n");
}

function cellsOf(figure: SizedFigure): readonly string[] {
  const { applications, measure, what, unit, value, p99, limit, noise } = figure;
  const ratio = ratioOf(figure);
  const met = isMet(figure);
  return [
    applications === 0 ? "" : String(applications),
    measure,
    limit === undefined ? what : `${what} (limit: ${limit.what})`,
    `${short(value)} ${unit}`,
    p99 === undefined ? "" : short(p99),
    limit === undefined ? "" : limit.p99 === undefined ? short(limit.value) : `${short(limit.value)} (${short(limit.p99)})`,
    ratio === undefined ? "" : short(ratio),
    noise === 0 ? "" : `${short(noise * 100)} %`,
    goalText(figure),
    met === undefined ? "" : met ? "yes" : "NO",
  ];
}

function goalText({ goal, unit }: Figure): string {
  if (goal === undefined) return "";
  return `${goal.sense === "at most" ? "≤" : "≥"} ${short(goal.bound)} ${goal.of === "ratio" ? "×" : unit}`;
}

/** A number with three significant digits. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 5));
}
