import type { Stage, StageOptions, StageResult } from "./stage.ts";

/**
 * Runs stages one after the other. A stage that fails does not keep the next from running, unless it was fatal or the caller
 * asked to bail; a cancelled run ends after the stage it was in.
 */
export async function runStages(stages: readonly Stage[], options: StageOptions): Promise<readonly StageResult[]> {
  const results: StageResult[] = [];
  for (const stage of stages) {
    if (options.signal.aborted) break;
    options.print(`\n━━ ${stage.name} ━━`);
    const startedAt = performance.now();
    const counts = await stage.run(options);
    results.push({ ...counts, name: stage.name, seconds: (performance.now() - startedAt) / 1000 });
    if (counts.isFatal === true || (options.bail && counts.failed > 0)) break;
  }
  return results;
}

/** A table of what ran, why stages failed that do not show it, and last, alone on its line, the sum. */
export function renderResults(results: readonly StageResult[]): string {
  const rows = results.map(({ name, passed, failed, skipped, seconds }) =>
    row(name, [passed, failed, skipped].map(String).concat(seconds.toFixed(1))),
  );
  const notes = results.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}`]));
  const sum = `${total(results, "passed")} passed, ${total(results, "failed")} failed`;
  return ["", row("stage", ["passed", "failed", "skipped", "seconds"]), ...rows, ...notes, "", sum].join("\n");
}

/** Whether everything that was asked for ran, and nothing failed. */
export function isGood(results: readonly StageResult[]): boolean {
  return total(results, "failed") === 0 && total(results, "passed") > 0;
}

function total(results: readonly StageResult[], what: "passed" | "failed"): number {
  return results.reduce((sum, result) => sum + result[what], 0);
}

function row(name: string, cells: readonly string[]): string {
  return name.padEnd(12) + cells.map((cell) => cell.padStart(9)).join("");
}
