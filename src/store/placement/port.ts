import type { Decision } from "../../domain/decision.ts";
import type { Directive } from "../../domain/directive.ts";
import type { Stranger } from "../../domain/groups.ts";
import type { InstanceVerdict } from "../../domain/health.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { PlacementUnit, Workspace } from "../../domain/workspace.ts";
import type { Page } from "../operation/port.ts";

/** An instance with the sum of the planning loads of the units it holds. */
export interface InstanceWithLoad {
  readonly instance: Instance;
  readonly load: LoadVector;
  readonly units: number;
  /** What was said of its health last; absent: it was never judged. */
  readonly verdict?: Pick<InstanceVerdict, "state" | "at"> | undefined;
}

/** Everything the scheduler decides from, read in one transaction. */
export interface FleetSnapshot {
  readonly class: string;
  /** The oldest version that is safe, as declared; absent before a fleet is. */
  readonly floor: string | undefined;
  /** All instances of the class that are not retired, sorted by id. */
  readonly instances: readonly InstanceWithLoad[];
}

export interface FirstPlacement {
  readonly unitId: UnitId;
  readonly rowVersion: number;
  readonly instanceId: InstanceId;
  /** Largest load the instance may have with the unit on it: the bound that the decision was made under. */
  readonly ceiling: LoadVector;
  readonly decision: Decision;
}

/** That no instance takes a unit. */
export interface PlacementRefusal {
  readonly decision: Decision;
  /** What it comes down to, without the numbers, which differ with each observation. */
  readonly reason: string;
}

export type PlacementOutcome =
  | { readonly kind: "placed"; readonly epoch: number }
  /** The instance filled up, or stopped being ACTIVE, since the snapshot: decide again. */
  | { readonly kind: "full" }
  /** Somebody else placed or changed the unit. */
  | { readonly kind: "stale" };

export interface UnitWithWorkspace {
  readonly unit: PlacementUnit;
  readonly workspace: Workspace;
  /** What people have ordered about the workspace. */
  readonly directive: Directive;
  /** Instances that hold other parts of the workspace, or that live moves bring some to; sorted. */
  readonly siblings: readonly InstanceId[];
  /** Instances that hold a workspace which must be apart from this one, or that live moves bring one to or have not cleared of one; by instance, label, value. */
  readonly strangers: readonly (Stranger & { readonly instance: InstanceId })[];
  /** Instances that hold other workspaces of its `together` group, those with most of their units first. */
  readonly companions: readonly InstanceId[];
  /** What the refusal that was recorded of it last came to (`refusalHash`); absent: none was since it was placed last. */
  readonly refused?: string;
}

/** Written by the scheduler only: where each unit lives. */
export interface PlacementStore {
  readUnit(id: UnitId, signal: AbortSignal): Promise<UnitWithWorkspace | undefined>;
  /** Those of them that there are, sorted by id. */
  readUnits(ids: readonly UnitId[], signal: AbortSignal): Promise<readonly UnitWithWorkspace[]>;
  readUnitsOf(workspaceId: WorkspaceId, signal: AbortSignal): Promise<readonly PlacementUnit[]>;
  readFleet(className: string, signal: AbortSignal): Promise<FleetSnapshot>;
  /**
   * Units without an owner, and those without a live move that are to have another class than they have or whose workspace's groups were changed, oldest first. Empty behind a unit that is
   * gone.
   */
  listUnsettled(page: Page, signal: AbortSignal): Promise<readonly UnitId[]>;
  /**
   * Gives a unit the class of the instance that owns it, and its workspace that trust: what a commit of a move does, where another program did it.
   * Notifies `class` where that is another one.
   */
  takeClassOfOwner(unitId: UnitId, signal: AbortSignal): Promise<void>;
  /**
   * Locks the instance's row, re-checks state, fit against the loads as they are now, that no other part of the workspace is
   * there and nobody from whom it must be apart, and on success gives the unit its
   * owner, a new epoch, phase IDLE and a decision row, and notifies `unit` and each of its applications.
   */
  commitFirstPlacement(placement: FirstPlacement, signal: AbortSignal): Promise<PlacementOutcome>;
  /**
   * Journals that no instance has capacity for a unit without an owner, or no one of the class that it is to have or without those it must be apart from, once for each reason in a
   * row; notifies the applications of one without an owner the first time.
   */
  recordUnplaceable(unitId: UnitId, refusal: PlacementRefusal, signal: AbortSignal): Promise<void>;
  /**
   * Takes the mark that its workspace's groups were changed from a unit, if under the lock of its instance nobody is there from whom it must be apart;
   * else the mark stays.
   */
  recordRegrouped(unitId: UnitId, signal: AbortSignal): Promise<void>;
}
