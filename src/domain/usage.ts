import type { Millis } from "./clock.ts";

export const USAGE_DIMENSIONS = ["controllerCpuMs", "repoServerCpuMs", "memoryKibS"] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/**
 * What an instance took, or a share of it, in whole numbers, so that shares add up to the whole. `controllerCpuMs`: CPU of the application
 * controller, thousandths of a second. `repoServerCpuMs`: the same of repo-servers, without the child processes (git, helm, kustomize) that
 * they start: no metric of Argo CD has those. `memoryKibS`: resident memory of both, KiB times seconds.
 */
export type Usage = Readonly<Record<UsageDimension, number>>;

/** The usage whose dimensions a function gives. */
export function usageOf(of: (dimension: UsageDimension) => number): Usage {
  return { controllerCpuMs: of("controllerCpuMs"), repoServerCpuMs: of("repoServerCpuMs"), memoryKibS: of("memoryKibS") };
}

export const NO_USAGE: Usage = usageOf(() => 0);

export function addUsage(a: Usage, b: Usage): Usage {
  return usageOf((dimension) => a[dimension] + b[dimension]);
}

export function isNoUsage(usage: Usage): boolean {
  return USAGE_DIMENSIONS.every((dimension) => usage[dimension] === 0);
}

/**
 * Whose a share is. `base`: the instance's own, what it takes while it holds nothing, its canaries and what it keeps for all. `unattributed`:
 * it was taken, and nobody knows for whom.
 */
export const USERS = ["workspace", "base", "unattributed"] as const;
export type User = (typeof USERS)[number];

/** How far one process of an instance has been accounted for. */
export interface ProcessMark {
  readonly of: "controller" | "repo-server";
  /** When it began, seconds since the epoch. */
  readonly startedAt: number;
  /** What it had taken in all, and what it held. */
  readonly cpuMs: number;
  readonly residentKib: number;
  readonly at: Millis;
}

/** How far an instance has been accounted for: whoever samples it next goes on from there. */
export interface UsageMark {
  readonly until: Millis;
  /** By pod. */
  readonly processes: Readonly<Record<string, ProcessMark>>;
}
