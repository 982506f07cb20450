/** What Stryker keeps of a module (`incrementalFile`), as far as it is counted here. */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>;
}

const NOTICED = ["Killed", "Timeout"];
const MISSED = ["Survived", "NoCoverage"];

/** The score of each file, of all together, and which files none is kept of. What is ignored, or does not run, counts for nothing. */
export function summaryOf({ files }: MutationReport, core: readonly string[]): readonly string[] {
  const rows = Object.entries(files)
    .filter(([path]) => core.includes(path))
    .map(([path, { mutants }]) => {
      const count = (statuses: readonly string[]): number => mutants.filter(({ status }) => statuses.includes(status)).length;
      return { path, noticed: count(NOTICED), missed: count(MISSED) };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const sum = (of: "noticed" | "missed"): number => rows.reduce((total, row) => total + row[of], 0);
  const unknown = core.filter((path) => !(path in files));
  return [
    ...rows.map(({ path, noticed, missed }) => `${scoreText(noticed, missed)}  ${path}`),
    `${scoreText(sum("noticed"), sum("missed"))}  all`,
    ...(unknown.length === 0 ? [] : [`nothing is kept of ${unknown.length} more: ${unknown.join(", ")}`]),
  ];
}

function scoreText(noticed: number, missed: number): string {
  const all = noticed + missed;
  const score = all === 0 ? "-" : `${((100 * noticed) / all).toFixed(2)} %`;
  return `${score.padStart(8)}  ${String(noticed).padStart(5)} of ${String(all).padStart(5)}`;
}
