import type { Measures, Spread } from "./measure-code.ts";

/** One line of the table: what is measured, and its figure. */
type Row = readonly [what: string, figure: string];

const spreadText = ({ median, p90, max }: Spread): string => `${median} / ${p90} / ${max}`;
const total = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((all, count) => all + count, 0);

/** The figures of a checkout as a table, beside those of an earlier one where they are given. */
export function renderMeasures(now: Measures, before?: Measures): string {
  const figures = rows(now);
  const earlier = before === undefined ? undefined : new Map(rows(before));
  const width = Math.max(...figures.map(([what]) => what.length));
  const columns = ([what, figure]: Row): string =>
    earlier === undefined ? figure : `${(earlier.get(what) ?? "-").padStart(14)} → ${figure.padStart(14)}`;
  return figures.map((row) => `${row[0].padEnd(width)}  ${columns(row)}`).join("\n");
}

function rows(measures: Measures): readonly Row[] {
  const { files, functions, modules } = measures;
  const left = total(measures.retiredWords);
  return [
    ["production files in src", String(files.count)],
    ["lines", String(measures.lines)],
    ["lines of a file: median / p90 / max", spreadText(files)],
    ["functions", String(functions.count)],
    ["lines of a function: median / p90 / max", spreadText(functions)],
    ["folders", String(measures.folders)],
    ["folders of one file", String(measures.foldersOfOneFile.length)],
    ["files under 25 lines", String(measures.smallFiles.length)],
    ["files over 400 lines", String(measures.largeFiles.length)],
    ["controller.ts with a loop", String(measures.controllersWithLoop.length)],
    ["controller.ts without one", String(measures.controllersWithoutLoop.length)],
    ["literals spread into others", String(measures.spreadLiterals)],
    ["names that several files export", String(Object.keys(measures.sharedNames).length)],
    ["retired words left", String(left)],
    ...Object.entries(measures.retiredWords).map(([word, count]): Row => [`  ${word}`, String(count)]),
    ...Object.entries(modules).map(
      ([name, { files: count, lines, longestImportChain }]): Row => [
        `module ${name}: files, lines, longest chain of imports`,
        `${count}, ${lines}, ${longestImportChain.length}`,
      ],
    ),
  ];
}
