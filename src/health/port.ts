import type { Millis } from "../domain/clock.ts";
import type { Freeze } from "../domain/directive.ts";
import type { MoveId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { LoadVector } from "../domain/load.ts";
import type { CanarySource, ProbedApplication, ProbedPod } from "../domain/probed.ts";
import type { PlacementUnit } from "../domain/workspace.ts";

export type ProbedPlace = Pick<Instance, "engineCluster" | "namespace">;

/** How to read the metrics of an instance's processes. Lines come as they are read; a reader that stops ends the request. */
export interface InstanceProcesses {
  readonly controller: (signal: AbortSignal) => AsyncIterable<string>;
  /** By pod. Empty where they cannot be asked one by one. */
  readonly repoServers: ReadonlyMap<string, (signal: AbortSignal) => AsyncIterable<string>>;
}

/** `undefined`: its cluster cannot be reached, or is not declared. */
export type FindProcesses = (at: ProbedPlace, signal: AbortSignal) => Promise<InstanceProcesses | undefined>;

/** The objects in an instance's namespace. Errors are those of the Kubernetes client. */
export interface ProbedNamespace {
  /** Applies the canaries and their project. */
  ensureCanaries(source: CanarySource, signal: AbortSignal): Promise<void>;
  /** Deletes them, for a fleet where canaries are switched off. */
  removeCanaries(signal: AbortSignal): Promise<void>;
  /**
   * Requests a refresh of a canary. A canary requested again is changed too, which reaches a controller that missed
   * the request. Returns the canary as the request found it, so with what its former refresh left; `undefined` where that is not known.
   */
  askFor(canary: string, at: Millis, signal: AbortSignal): Promise<ProbedApplication | undefined>;
  listCanaries(signal: AbortSignal): Promise<readonly ProbedApplication[]>;
  /** Some of the Applications that are no canaries. */
  sampleApplications(limit: number, signal: AbortSignal): Promise<readonly ProbedApplication[]>;
  listPods(signal: AbortSignal): Promise<readonly ProbedPod[]>;
  deletePod(name: string, signal: AbortSignal): Promise<void>;
}

/**
 * Drains an instance that does not take part: each unit leaves only with a proof that the instance can no longer
 * write for it. Asking again changes nothing.
 */
export type EmptyInstance = (instance: Instance, reason: string, signal: AbortSignal) => Promise<void>;

/**
 * Moves a unit from an instance that does not take part to another one that has room for it. `why` is for people.
 * Returns why that is not possible. A unit that is being moved already stays as it is.
 */
export type PlaceElsewhere = (unit: UnitId, why: string, signal: AbortSignal) => Promise<string | undefined>;

/** What a quarantine asks of other modules. Asking again changes nothing. */
export interface QuarantineRequests {
  /** The name of the next instance of a pool, or why the pool gets none. */
  nextOf(pool: string, signal: AbortSignal): Promise<{ readonly name: string } | { readonly why: string }>;
  /** Requests that instance of its pool. Returns why there will be none. */
  create(name: string, signal: AbortSignal): Promise<string | undefined>;
  /** Whether an instance of that capacity has room for a unit of that load. */
  fits(load: LoadVector, capacity: LoadVector): boolean;
  /** Why a live move of the unit to the target is not possible, for people. */
  whyNot(unit: PlacementUnit, target: Instance, signal: AbortSignal): Promise<string | undefined>;
  /** Requests a live move. Returns why it is not possible. */
  move(unit: PlacementUnit, target: Instance, signal: AbortSignal): Promise<string | undefined>;
  /** Aborts a live move that waits for its turn. One that has begun or ended stays as it is. */
  giveUp(move: MoveId, signal: AbortSignal): Promise<void>;
  /** The freeze that holds at that time. `undefined`: none. */
  freezeAt(freezes: readonly Freeze[], at: Millis): { readonly reason: string } | undefined;
}

/** `undefined`: its cluster is not declared, or there are no credentials for it. */
export type OpenNamespace = (at: ProbedPlace, signal: AbortSignal) => Promise<ProbedNamespace | undefined>;
