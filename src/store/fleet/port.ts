import type { Decision } from "../../domain/decision.ts";
import type { FleetSpec } from "../../domain/fleet.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Halt, Instance, InstanceCause, InstanceState } from "../../domain/instance.ts";
import type { LoadVector } from "../../domain/load.ts";

export interface StoredFleet {
  readonly spec: FleetSpec;
  /** Pools that are not declared any more and whose instances are to leave; sorted. */
  readonly pruned: readonly string[];
  /** Rises with every change. */
  readonly revision: number;
}

/** Fields a transition may change beside the state; the row's `revision` is raised. */
export interface InstanceChange {
  readonly id: InstanceId;
  /** Revision the decision was made on. */
  readonly revision: number;
  readonly state: InstanceState;
  readonly reason: string;
  /** Of the reason: who leaves the one as it is gives the other as it was. */
  readonly cause: InstanceCause | undefined;
  readonly attempt: number;
  readonly version?: string;
  readonly desiredVersion?: string;
  readonly appliedHash?: string;
  readonly capacity?: LoadVector;
  readonly weight?: number;
  readonly halt?: Halt;
  readonly failsOver?: boolean;
  /** Only while it holds no unit and no live move is to it or from it, whoever may be placing one at this moment. */
  readonly onlyIfEmpty?: true;
  /** Only while another instance of its class is ACTIVE, whichever of them is leaving at this moment. */
  readonly onlyIfNotLast?: true;
  readonly decision: Decision | undefined;
}

/** A fleet to be declared, and the declaration that it was made from. */
export interface FleetChange {
  readonly spec: FleetSpec;
  readonly actor: string;
  /** Revision of the declared fleet that was read. */
  readonly revision: number;
}

/** What is declared, and which instances exist. Written by the provisioner and by SREs' commands. */
export interface FleetStore {
  readFleet(signal: AbortSignal): Promise<StoredFleet | undefined>;
  /** Replaces the declared fleet if it differs; notifies `fleet` and each changed `pool`. Returns the revision in force. */
  applyFleet(spec: FleetSpec, actor: string, signal: AbortSignal): Promise<number>;
  /**
   * Lets the instances of every pool leave that is not declared, until a pool of that name is declared again; notifies each
   * such `pool`. Returns their names, sorted.
   */
  prunePools(actor: string, signal: AbortSignal): Promise<readonly string[]>;
  listInstances(signal: AbortSignal): Promise<readonly Instance[]>;
  readInstance(id: InstanceId, signal: AbortSignal): Promise<Instance | undefined>;
  /** Adds an instance unless one of its name exists; notifies `instance`. Returns whether it was added. */
  insertInstance(instance: Instance, decision: Decision, signal: AbortSignal): Promise<boolean>;
  /**
   * Conditional on `revision`; throws `StaleError` when the row has moved on, or with `onlyIfEmpty` when it holds a unit: a
   * first placement on it has then been made before, or is refused after. With `onlyIfNotLast` throws `RefusedError` when no
   * other instance of its class is ACTIVE: of several that leave at once, one stays. Notifies `instance`. Returns the new row.
   */
  changeInstance(change: InstanceChange, signal: AbortSignal): Promise<Instance>;
  /**
   * Lets an empty instance go and, where a fleet is given, declares it in the same transaction: the pool that asks for one instance
   * fewer then never chooses another one to let go. Refuses like `changeInstance` with `onlyIfEmpty`, and throws `StaleError` when
   * the fleet was declared anew since it was read.
   */
  retireInstance(change: InstanceChange, fleet: FleetChange | undefined, signal: AbortSignal): Promise<Instance>;
  /** Number of units of which each instance has something: that it holds, or that live moves bring or take away. Instances without are left out. */
  countUnits(signal: AbortSignal): Promise<ReadonlyMap<InstanceId, number>>;
}
