import process from "node:process";

/** Shows a person what happens: one line per step, with its seconds. On a terminal the running step counts up. */
export interface Progress {
  step<T>(what: string, run: () => Promise<T>): Promise<T>;
  /** More about the running step, e.g. which program is being built. */
  detail(text: string): void;
  say(text: string): void;
}

/** Where it is printed: standard output, or a stand-in. */
export interface ProgressOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

const TICK_MS = 1_000;
/** How often a long step is printed again where lines are not redrawn, in seconds. */
const REMIND_SECONDS = 20;
/** Column in which a finished step's seconds end. */
const SECONDS_COLUMN = 66;

export function createProgress(output: ProgressOutput = process.stdout): Progress {
  let detail = "";
  const isTerminal = output.isTTY === true;
  const say = (text: string): void => void output.write(`${isTerminal ? "\r\x1b[K" : ""}${text}\n`);
  return {
    say,
    detail: (text) => {
      detail = text;
    },
    async step(what, run) {
      const startedAt = performance.now();
      detail = "";
      const line = (seconds: number): string => `  … ${what}${detail === "" ? "" : ` (${detail})`} ${seconds} s`;
      let reminded = 0;
      const tick = (): void => {
        const seconds = Math.round((performance.now() - startedAt) / 1000);
        if (isTerminal) return void output.write(`\r\x1b[K${shortened(line(seconds), output.columns)}`);
        if (seconds < reminded + REMIND_SECONDS) return;
        reminded = seconds;
        say(line(seconds));
      };
      const ticker = setInterval(tick, TICK_MS);
      try {
        if (isTerminal) tick();
        const result = await run();
        say(finished(what, (performance.now() - startedAt) / 1000));
        return result;
      } catch (error) {
        say(`  ✗ ${what}`);
        throw error;
      } finally {
        clearInterval(ticker);
      }
    },
  };
}

function finished(what: string, seconds: number): string {
  const done = `  ✓ ${what} `;
  return `${done}${`${seconds.toFixed(1)} s`.padStart(SECONDS_COLUMN - done.length)}`;
}

/** A line that wraps could not be drawn over. */
function shortened(line: string, columns = 80): string {
  return line.length < columns ? line : `${line.slice(0, Math.max(1, columns - 2))}…`;
}
