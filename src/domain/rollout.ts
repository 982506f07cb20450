import type { Millis } from "./clock.ts";
import type { Freeze } from "./directive.ts";
import type { CatalogueEntry } from "./fleet.ts";
import type { InstanceId, RolloutId } from "./ids.ts";

/**
 * RUNNING: waves follow each other. PAUSED: a person wants no further instance to be upgraded; what was is watched still. ASKING: the wave's
 * syncs leave open whether it is good, and a person says. ROLLING_BACK: the wave gets the release back that it had. The rest are ends.
 */
export const ROLLOUT_STATES = ["RUNNING", "PAUSED", "ASKING", "ROLLING_BACK", "DONE", "FAILED", "ABORTED"] as const;
export type RolloutState = (typeof ROLLOUT_STATES)[number];
const ENDS: readonly RolloutState[] = ["DONE", "FAILED", "ABORTED"];

/**
 * How instances get a release. in-place: under what they hold. drain: what they hold is handed over to instances that have the release already,
 * each unit once, and they get it empty.
 */
export const ROLLOUT_MODES = ["in-place", "drain"] as const;
export type RolloutMode = (typeof ROLLOUT_MODES)[number];

/** States in which nothing of a class is moved that need not be, or its measurements would be of something else. */
const STILL_STATES: readonly RolloutState[] = ["RUNNING", "ASKING", "ROLLING_BACK"];

export function isLiveRollout({ state }: Pick<Rollout, "state">): boolean {
  return !ENDS.includes(state);
}

/** The state of an instance's applications before its upgrade; whole numbers of applications. */
export interface ObservationCounts {
  readonly applications: number;
  /** Argo CD cannot compare them: Unknown, or a ComparisonError. */
  readonly faulty: number;
  /** OutOfSync at the very revision that was deployed there last. */
  readonly strayed: number;
  /** Refreshed within the period in which each is refreshed. */
  readonly fresh: number;
}

export interface SyncCounts {
  readonly done: number;
  /** Of those. */
  readonly failed: number;
}

/** Syncs counted over many observations, each once. */
export interface SyncTally extends SyncCounts {
  /** When the newest of them began; absent: there was none. */
  readonly until?: Millis;
  /** When the newest of each application began, by its name: known only to the process that counted them. */
  readonly lastOf?: ReadonlyMap<string, Millis>;
  /** What began by then another process has counted. */
  readonly countedBy?: Millis;
}

/** What one observation saw of an instance. */
export interface InstanceObservation extends ObservationCounts {
  readonly at: Millis;
  /** The release that each of its pods runs and is ready in; `undefined`: not all do. */
  readonly runs: string | undefined;
  /** Pods that end again and again, and pods that needed more memory than they may have; for people, sorted. */
  readonly crashes: readonly string[];
  readonly outOfMemory: readonly string[];
  /** When its controller last refreshed any application; `undefined`: never. */
  readonly newestReconciledAt: Millis | undefined;
  /** Syncs since the observation's `since`, of applications deployed before, with those of earlier observations. */
  readonly syncs: SyncTally;
  /** Applications that were synced since then by Argo CD itself although neither their revision nor their source had changed. */
  readonly resynced: number;
  /** Those of them of which something was deleted thereby. */
  readonly pruned: number;
  /** How long canaries wait for their refreshes, in ms; absent: its health does not tell, or not yet. */
  readonly canaryLatencyMs?: number;
}

/** What instances of a release are made of. */
export type Release = Pick<CatalogueEntry, "version" | "image" | "redisImage">;

/** What an observation of an instance is to find out. */
export interface ObservationRequest {
  /** Those pods may run. Of several with the same images the first counts. */
  readonly releases: readonly Release[];
  /** Only crashes of pods that run this one count. */
  readonly version: string;
  /** What Argo CD has done since; `undefined`: nothing counts as done. */
  readonly since: Millis | undefined;
  /** Syncs that were counted before, to which it adds; `undefined`: none count yet. */
  readonly syncs: SyncTally | undefined;
  /** How long after a refresh Argo CD refreshes an application again at the latest, in ms. */
  readonly resyncMs: number;
}

