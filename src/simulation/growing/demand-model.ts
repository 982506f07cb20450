import type { Rng } from "../../domain/rng.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface DemandOptions {
  readonly workspaces: number;
  readonly days: number;
  /** What all of them take together on the mean of the first day, in thousandths of a core. */
  readonly milliCpu: number;
  /** How many times that they take at the end. */
  readonly growth: number;
  /** The day, counted from 0, on which some of them take much more for half a day. */
  readonly launchDay: number;
}

export interface DemandModel {
  /** What a workspace takes at a time since the beginning, in thousandths of a core. */
  of(workspace: number, elapsedMs: number): number;
  /** What all of them take. */
  total(elapsedMs: number): number;
}

/** Part of the day's mean by which noon is above it, and midnight below. */
const WAVE = 0.35;
const WEEKEND = 0.6;
/** How many of all take part in a launch, and how many times as much these take. */
const LAUNCH = { part: 0.1, times: 3, rampMs: 2 * HOUR_MS, fromMs: 8 * HOUR_MS, untilMs: 20 * HOUR_MS } as const;
/** Of the logarithm of what workspaces take: the largest of two thousand takes about twenty times the mean. */
const SPREAD = 1;

/** The days and weeks of workspaces that grow: one noon for all, quiet weekends, and one launch. */
export function createDemandModel({ workspaces, days, milliCpu, growth, launchDay }: DemandOptions, rng: Rng): DemandModel {
  const sizes = Array.from({ length: workspaces }, () => Math.exp(SPREAD * normal(rng)));
  const mean = milliCpu / sizes.reduce((sum, size) => sum + size, 0);
  const launching = sizes.map(() => rng.next() < LAUNCH.part);
  const usual = sizes.reduce((sum, size, index) => sum + (launching[index] === true ? 0 : size * mean), 0);
  const launched = milliCpu - usual;
  const timeOf = (elapsedMs: number): number => {
    const day = Math.floor(elapsedMs / DAY_MS);
    const wave = 1 - WAVE * Math.cos((2 * Math.PI * (elapsedMs % DAY_MS)) / DAY_MS);
    return growth ** (elapsedMs / (days * DAY_MS)) * wave * (day % 7 >= 5 ? WEEKEND : 1);
  };
  const launchOf = (elapsedMs: number): number => {
    const at = elapsedMs - launchDay * DAY_MS;
    const within = Math.min(at - LAUNCH.fromMs, LAUNCH.untilMs - at) / LAUNCH.rampMs;
    return 1 + (LAUNCH.times - 1) * Math.min(1, Math.max(0, within));
  };
  return {
    of: (workspace, elapsedMs) =>
      (sizes[workspace] ?? 0) * mean * timeOf(elapsedMs) * (launching[workspace] === true ? launchOf(elapsedMs) : 1),
    total: (elapsedMs) => (usual + launched * launchOf(elapsedMs)) * timeOf(elapsedMs),
  };
}

/** Normally distributed by the method of Box and Muller (Annals of Mathematical Statistics 29, 1958). */
function normal(rng: Rng): number {
  return Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next());
}
