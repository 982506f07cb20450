import { createHash } from "node:crypto";
import process from "node:process";
import { type Outcome, runSeed } from "./run.ts";
import { loadScenario } from "./scenarios/load.ts";

/** What a long run has come to. */
export interface Marathon {
  readonly runs: number;
  /** Moves that ended, either way. */
  readonly moves: number;
  readonly events: number;
  /** Processor time of this process, in ms. */
  readonly cpuMs: number;
  /** Over the traces of all runs: the same for the same first seed and number of moves. */
  readonly hash: string;
  readonly failed: readonly Outcome[];
}

export interface MarathonOptions {
  readonly scenario: string;
  /** Of the first run; the next ones count on. */
  readonly seed: number;
  /** No run is begun once so many have ended. */
  readonly moves: number;
  readonly onRun?: (soFar: Marathon) => void;
}

/** Runs seed after seed until so many moves have ended. Each run is a fleet of its own, so that memory stays as it is. */
export async function runMarathon({ scenario: name, seed: first, moves: wanted, onRun }: MarathonOptions): Promise<Marathon> {
  const scenario = loadScenario(name);
  const hash = createHash("sha256");
  const startedAt = process.cpuUsage();
  const failed: Outcome[] = [];
  let [runs, moves, events] = [0, 0, 0];
  const soFar = (): Marathon => {
    const { user, system } = process.cpuUsage(startedAt);
    return { runs, moves, events, cpuMs: (user + system) / 1_000, hash: hash.copy().digest("hex"), failed };
  };
  while (moves < wanted) {
    const before = moves;
    const outcome = await runSeed({
      ...{ scenario, seed: first + runs },
      onMoved(phase) {
        if (phase === "DONE" || phase === "ABORTED") moves += 1;
      },
    });
    if (moves === before) throw new Error(`no move ends in ${name} under seed ${first + runs}: it would go on for ever`);
    runs += 1;
    events += outcome.events;
    hash.update(outcome.traceHash);
    if (outcome.violations.length > 0) failed.push(outcome);
    onRun?.(soFar());
  }
  return soFar();
}

/** What it came to, and what a million moves would take on one core. */
export function renderMarathon({ runs, moves, events, cpuMs, hash, failed }: Marathon): string {
  const perSecond = (moves * 1_000) / cpuMs;
  const hours = 1_000_000 / perSecond / 3_600;
  return [
    `${moves} moves in ${runs} runs and ${events} events, ${failed.length} runs failed, trace ${hash.slice(0, 16)}`,
    `${(cpuMs / 1_000).toFixed(0)} s of one core: ${perSecond.toFixed(1)} moves a second; a million take ${hours.toFixed(1)} h of one core`,
    ...failed.map(({ scenario, seed, violations: [one] }) => `  ${scenario}, seed ${seed}: ${one?.property}, ${one?.text}`),
  ].join("\n");
}
