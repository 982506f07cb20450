import type { AccessAnswer } from "../domain/access.ts";
import type { InstanceId, MoveId, PlanId, UnitId } from "../domain/ids.ts";
import type { InstancePlace } from "../domain/instance.ts";
import type { LoadVector } from "../domain/load.ts";
import type { MoveKind } from "../domain/move.ts";
import type { MoveReason } from "../domain/plan.ts";
import type { PatchOperation, Preconditions } from "../shard/diff-object.ts";
import type { Manifest, ObjectAt, ObjectChange, ObservedObject } from "../shard/managed-object.ts";
import type { ApplicationObservation, ObservedOwnerBinding } from "../shard/parse-observation.ts";

/** Conditional writes. A test that does not hold is a `StaleError`, and so is a name that is taken. */
interface Writes {
  create(manifest: Manifest, signal: AbortSignal): Promise<void>;
  patch(at: ObjectAt, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>;
  /** Resolves also when it is not there. */
  delete(at: ObjectAt, preconditions: Preconditions, signal: AbortSignal): Promise<void>;
}

/** The Applications of one engine cluster, read past every cache. */
export interface Observations extends Writes {
  /** All that are labelled with the unit, sorted by name. */
  list(where: { readonly namespace: string; readonly unitId: UnitId }, signal: AbortSignal): Promise<readonly ApplicationObservation[]>;
}

/** The cluster that units deploy to by default, with their owner bindings. */
export interface ManagedCluster extends Writes {
  read(at: ObjectAt, signal: AbortSignal): Promise<ObservedOwnerBinding | undefined>;
  /** `undefined`: there is none of that name. */
  readNamespace(name: string, signal: AbortSignal): Promise<{ readonly uid: string | undefined; readonly isDeleting: boolean } | undefined>;
  /** Asks as the user: an access review, and a write that changes nothing. One answer from each API server that is known. */
  ask(user: string, namespace: string, signal: AbortSignal): Promise<readonly AccessAnswer[]>;
}

/** Finds the Applications of an engine cluster; `undefined` for a cluster that is not declared or cannot be reached yet. */
export interface ObservationSource {
  of(engineCluster: string): Promise<Observations | undefined>;
}

/** Reports of watches about our Applications on instances: what others change, late, twice or never. */
export interface ApplicationWatch {
  /** Whether changes on that instance are reported now. One that is not watched is from then on, while it is asked for. */
  isHeard(instance: InstancePlace): boolean;
  /** Returns what ends it. */
  onApplication(listener: (change: ObjectChange<ObservedObject>) => void): () => void;
}

/** A live move that Argosy decides on. */
export interface PlannedLiveMove {
  readonly unitId: UnitId;
  readonly to: InstanceId;
  /** The unit's epoch when the plan was made. */
  readonly epoch: number;
  readonly kind: MoveKind;
  readonly reason: MoveReason;
  /** Absent: it is no step of a plan. */
  readonly plan: PlanId | undefined;
  readonly actor: string;
  /** Why, for people; absent: the plan says it. */
  readonly words?: string;
  /** Largest load the target may have with the unit on it. */
  readonly ceiling: LoadVector;
}

/** How plans, and changes of a class, request live moves. */
export interface LiveMoves {
  /**
   * Requests a live move once: a move that this plan, or none, has requested and that has not ended is the answer. `why`: why it is not possible, for
   * people.
   */
  askFor(
    planned: PlannedLiveMove,
    signal: AbortSignal,
  ): Promise<{ readonly kind: "asked"; readonly id: MoveId } | { readonly kind: "refused"; readonly why: string }>;
  /**
   * Gives up moves away from an instance, and returns how many. "that go there": the instance is failed over from now on, and moves that would
   * reach it and are not committed yet are given up. "that wait to drain it": it is not drained any more, and planned moves that wait for their
   * turn are given up.
   */
  giveUp(source: InstanceId, which: "that go there" | "that wait to drain it", actor: string, signal: AbortSignal): Promise<number>;
  /** Whether a move there is refused only because the right to write cannot be taken from the instance that the unit is on. */
  isHeldBySource(unitId: UnitId, to: InstanceId, signal: AbortSignal): Promise<boolean>;
}

/** What is read on the API cluster to recover a restored database: who may write, and under which epochs that was written. */
export interface Standing {
  /** The newest epoch on any account of ours: users cannot write there. 0 where there is none. */
  newestEpoch(signal: AbortSignal): Promise<number>;
  /** Every owner binding, of whatever unit. */
  listOwnerBindings(signal: AbortSignal): Promise<readonly ObservedOwnerBinding[]>;
  /** Takes the right to write from the subjects it names, if the binding is still as it was read. */
  revoke(ownerBinding: ObservedOwnerBinding, signal: AbortSignal): Promise<void>;
}
