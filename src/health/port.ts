import type { Millis } from "../domain/clock.ts";
import type { Freeze } from "../domain/directive.ts";
import type { MoveId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { LoadVector } from "../domain/load.ts";
import type { CanarySource, ProbedApplication, ProbedPod } from "../domain/probed.ts";
import type { PlacementUnit } from "../domain/workspace.ts";

export type ProbedPlace = Pick<Instance, "engineCluster" | "namespace">;

/** How the processes of an instance are asked for their metrics. Lines come as they are read; whoever stops reading ends the request. */
export interface InstanceProcesses {
  readonly controller: (signal: AbortSignal) => AsyncIterable<string>;
  /** By pod; none where they cannot be asked one by one. */
  readonly repoServers: ReadonlyMap<string, (signal: AbortSignal) => AsyncIterable<string>>;
}

/** `undefined`: its cluster is away, or not declared. */
export type FindProcesses = (at: ProbedPlace, signal: AbortSignal) => Promise<InstanceProcesses | undefined>;

/** What stands in an instance's namespace. Errors are those of the Kubernetes client. */
export interface ProbedNamespace {
  /** Makes canaries as they should be, where they are not. */
  ensureCanaries(source: CanarySource, signal: AbortSignal): Promise<void>;
  /** Takes them away, where canaries are switched off. */
  removeCanaries(signal: AbortSignal): Promise<void>;
  /** Asks its controller to look at a canary; one that was asked for before is changed, which reminds it. */
  askFor(canary: string, at: Millis, signal: AbortSignal): Promise<void>;
  listCanaries(signal: AbortSignal): Promise<readonly ProbedApplication[]>;
  /** Some of the others. */
  sampleApplications(limit: number, signal: AbortSignal): Promise<readonly ProbedApplication[]>;
  listPods(signal: AbortSignal): Promise<readonly ProbedPod[]>;
  deletePod(name: string, signal: AbortSignal): Promise<void>;
}

/** Sends an instance's units away without its help, each with a proof of its fence, and nobody there any more. Asking again changes nothing. */
export type EmptyInstance = (instance: Instance, reason: string, signal: AbortSignal) => Promise<void>;

/**
 * Gives a unit to another instance than its own, without its own's help, where one takes it; `why` is for people. Returns what speaks against
 * that. A unit that is being moved already stays as it is.
 */
export type PlaceElsewhere = (unit: UnitId, why: string, signal: AbortSignal) => Promise<string | undefined>;

/** What giving a workspace an instance of its own asks of others. Asked again, each changes nothing. */
export interface QuarantineRequests {
  /** The instance that a pool would get next, or why it gets none. */
  nextOf(pool: string, signal: AbortSignal): Promise<{ readonly name: string } | { readonly why: string }>;
  /** Asks the pool for it by that name. Returns why it gets none. */
  create(name: string, signal: AbortSignal): Promise<string | undefined>;
  /** Whether an instance of that capacity takes a unit of that load. */
  fits(load: LoadVector, capacity: LoadVector): boolean;
  /** What speaks against a live move of the unit there, for people. */
  whyNot(unit: PlacementUnit, target: Instance, signal: AbortSignal): Promise<string | undefined>;
  /** Asks for a live move. Returns what speaks against it. */
  move(unit: PlacementUnit, target: Instance, signal: AbortSignal): Promise<string | undefined>;
  /** Gives a live move up that waits for its turn; one that has begun or ended stays. */
  giveUp(move: MoveId, signal: AbortSignal): Promise<void>;
  /** The freeze that holds; `undefined`: none does. */
  freezeAt(freezes: readonly Freeze[], at: Millis): { readonly reason: string } | undefined;
}

/** `undefined`: its cluster is not declared, or its credentials are not there. */
export type OpenNamespace = (at: ProbedPlace, signal: AbortSignal) => Promise<ProbedNamespace | undefined>;
