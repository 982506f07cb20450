import type { Stage, StageOptions, StageResult } from "./stage.ts";

/**
 * Runs stages one after the other; background stages run beside those after them. A stage that fails does not keep the next from running,
 * unless it was fatal or the caller asked to bail; a cancelled run ends after the stages it was in. Results are in the order of stages.
 */
export async function runStages(stages: readonly Stage[], options: StageOptions): Promise<readonly StageResult[]> {
  const results: Promise<StageResult>[] = [];
  const others = new AbortController();
  const signal = AbortSignal.any([options.signal, others.signal]);
  /** One that cannot be run at all ends those beside it, and begins no other. */
  const begin = (running: Promise<StageResult>): Promise<StageResult> => {
    results.push(running);
    running.catch(() => others.abort());
    return running;
  };
  for (const [index, stage] of stages.entries()) {
    if (signal.aborted) break;
    if (stage.isBackground === true && index < stages.length - 1) {
      void begin(runBeside(stage, { ...options, signal }));
      continue;
    }
    options.print(`\n━━ ${stage.name} ━━`);
    const result = await begin(runOne(stage, options));
    if (result.isFatal === true || (options.bail && result.failed > 0)) others.abort();
  }
  return Promise.all(results);
}

async function runOne(stage: Stage, options: StageOptions): Promise<StageResult> {
  const startedAt = performance.now();
  const counts = await stage.run(options);
  return { ...counts, name: stage.name, seconds: (performance.now() - startedAt) / 1000 };
}

/** Prints what it has to say in one piece. */
async function runBeside(stage: Stage, options: StageOptions): Promise<StageResult> {
  const said: string[] = [];
  const result = await runOne(stage, { ...options, isBeside: true, print: (line) => void said.push(line) });
  options.print([`\n━━ ${stage.name}, beside others ━━`, ...said].join("\n"));
  return result;
}

/** What failed, a table of what ran, why stages failed that do not show it, and last, alone on its line, the sum. */
export function renderResults(results: readonly StageResult[]): string {
  const rows = results.map(({ name, passed, failed, skipped, seconds }) =>
    row(name, [passed, failed, skipped].map(String).concat(seconds.toFixed(1))),
  );
  const notes = results.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}`]));
  const failures = results.flatMap((result) => result.failures ?? []).map((failure) => `failed: ${failure}`);
  const sum = `${total(results, "passed")} passed, ${total(results, "failed")} failed`;
  return ["", ...failures, row("stage", ["passed", "failed", "skipped", "seconds"]), ...rows, ...notes, "", sum].join("\n");
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