/** One instance of a wave. */
export interface WaveInstance {
  readonly id: InstanceId;
  readonly name: string;
  readonly engineCluster: string;
  /** The release it has before, and gets back when the wave fails. */
  readonly from: string;
  /** Units it held when the rollout was planned. */
  readonly units: number;
  /** Since when what it holds is handed over to instances that have the release. */
  readonly emptyingSince?: Millis;
  /** When it was given the new release, and how it was then, or before it was emptied. */
  readonly askedAt?: Millis;
  readonly baseline?: ObservationCounts;
  /** When all of its pods were first seen ready in the new release. */
  readonly readyAt?: Millis;
  /** Its syncs under the new release so far. */
  readonly syncs?: Pick<SyncTally, "done" | "failed" | "until">;
}

export interface Wave {
  /** For people: `canary`, or the share of the capacity that has the release after it, as `20 %`. */
  readonly name: string;
  readonly instances: readonly WaveInstance[];
  readonly bakeMs: number;
  /** Since when all of its instances have run the release. */
  readonly bakingSince?: Millis;
  readonly isExtended: boolean;
  /** A person has said that it is good although its syncs do not show it. */
  readonly isApproved: boolean;
  /** A gate that does not stand by itself, and since when it is shut: it counts once it has been for a while. */
  readonly suspect?: { readonly gate: string; readonly since: Millis };
  /** When it was let through, by which rule, and what was read at each gate then; absent: it was not, or nothing was left of it. */
  readonly passed?: { readonly at: Millis; readonly rule: string; readonly readings: readonly GateReading[] };
}

/** What was read at a gate, for people. */
export interface GateReading {
  readonly gate: string;
  readonly text: string;
}

/** A release that is given to instances step by step. */
export interface Rollout {
  readonly id: RolloutId;
  readonly version: string;
  /** Only instances of this pool; `undefined`: of all. */
  readonly pool: string | undefined;
  readonly mode: RolloutMode;
  readonly state: RolloutState;
  /** What it ends as once it is rolled back, and why; `undefined` while it is not. */
  readonly ending: { readonly as: "FAILED" | "ABORTED"; readonly reason: string } | undefined;
  /** Short bakes, no freeze holds it up, and nobody is asked unless syncs speak against it. */
  readonly isEmergency: boolean;
  /** Waves without enough syncs to tell go on where those there were speak for the release. */
  readonly isUnattended: boolean;
  readonly actor: string;
  readonly reason: string;
  readonly createdAt: Millis;
  readonly waves: readonly Wave[];
  /** Index of the present one. */
  readonly wave: number;
  /** What it does or waits for, for people. */
  readonly note: string;
  /** Rises with every change; writes are conditional on it. */
  readonly revision: number;
}

/** What a person orders. */
export interface RolloutOrder {
  readonly version: string;
  /** Only instances of this pool; `undefined`: of all. */
  readonly pool: string | undefined;
  readonly mode: RolloutMode;
  readonly isEmergency: boolean;
  readonly isUnattended: boolean;
  /** How long each wave bakes, in ms, instead of the usual time. */
  readonly bakeMs: number | undefined;
  readonly actor: string;
  readonly reason: string;
}

/** A release that failed: no instance is given it until a person says that it may. */
export interface FrozenVersion {
  readonly version: string;
  readonly rollout: RolloutId;
  readonly reason: string;
  readonly at: Millis;
}

const ALWAYS_MS = 10 * 365 * 24 * 3_600_000;

/** A rollout holds plans of the classes of its instances up as a freeze does: load that is moved would be taken for the release's work. */
export function freezeOfRollout(rollout: Rollout | undefined, instances: readonly { readonly id: InstanceId }[]): readonly Freeze[] {
  if (rollout === undefined || !STILL_STATES.includes(rollout.state)) return [];
  const its = new Set(rollout.waves.flatMap((wave) => wave.instances.map(({ id }) => id)));
  if (!instances.some(({ id }) => its.has(id))) return [];
  const { id, version, actor, createdAt } = rollout;
  return [{ name: `rollout ${id}`, schedule: undefined, durationMs: ALWAYS_MS, actor, reason: `${version} is rolled out`, at: createdAt }];
}
