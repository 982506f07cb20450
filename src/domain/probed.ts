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
  /** A refresh was asked for and has not happened yet. */
  readonly awaitsObservation: boolean;
  readonly isPaused: boolean;
  readonly reconciledAt: Millis | undefined;
  /** Its last refresh ended with an error. */
  readonly hasError: boolean;
}

/** The end of a pod by its kubelet. A pod of another name takes its place. */
export interface Eviction {
  readonly at: Millis;
  /** `limit`: the pod used more disk than it may. `node`: its node ran short of something, whoever used that, or was shut down. */
  readonly by: "limit" | "node";
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
  /** Absent: it runs, or ended in another way. */
  readonly evicted: Eviction | undefined;
}
