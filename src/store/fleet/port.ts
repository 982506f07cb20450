import type { Decision } from "../../domain/decision.ts";
import type { FleetSpec } from "../../domain/fleet.ts";
import type { FleetProposal, ProposalEnd } from "../../domain/fleet-approval.ts";
import type { InstanceId, ProposalId } from "../../domain/ids.ts";
import type { Halt, Instance, InstanceCause, InstanceState, RaisedResources } from "../../domain/instance.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { ReleasePart } from "../../domain/release.ts";

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
  readonly raised?: RaisedResources;
  readonly halt?: Halt;
  readonly failsOver?: boolean;
  /** Only while it holds no unit and no live move is to it or from it, whoever may be placing one at this moment. */
  readonly onlyIfEmpty?: true;
  /** Only while another instance of its class is ACTIVE, whichever of them is leaving at this moment. */
  readonly onlyIfNotLast?: true;
  /** Only while no other instance of its class has a change of resources under way, whoever else begins one at this moment. */
  readonly onlyIfNoneRaised?: true;
  readonly decision: Decision | undefined;
}

/** A fleet to be declared, and the declaration that it was made from. */
export interface FleetChange {
  readonly spec: FleetSpec;
  readonly actor: string;
  /** Revision of the declared fleet that was read; 0: none was declared. */
  readonly revision: number;
}

/** How a proposal is ended, and by whom. */
export interface ProposalClosing {
  readonly id: ProposalId;
  readonly as: ProposalEnd;
  readonly actor: string;
  readonly reason: string;
}

/** Declarations that wait for a second person. Who that may be is for the caller to know. */
export interface ProposalStore {
  /**
   * Keeps a proposal, with its entry in the journal; one that waits already and asks for the same is returned in its place. Throws
   * `StaleError` when its base is not in force any more.
   */
  propose(proposal: FleetProposal, signal: AbortSignal): Promise<FleetProposal>;
  /** Newest first. */
  list(limit: number, signal: AbortSignal): Promise<readonly FleetProposal[]>;
  read(id: ProposalId, signal: AbortSignal): Promise<FleetProposal | undefined>;
  /**
   * Ends one, with its entry in the journal. One that is approved is declared in the same transaction. Throws `GoneError` when there is
   * none, and `StaleError` when it has ended, or is to be approved and another declaration than its base is in force.
   */
  close(closing: ProposalClosing, signal: AbortSignal): Promise<FleetProposal>;
}

/** What is declared, and which instances exist. Written by the provisioner and by SREs' commands. */
export interface FleetStore {
  readFleet(signal: AbortSignal): Promise<StoredFleet | undefined>;
  /**
   * Replaces the declared fleet if it differs; notifies `fleet` and each changed `pool`. Returns the revision in force. Remembers the images
   * of its releases for good, and throws `RefusedError` when one of them was another before.
   */
  applyFleet(spec: FleetSpec, actor: string, signal: AbortSignal): Promise<number>;
  /** The same for a declaration that was made from one that was read: throws `StaleError` when another one is in force. */
  changeFleet(change: FleetChange, signal: AbortSignal): Promise<number>;
  /** What every release that was ever declared consists of; sorted by version and part. */
  listReleaseParts(signal: AbortSignal): Promise<readonly ReleasePart[]>;
  /** Remembers a part of a release for good, unless one is remembered; returns the content that is. */
  keepReleasePart(part: ReleasePart, signal: AbortSignal): Promise<string>;
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
   * first placement on it has then been made before, or is refused after. With `onlyIfNoneRaised` it throws `StaleError`, too, when another
   * instance of its class is being given resources. With `onlyIfNotLast` throws `RefusedError` when no other instance of its class is ACTIVE: of
   * several that leave at once, one stays. Notifies `instance`. Returns the new row.
   */
  changeInstance(change: InstanceChange, signal: AbortSignal): Promise<Instance>;
  /**
   * Lets an empty instance go and, where a fleet is given, declares it in the same transaction: the pool that asks for one instance
   * fewer then never chooses another one to let go. Refuses like `changeInstance` with `onlyIfEmpty`, and throws `StaleError` when
   * the fleet was declared anew since it was read.
   */
  retireInstance(change: InstanceChange, fleet: FleetChange | undefined, signal: AbortSignal): Promise<Instance>;
  /** Notes how the instance's objects were left (`Instance.leftHash`). Neither raises the revision nor notifies; does nothing where there is no such instance. */
  noteLeft(id: InstanceId, leftHash: string, signal: AbortSignal): Promise<void>;
  /** Number of units of which each instance has something: that it holds, or that live moves bring or take away. Instances without are left out. */
  countUnits(signal: AbortSignal): Promise<ReadonlyMap<InstanceId, number>>;
}
