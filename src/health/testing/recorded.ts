import { readFileSync } from "node:fs";
import { type Millis, millis } from "../../domain/clock.ts";
import type { HealthSample } from "../../domain/health.ts";
import { deriveSignals, known, type ProbeResult } from "../derive-signals.ts";
import { ratioToBaseline } from "../next-baseline.ts";
import type { GitCount, HealthPage } from "../parse-page.ts";
import { aHealthPage } from "./stage.ts";

/** States of one real instance with 700 applications, recorded with a sample every five or ten seconds. */
export const RECORDED = [
  ...["comfortable", "burst_create", "borderline_cpu", "overload_cpu", "overload_cpu_hard", "overload_procs", "slow_git_5s"],
  ...["stuck_ctl_sigstop", "stuck_repo_sigstop", "stuck_redis_down", "after_overload_cpu", "after_redis_back"],
] as const;

interface Line {
  readonly s: number;
  readonly controller: HealthPage["counters"] | null;
  readonly repoServer: { readonly startedAt: number; readonly git: Readonly<Record<string, readonly [number, number]>> } | null;
  readonly controllerAnswers: number;
  readonly repoServerAnswers: number;
  readonly canaryS: number | null;
  readonly canaryErrors: number;
  readonly newestAgeS: number;
  readonly applications: number;
}

/** The settings of the recorded instance. */
export const RECORDED_SETTINGS = { graceMs: 300_000, overloadMs: 300_000, resyncS: 60, jitterS: 20 };
const USUAL = { reconcileS: 0.02, observations: 1_000 };
export const PERIOD_MS = 10_000;
const BEGAN = 1_795_000_000_000;

/** The samples of a recording, as if its controller had started an hour before. The recording `overload_procs` had one worker. */
export function recorded(name: string): readonly HealthSample[] {
  const text = readFileSync(new URL(`../testdata/${name}.jsonl`, import.meta.url), "utf8");
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  const workers =
    name === "overload_procs" ? { statusProcessors: 1, operationProcessors: 1 } : { statusProcessors: 20, operationProcessors: 10 };
  const git = new Map<string, GitCount>();
  const observations: ProbeResult[] = [];
  return lines.map((line) => {
    const probe = observationOf(line, git);
    const signals = deriveSignals(observations, probe, workers);
    observations.push(probe);
    const { canaryErrors, newestAgeS, applications } = line;
    const seen = { canaryS: line.canaryS ?? undefined, canaryErrors, newestAgeS, applications, sampledApplications: applications };
    const ratio = { reconcileRatio: ratioToBaseline(USUAL, signals), uptimeS: line.controller === null ? undefined : 3_600 };
    return { at: millis(BEGAN + line.s * 1_000), signals: known({ ...signals, ...seen, ...ratio }) };
  });
}

function observationOf(line: Line, git: Map<string, GitCount>): ProbeResult {
  for (const [repository, [requests, seconds]] of Object.entries(line.repoServer?.git ?? {})) git.set(repository, { requests, seconds });
  // The recordings do not tell fetches from other requests.
  const repoServer =
    line.repoServer === null ? undefined : aHealthPage({ counters: { startedAt: line.repoServer.startedAt }, git: new Map(git) });
  return {
    ...{ atMs: line.s * 1_000, wallS: BEGAN / 1_000 + line.s },
    controller: line.controller === null ? undefined : aHealthPage({ counters: line.controller }),
    controllerAnswers: line.controllerAnswers === 1,
    repoServers: new Map([["repo-0", line.repoServerAnswers === 1 ? repoServer : undefined]]),
  };
}

/**
 * Continues a recording until it has lasted `lastsMs`, by repeating its samples from the second minute on (of a short
 * recording the last one).
 */
export function goingOn(samples: readonly HealthSample[], lastsMs: number): readonly HealthSample[] {
  const [first, last] = [samples[0]?.at ?? 0, samples.at(-1)?.at ?? 0];
  const steady = samples.filter(({ at }) => at - first >= 60_000);
  const later = steady.length === 0 ? samples.slice(-1) : steady;
  const from = later[0]?.at ?? last;
  const all = [...samples];
  for (let round = 1; (all.at(-1)?.at ?? lastsMs) - first < lastsMs; round += 1)
    for (const { at, signals } of later) all.push({ at: millis(at + round * (last - from + PERIOD_MS)), signals });
  return all;
}

export const endOf = (samples: readonly HealthSample[]): Millis => samples.at(-1)?.at ?? millis(BEGAN);
