import type { Check, CheckResult } from "./checks.ts";

/** Tools use a processor each; more at once would only take turns on a small machine. */
const AT_ONCE = 2;

export interface CheckOutcome extends CheckResult {
  readonly check: Check;
  readonly seconds: number;
}

/**
 * Runs checks two at a time and prints one line when each has ended; then, for those that failed, what they found and what to
 * do about it. A check that cannot run at all has failed.
 */
export async function runChecks(
  checks: readonly Check[],
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<readonly CheckOutcome[]> {
  const waiting = [...checks];
  const outcomes: CheckOutcome[] = [];
  const work = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const outcome = await runCheck(check, signal);
      outcomes.push(outcome);
      print(lineOf(outcome));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  for (const { check, text } of outcomes.filter(({ isFine }) => !isFine)) print(`\n── ${check.name} ──\n${text}\n→ ${check.mend}`);
  return outcomes;
}

async function runCheck(check: Check, signal: AbortSignal): Promise<CheckOutcome> {
  const startedAt = performance.now();
  const result = await check.run(signal).catch((cause: unknown) => ({ isFine: false, text: `could not run: ${String(cause)}` }));
  return { ...result, check, seconds: (performance.now() - startedAt) / 1000 };
}

function lineOf({ check, isFine, seconds, text }: CheckOutcome): string {
  const notes = isFine && text !== "" ? `\n${text.replaceAll(/^/gm, "    ")}` : "";
  return `${isFine ? "✓" : "✗"} ${check.name.padEnd(26)} ${seconds.toFixed(1).padStart(5)} s${notes}`;
}
