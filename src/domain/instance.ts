import type { Millis } from "./clock.ts";
import type { InstanceId, RolloutId } from "./ids.ts";
import { type LoadVector, loadVector } from "./load.ts";

export const INSTANCE_STATES = ["REQUESTED", "CREATING", "WARMING", "ACTIVE", "CORDONED", "DRAINING", "RETIRED", "FAILED"] as const;
export type InstanceState = (typeof INSTANCE_STATES)[number];

/**
 * Whether an instance's controller is stopped for good, so that nothing it could do needs to be forbidden any more. `wanted`: it is being
 * stopped. `seen`: its pod was seen to be gone; no other one is made.
 */
export const HALTS = ["none", "wanted", "seen"] as const;
export type Halt = (typeof HALTS)[number];

/**
 * Why an instance is as it is, for decisions; its `reason` says it for people.
 *
 * PERSON, QUARANTINE, ROLLOUT: who cordoned it, a rollout with its id. POOL: its pool did, which asks for less. NAMESPACE_TAKEN: it could
 * not be created in a namespace that somebody else made. PODS: what keeps its pods from starting, as its reason says already.
 */
export type InstanceCause =
  | { readonly code: "PERSON" | "QUARANTINE" | "POOL" | "NAMESPACE_TAKEN" }
  | { readonly code: "ROLLOUT"; readonly rollout: RolloutId }
  | { readonly code: "PODS"; readonly trouble: string };

/**
 * How an instance enters the API cluster. `shared`: by one cluster entry for all its workspaces, which reads what may be deployed in every
 * namespace. `filtered`: by the same one, through a filter in the instance's pod, which leaves out namespaces of which the instance holds no workspace.
 * `per-workspace`: by an entry for each workspace, which reads that workspace's namespace and no other.
 */
export const ENTRIES = ["shared", "filtered", "per-workspace"] as const;
export type Entries = (typeof ENTRIES)[number];

/** Whether the workspaces of an instance have one entry for the API cluster together. */
export function sharesEntry({ entries }: { readonly entries: Entries }): boolean {
  return entries !== "per-workspace";
}

/**
 * What workspaces of this load take of an instance: where each has a cluster entry, that too. `entries` absent: they share one. An instance holds one
 * part of a workspace at most, so units are counted.
 */
export function loadOn({ entries }: { readonly entries?: Entries }, load: LoadVector, units = 1): LoadVector {
  if (entries !== "per-workspace") return load;
  return loadVector((dimension) => load[dimension] + (dimension === "clusterEntries" ? units : 0));
}

/** Amounts of an instance that are raised by themselves where its pool says up to where, as `resources` of fleet.yaml names them. */
export const RAISABLE_AMOUNTS = ["controller.cpu", "controller.memory", "repoServer.memory", "repoServer.disk"] as const;
export type RaisableAmount = (typeof RAISABLE_AMOUNTS)[number];

/** Quantities, by amount. */
export type RaisedAmounts = Readonly<Partial<Record<RaisableAmount, string>>>;

/** What one instance was given beyond the declaration of its pool. */
export interface RaisedResources {
  readonly amounts: RaisedAmounts;
  /** When they were changed last. */
  readonly at: Millis;
  /** A change that is under way: to what it goes back if pods do not get ready with it. Absent: all were seen to run. */
  readonly before?: RaisedAmounts;
  /** The amount that was taken back last because pods did not get ready with it, and when. */
  readonly refused?: { readonly amount: RaisableAmount; readonly at: Millis };
}

/** One Argo CD installation in a namespace of an engine cluster. */
export interface Instance {
  readonly id: InstanceId;
  readonly name: string;
  readonly engineCluster: string;
  readonly namespace: string;
  readonly pool: string;
  readonly class: string;
  /** As its pool declared when it was made; it keeps that for life. */
  readonly entries: Entries;
  /** The version that runs; equal to `desiredVersion` outside a rollout. */
  readonly version: string;
  readonly desiredVersion: string;
  readonly state: InstanceState;
  readonly stateSince: Millis;
  readonly halt: Halt;
  /** Whether what leaves it while it drains leaves by fail-over. */
  readonly failsOver: boolean;
  /** Why it is in this state, for people. */
  readonly reason: string;
  /** Absent: nothing is decided by its reason. */
  readonly cause: InstanceCause | undefined;
  /** Attempts in the present state; a failed creation is retried with its reason and given up visibly. */
  readonly attempt: number;
  readonly capacity: LoadVector;
  /** Resources that it was given beyond its pool's declaration; absent: none. */
  readonly raised?: RaisedResources | undefined;
  /** Smallest ring weight unit: capacity relative to the smallest instance of the class, at least 1. */
  readonly weight: number;
  /** Content hash of the parameters the manifests were last rendered from. */
  readonly appliedHash: string;
  /** What stands for its objects as a process last left them. Absent: none has said so. */
  readonly leftHash?: string;
  /** Rises with every change of the row; writes are conditional on it. */
  readonly revision: number;
}

/** Where the content of an instance stands. */
export type InstancePlace = Pick<Instance, "engineCluster" | "namespace">;
