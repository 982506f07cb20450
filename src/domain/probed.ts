import type { Millis } from "./clock.ts";
import type { Component } from "./health.ts";

/** A small directory of plain manifests in a repository that every instance can read. */
export interface CanaryRepository {
  readonly repository: string;
  readonly revision: string;
  readonly path: string;
}

/** What canaries compare. `no-repository`: nothing, which takes the instance's own parts and no Git host. */
export type CanarySource = "no-repository" | CanaryRepository;

/** One Application, as far as it tells how its instance is. */
export interface ProbedApplication {
  readonly name: string;
  /** It was asked for, and not looked at yet. */
  readonly awaitsObservation: boolean;
  readonly isPaused: boolean;
  readonly reconciledAt: Millis | undefined;
  /** The last look at it ended with an error. */
  readonly hasError: boolean;
}

export interface ProbedPod {
  readonly component: Component;
  readonly name: string;
  readonly restarts: number;
  /** Since when it has not been ready; absent: it is. */
  readonly unreadySince: Millis | undefined;
  /** What it may use, in bytes; absent: it has no limit. */
  readonly memoryLimit: number | undefined;
  /** When a container of it was last ended for using more. */
  readonly killedAt: Millis | undefined;
}
