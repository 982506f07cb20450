import type { Millis } from "./clock.ts";
import type { InstanceId } from "./ids.ts";

/** Whether an instance does its work, from best to worst. `unknown`: too little was seen to say, which is never "healthy". */
export const VERDICT_STATES = ["healthy", "degraded", "overloaded", "stalled", "failed", "unknown"] as const;
export type VerdictState = (typeof VERDICT_STATES)[number];

/** What a verdict rests on. */
export const HEALTH_CAUSES = [
  /** Nothing is wrong. */
  "none",
  /** A controller that has just begun, or is being changed, is slow for a while. */
  "starting",
  /** One workspace's applications cannot be compared: its own trouble, and nobody else's. */
  "workspace",
  /** Git answers slowly, whoever's repositories are asked. */
  "git",
  /** It works, slower than it did. */
  "slow",
  /** Applications of most workspaces cannot be compared. */
  "comparisons",
  /** Comparisons wait for their turn all the time. */
  "queue",
  /** Syncs wait for their turn all the time. */
  "syncs",
  "controller-stopped",
  "repo-server",
  "redis",
  /** Refreshes that it was asked for wait, and it does nothing else either. */
  "queue-stuck",
  /** It refreshes what it is asked to refresh, and nothing by itself. */
  "periodic-refreshes",
  /** A component begins again and again. */
  "restarts",
  "not-ready",
  /** A component uses about as much memory as it may, or was ended for using more. */
  "memory",
  /** A repo-server was evicted for using more disk than it may. */
  "disk",
  /** A node ran short of disk or memory, or was shut down, and ended a part of it, whoever used that. */
  "node",
  /** Nobody has observed it for a while. */
  "no-samples",
  /** Its controller says nothing, and nothing else tells how it is. */
  "no-metrics",
] as const;
export type HealthCause = (typeof HEALTH_CAUSES)[number];

/** Parts of an instance that are restarted one by one. */
export const COMPONENTS = ["controller", "repo-server", "redis"] as const;
export type Component = (typeof COMPONENTS)[number];

/** What is measured of an instance, with its unit for people. Rates and means are of the last minute. */
export const SIGNALS = {
  controllerAnswers: "1: its metrics were read, 0: it said nothing for seconds",
  repoServerAnswers: "share of repo-servers that answered",
  uptimeS: "s since the controller began",
  isChanging: "1: it is being changed to another version, or to more resources",
  queueWaitS: "s a comparison waited for its turn, mean",
  waitingOver10: "share of comparisons that waited longer than 10 s",
  queueDepth: "comparisons that wait",
  utilisation: "share of the workers for comparisons that are busy",
  reconcileS: "s a comparison took, mean",
  reconcileRatio: "times as long as comparisons usually take there",
  reconcileOver16: "share of comparisons that took longer than 16 s",
  reconcilesPerS: "comparisons a second",
  operationUtilisation: "share of the workers for syncs that are busy",
  operationWaitS: "s a sync waited for its turn, mean",
  redisPerReconcile: "requests to redis for each comparison",
  redisFailuresPerS: "requests to redis that failed, a second",
  gitS: "s a request to Git took, mean",
  gitSlowShare: "share of the repositories asked that took longer than 1 s",
  canaryS: "s until a canary was compared, of the quicker one",
  canaryErrors: "comparisons of canaries in a row that ended with an error",
  passiveAgeS: "s since the canary that nobody asks it to refresh was compared",
  newestAgeS: "s since any application that it was not asked to refresh was compared",
  sampledApplications: "applications of which that is the newest",
  applications: "applications of the instance",
  troubledUnits: "workspaces with an application that cannot be compared",
  units: "workspaces of the instance",
  controllerRestarts: "restarts of the controller's container",
  repoServerRestarts: "restarts of repo-servers' containers",
  redisRestarts: "restarts of redis's container",
  controllerMemory: "share of the memory it may use that the controller uses",
  repoServerMemory: "share of the memory it may use that a repo-server uses, of the fullest",
  controllerKilledS: "s since a controller was ended for using more memory than it may",
  repoServerKilledS: "s since a repo-server was ended for using more memory than it may",
  redisKilledS: "s since redis was ended for using more memory than it may",
  repoServerEvictedS: "s since a repo-server was evicted for using more disk than it may",
  repoServerEvictions: "repo-servers that were evicted for that within an hour",
  nodeEvictedS: "s since a node that ran short ended a part of it",
  unreadyS: "s a component has not been ready, of the one that waits longest",
} as const;
export type SignalName = keyof typeof SIGNALS;
/** Absent: not known at that observation. */
export type Signals = Readonly<Partial<Record<SignalName, number>>>;

/** One observation of an instance. */
export interface HealthSample {
  readonly at: Millis;
  readonly signals: Signals;
}

/** A signal that a verdict rests on. */
export interface Evidence {
  readonly signal: SignalName;
  /** At the newest observation that knew it; absent: none did. */
  readonly value: number | undefined;
}

/** A judgement of an instance's health from a window of samples. */
export interface Verdict {
  readonly state: VerdictState;
  readonly cause: HealthCause;
  /** Which part is stuck, where one is. */
  readonly component: Component | undefined;
  /** For people. */
  readonly text: string;
  readonly evidence: readonly Evidence[];
}

export interface InstanceVerdict extends Verdict {
  readonly instanceId: InstanceId;
  /** Since when it has had this state for this cause. */
  readonly since: Millis;
  /** When it was judged last. */
  readonly at: Millis;
  readonly baseline: Baseline | undefined;
}

/** How long a comparison usually takes on an instance, and from how many observations that was learnt. */
export interface Baseline {
  readonly reconcileS: number;
  readonly observations: number;
}

/** Longer than the time between observations, even slow ones: a verdict not renewed since says nothing about now. In ms. */
export const VERDICT_LASTS_MS = 300_000;

/** Verdicts that keep new units away. */
export const UNFIT_STATES = ["stalled", "failed", "unknown"] as const satisfies readonly VerdictState[];
export type UnfitState = (typeof UNFIT_STATES)[number];

/** What keeps new units away from an instance. An instance that nobody judges, or not any more, is one that nothing is known against. */
export function unfitState(verdict: Pick<InstanceVerdict, "state" | "at"> | undefined, now: Millis): UnfitState | undefined {
  if (verdict === undefined || now - verdict.at > VERDICT_LASTS_MS) return undefined;
  return UNFIT_STATES.find((state) => state === verdict.state);
}
