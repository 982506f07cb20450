import { createHash } from "node:crypto";
import process from "node:process";
import type { Happening } from "../history.ts";
import { type RunOutcome, runSeed } from "../run.ts";
import { loadScenario } from "../scenarios/load.ts";
import { codeHash } from "./code-hash.ts";
import { addCounts, type Counts, movesOf, type Part } from "./part.ts";

export interface MarathonOptions {
  readonly scenario: string;
  /** Seed of the first run; the next ones count on. */
  readonly seed: number;
  /** No run begins once so many moves have ended. */
  readonly moves: number;
  readonly onRun?: (soFar: Part) => void;
}

/** Runs seed after seed until so many moves have ended, or `signal` aborts. Each run is a fleet of its own, so memory does not grow. */
export async function runMarathon(options: MarathonOptions, signal: AbortSignal): Promise<Part> {
  const { scenario, seed, moves: wanted, onRun } = options;
  const hash = createHash("sha256");
  const startedAt = process.cpuUsage();
  let part: Part = {
    ...{ code: codeHash(scenario), scenario, seed, runs: 0, ends: {}, faults: {}, events: 0, simulatedMs: 0, cpuMs: 0 },
    ...{ trace: "", failed: [] },
  };
  while (movesOf(part) < wanted && !signal.aborted) {
    const { outcome, ends, faults } = await runOne(scenario, seed + part.runs);
    if (Object.keys(ends).length === 0)
      throw new Error(`no move ends in ${scenario} under seed ${seed + part.runs}: it would go on for ever`);
    hash.update(outcome.traceHash);
    const { user, system } = process.cpuUsage(startedAt);
    part = {
      ...part,
      runs: part.runs + 1,
      ...{ ends: addCounts(part.ends, ends), faults: addCounts(part.faults, faults) },
      ...{ events: part.events + outcome.events, simulatedMs: part.simulatedMs + outcome.simulatedMs },
      ...{ cpuMs: Math.round((user + system) / 1_000), trace: hash.copy().digest("hex") },
      failed: [...part.failed, ...failuresOf(outcome)],
    };
    onRun?.(part);
  }
  return part;
}

async function runOne(
  name: string,
  seed: number,
): Promise<{ readonly outcome: RunOutcome; readonly ends: Counts; readonly faults: Counts }> {
  const [ends, faults] = [new Map<string, number>(), new Map<string, number>()];
  const add = (counts: Map<string, number>, kind: string): void => void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const onHappening = (happening: Happening): void => {
    if (happening.kind === "move" && (happening.phase === "DONE" || happening.phase === "ABORTED")) add(ends, happening.phase);
    if (happening.kind === "parts") add(ends, happening.act);
    if (happening.kind === "fault") add(faults, `call ${happening.verdict}`);
    if (happening.kind === "chaos") add(faults, happening.trouble);
  };
  const outcome = await runSeed({ scenario: loadScenario(name), seed, onHappening, keepsEntries: false });
  return { outcome, ends: Object.fromEntries(ends), faults: Object.fromEntries(faults) };
}

function failuresOf({ violations: [first], seed }: RunOutcome): Part["failed"] {
  return first === undefined ? [] : [{ seed: Number(seed), property: first.property, text: first.text }];
}
