import process from "node:process";

/** Tells a person what is going on: one line a step, with its seconds; on a terminal the running step counts up. */
export interface Progress {
  step<T>(what: string, run: () => Promise<T>): Promise<T>;
  /** More about the running step, e.g. which program is being built. */
  detail(text: string): void;
  say(text: string): void;
}

const TICK_MS = 1_000;
/** Where nobody redraws a line, a long step says so this often, in seconds. */
const REMIND_SECONDS = 20;

export function createProgress(output: NodeJS.WriteStream = process.stdout): Progress {
  let detail = "";
  const isTerminal = output.isTTY === true;
  const clear = (): void => void (isTerminal && output.write("\r\x1b[K"));
  const say = (text: string): void => {
    clear();
    output.write(`${text}\n`);
  };
  return {
    say,
    detail: (text) => {
      detail = text;
    },
    async step(what, run) {
      const startedAt = performance.now();
      detail = "";
      const seconds = (): number => Math.round((performance.now() - startedAt) / 1000);
      const line = (): string => `  … ${what}${detail === "" ? "" : ` (${detail})`} ${seconds()} s`;
      const ticker = setInterval(() => {
        if (isTerminal) output.write(`\r\x1b[K${line()}`);
        else if (seconds() % REMIND_SECONDS === 0) say(line());
      }, TICK_MS);
      try {
        const result = await run();
        say(`  ✓ ${what}${`${((performance.now() - startedAt) / 1000).toFixed(1)} s`.padStart(Math.max(2, 60 - what.length))}`);
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
