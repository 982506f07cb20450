import { InputError } from "../../domain/errors.ts";

/** The result of a part of a long run: the runs of consecutive seeds. */
export interface Part {
  /** Hash of the code it ran on: only parts of equal code are added up. */
  readonly code: string;
  readonly scenario: string;
  /** Seed of the first run; the next ones count on. */
  readonly seed: number;
  readonly runs: number;
  /** Moves that ended, and parts that changed hands, by how. */
  readonly ends: Counts;
  /** Faults that were injected, by kind: broken calls, and troubles of processes and servers. */
  readonly faults: Counts;
  readonly events: number;
  readonly simulatedMs: number;
  /** Processor time, in ms. */
  readonly cpuMs: number;
  /** SHA-256 over the traces of all runs: the same for the same seeds on the same code. */
  readonly trace: string;
  readonly failed: readonly PartFailure[];
}

export type Counts = Readonly<Record<string, number>>;

/** A run in which a property did not hold. */
export interface PartFailure {
  readonly seed: number;
  readonly property: string;
  readonly text: string;
}

/** The sum of several parts. */
export interface Sum extends Omit<Part, "seed" | "trace"> {
  readonly parts: number;
}

export function movesOf({ ends }: Pick<Part, "ends">): number {
  return sumOf(ends);
}

/** Adds up parts of one scenario and equal code, of which no two have a seed in common. Throws `InputError` for a part that does not fit. */
export function addUp(parts: readonly Part[]): Sum {
  const sorted = parts.toSorted((a, b) => a.seed - b.seed);
  const [first] = sorted;
  if (first === undefined) throw wrong("there is no part to add up");
  for (const [index, part] of sorted.entries()) {
    if (part.code !== first.code) throw wrong(`the part from seed ${part.seed} on ran on other code (${part.code.slice(0, 12)})`);
    if (part.scenario !== first.scenario) throw wrong(`the part from seed ${part.seed} on is of ${part.scenario}`);
    const before = sorted[index - 1];
    if (before !== undefined && before.seed + before.runs > part.seed) throw wrong(`seed ${part.seed} is in two parts`);
  }
  const total = (read: (part: Part) => number): number => sorted.reduce((sum, part) => sum + read(part), 0);
  return {
    ...{ code: first.code, scenario: first.scenario, parts: sorted.length },
    ...{ runs: total(({ runs }) => runs), events: total(({ events }) => events) },
    ...{ simulatedMs: total(({ simulatedMs }) => simulatedMs), cpuMs: total(({ cpuMs }) => cpuMs) },
    ends: sorted.map(({ ends }) => ends).reduce(addCounts, {}),
    faults: sorted.map(({ faults }) => faults).reduce(addCounts, {}),
    failed: sorted.flatMap(({ failed }) => failed),
  };
}

/** The table people read, and what a million moves would take on one core. */
export function renderSum(sum: Sum): string {
  const { scenario, code, parts, runs, ends, faults, events, simulatedMs, cpuMs, failed } = sum;
  const moves = movesOf(sum);
  const perSecond = cpuMs === 0 ? 0 : (moves * 1_000) / cpuMs;
  const rows: readonly (readonly [string, string])[] = [
    ["moves", `${moves} (${listed(ends)}) in ${runs} runs of ${parts} parts, ${events} events`],
    ["faults", `${sumOf(faults)}, ${(sumOf(faults) / Math.max(1, moves)).toFixed(2)} a move (${listed(faults)})`],
    ["violations", String(failed.length)],
    [
      "simulated",
      `${(simulatedMs / 86_400_000).toFixed(2)} days, ${(simulatedMs / Math.max(1, cpuMs)).toFixed(0)} times as fast as real time`,
    ],
    ["speed", `${perSecond.toFixed(1)} moves a second of one core; a million take ${hoursOf(perSecond)} h of one core`],
    ["code", `${code.slice(0, 16)}, ${scenario}`],
  ];
  return [
    ...rows.map(([name, text]) => `${name.padEnd(10)} ${text}`),
    ...failed.map(({ seed, property, text }) => `  ${scenario}, seed ${seed}: ${property}, ${text}`),
  ].join("\n");
}

export function addCounts(a: Counts, b: Counts): Counts {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return Object.fromEntries(names.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}

function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function listed(counts: Counts): string {
  const names = Object.keys(counts).sort();
  return names.length === 0 ? "none" : names.map((name) => `${counts[name]} ${name}`).join(", ");
}

function hoursOf(perSecond: number): string {
  return perSecond === 0 ? "?" : (1_000_000 / perSecond / 3_600).toFixed(1);
}

function wrong(what: string): InputError {
  return new InputError(what, {
    code: "simulation.parts",
    path: "--add-up",
    remedy: "Give parts of one scenario that ran on the same code under other seeds each",
  });
}
