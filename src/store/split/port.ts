import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { ApplicationId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";

/** An application as far as cutting its workspace into parts goes. */
export interface SplitApplicationRow {
  readonly id: ApplicationId;
  /** Number of the part it lives in. */
  readonly part: number;
  /** The application's. */
  readonly name: string;
  /** Names; empty: the workspace's own. */
  readonly environment: string;
  readonly namespace: string;
  /** How many objects it deploys, as last reported; absent before. */
  readonly resources: number | undefined;
  /** Whether it was seen to deploy objects that belong to no namespace. */
  readonly hasClusterScoped: boolean;
}

/** A workspace that is split, or large, as it is at one moment. */
export interface SplitRow {
  readonly workspaceId: WorkspaceId;
  /** By number of the part. */
  readonly units: readonly PlacementUnit[];
  readonly parts: number;
  /** The part of buckets that have none yet. */
  readonly openPart: number;
  readonly roomySince: Millis | undefined;
  /** The part of each bucket, by its key. */
  readonly deal: Readonly<Record<string, number>>;
  /** Sorted by id. */
  readonly applications: readonly SplitApplicationRow[];
}

/** How a workspace should be split from now on. */
export interface SplitChange {
  readonly workspaceId: WorkspaceId;
  /** The parts it rests on: their rows must not have changed. */
  readonly seen: readonly { readonly id: UnitId; readonly rowVersion: number }[];
  readonly parts: number;
  readonly openPart: number;
  readonly roomySince: Millis | undefined;
  readonly deal: Readonly<Record<string, number>>;
  /** Ids for parts that are not there yet. */
  readonly newUnits: readonly { readonly id: UnitId; readonly part: number }[];
  /** What the journal records; absent: only where new buckets go, or since when there was capacity, has changed. */
  readonly decision: Decision | undefined;
}

/** What a change of parts rests on, and what it makes of them. */
interface PartsChange {
  readonly workspaceId: WorkspaceId;
  /** All parts: their rows must not have changed. */
  readonly seen: SplitChange["seen"];
  readonly deal: Readonly<Record<string, number>>;
  readonly decision: Decision;
}

/** A unit that is cut in two on the instance it is on. */
export interface Cut extends PartsChange {
  /** It keeps its account, and the applications that the deal leaves to its part. It is to leave the instance. */
  readonly unitId: UnitId;
  /** The part that is made for the others, which stay. Its number is the lowest that is free. */
  readonly staying: { readonly id: UnitId; readonly part: number };
  /** What each of the two takes, in whole numbers. Applications are counted. */
  readonly loads: { readonly leaving: LoadVector; readonly staying: LoadVector };
}

/** A part, the last by number, that is to be joined with another one. */
export interface Joining extends PartsChange {
  readonly unitId: UnitId;
  /** The unit that is to have its applications. */
  readonly into: UnitId;
}

/** Parts of workspaces. Written by the scheduler. */
export interface SplitStore {
  /** Workspaces of a class that are split, or whose units together take more than `beyond` in any dimension; sorted by id. */
  list(className: string, beyond: LoadVector, signal: AbortSignal): Promise<readonly SplitRow[]>;
  /**
   * Makes the parts that are missing and records the deal. Applications go to the part of their bucket where neither the part they
   * are in nor that one was ever placed; all others stay where they are. Parts beyond the number that were never placed and hold
   * nothing any more are removed. Returns whether it happened: not, when a part was placed, moved or removed meanwhile.
   */
  commit(change: SplitChange, signal: AbortSignal): Promise<boolean>;
  /**
   * Cuts a unit of which something is deployed, without a move: a new part owns the staying applications on the same instance, under an
   * epoch of its own. Notifies both units and each of those applications. False: a part was placed, moved, cut or removed meanwhile,
   * one of the two moves, another part is on the instance, or an application that would stay deploys to an environment.
   */
  cut(cut: Cut, signal: AbortSignal): Promise<boolean>;
  /** Records that a part is to be joined with another one. New applications of its buckets go to that one from now on. False: as with `cut`. */
  join(joining: Joining, signal: AbortSignal): Promise<boolean>;
  /**
   * All applications of a part that is to be joined pass to the other one, on the instance both are on, under a new epoch. Notifies both units and each
   * application. False: the two are not both there and at rest, or one of the applications deploys to an environment.
   */
  takeOver(unitId: UnitId, decision: Decision, signal: AbortSignal): Promise<boolean>;
  /** Takes back that a part is to be joined, unless the other one has taken its applications over already. */
  keepApart(unitId: UnitId, signal: AbortSignal): Promise<void>;
}
