import process from "node:process";
import { parseArgs } from "node:util";
import { millis } from "../../src/domain/clock.ts";
import { InputError } from "../../src/domain/errors.ts";
import type { HealthSample } from "../../src/domain/health.ts";
import { deriveSignals, keptProbes, type ProbeResult } from "../../src/health/derive-signals.ts";
import { judgeHealth } from "../../src/health/judge.ts";
import { parseHealthPage } from "../../src/health/parse-page.ts";
import { loadNow, readConditions, renderConditions } from "../conditions.ts";
import { type Figure, isMet } from "../figures.ts";
import { writeResult } from "../results.ts";
import { renderTable } from "../table.ts";
import { pageOf } from "./page.ts";

const HELP = `Usage: npm run bench -- probing [options]

What one process takes to read the metrics of a fleet's controllers and to judge its instances: CPU, time and memory of a round. Pages are made here,
line by line as controllers make them; what the network and API servers take is not in it. Ends with 1 when a goal is missed.

  --instances N     (default: 500)
  --applications N  of each instance (default: 1000)
  --rounds N        (default: 2)
  --json FILE       write the result there too
  --help            this text
`;

/** The default period of health probes. */
const PERIOD_MS = 15_000;
const WINDOW = 60;
const WORKERS = { statusProcessors: 20, operationProcessors: 10 };
const SETTINGS = { graceMs: 300_000, overloadMs: 300_000, resyncS: 120, jitterS: 60 };

interface Round {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly residentBytes: number;
}

/** Runs the measure with these arguments and writes the result. Returns the exit code. */
export function probingBench(args: readonly string[], write: (text: string) => void): number {
  const { instances, applications, rounds, json, help } = parse(args);
  if (help) {
    write(HELP);
    return 0;
  }
  const conditions = readConditions({ postgres: "none", kubernetes: "none", engine: "made up", processes: 1 });
  const { all, characters } = measure(instances, applications, rounds);
  const figures = figuresOf(all, characters).map((figure) => ({ ...figure, applications }));
  const whole = { ...conditions, load: [...conditions.load, loadNow()] };
  const file = writeResult({ conditions: whole, options: { instances, applications, rounds }, figures }, json);
  const missed = figures.filter((figure) => isMet(figure) === false).length;
  write(`${renderConditions(whole)}\n\n${instances} instances of ${applications} applications\n${renderTable(figures)}\n\n`);
  write(`${missed === 0 ? "Every goal that was measured is met." : `Goals missed: ${missed}.`} Written to ${file}\n`);
  return missed === 0 ? 0 : 1;
}

function measure(instances: number, applications: number, rounds: number) {
  const observations = new Map<number, readonly ProbeResult[]>();
  const samples = new Map<number, readonly HealthSample[]>();
  const all: Round[] = [];
  let characters = 0;
  // One round more than is counted, because a rate needs two.
  for (let round = 0; round <= rounds; round += 1) {
    const [began, before] = [performance.now(), process.cpuUsage()];
    const atMs = round * PERIOD_MS;
    const lines = pageOf(applications, round);
    for (let index = 0; index < instances; index += 1) {
      const page = parseHealthPage();
      for (const line of lines) page.take(line);
      const now: ProbeResult = { atMs, wallS: atMs / 1_000, controller: page.end(), controllerAnswers: true, repoServers: new Map() };
      const known = observations.get(index) ?? [];
      const sample = { at: millis(atMs), signals: deriveSignals(known, now, WORKERS) };
      observations.set(index, keptProbes(known, now));
      const window = [
        ...(samples.get(index) ??
          Array.from({ length: WINDOW }, (_, place) => ({ ...sample, at: millis(atMs - (WINDOW - place) * PERIOD_MS) }))),
        sample,
      ];
      judgeHealth({ now: sample.at, samples: window, periodMs: PERIOD_MS, settings: SETTINGS });
      samples.set(index, window.slice(-WINDOW));
    }
    characters = lines.reduce((sum, line) => sum + line.length + 1, 0);
    const { user, system } = process.cpuUsage(before);
    all.push({ wallMs: performance.now() - began, cpuMs: (user + system) / 1_000, residentBytes: process.memoryUsage().rss });
  }
  return { all: all.slice(1), characters };
}

function figuresOf(all: readonly Round[], characters: number): readonly Figure[] {
  const mean = (of: keyof Round) => all.reduce((sum, round) => sum + round[of], 0) / Math.max(1, all.length);
  const of = (what: string, value: number, unit: string, more: Partial<Figure> = {}): Figure => ({
    ...{ measure: "probing", what, unit, better: "lower", value, noise: 0, samples: all.length },
    ...more,
  });
  return [
    of("a page of metrics", characters / 2 ** 20, "MiB"),
    of("CPU of a round", mean("cpuMs") / 1_000, "s", { goal: { of: "value", sense: "at most", bound: PERIOD_MS / 1_000 } }),
    of("time of a round", mean("wallMs") / 1_000, "s"),
    of("memory of the process", mean("residentBytes") / 2 ** 20, "MiB", { goal: { of: "value", sense: "at most", bound: 1_024 } }),
  ];
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { instances: text, applications: text, rounds: text, json: text, help: { type: "boolean", default: false } },
  });
  const whole = (name: "instances" | "applications" | "rounds", fallback: number): number => {
    const value = Number(values[name] ?? fallback);
    if (Number.isInteger(value) && value >= 1 && value <= 10_000) return value;
    throw new InputError("is no whole number from 1 to 10000", { code: "cli.option", path: `--${name}`, remedy: "Give one" });
  };
  return {
    instances: whole("instances", 500),
    applications: whole("applications", 1_000),
    rounds: whole("rounds", 2),
    json: values.json,
    help: values.help,
  };
}
