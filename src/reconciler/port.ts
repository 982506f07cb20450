import type { IssuedToken } from "../domain/account-token.ts";
import type { HeldObject } from "../domain/blockage.ts";
import type { EnvironmentId, InstanceId, UnitId } from "../domain/ids.ts";
import type { Instance, InstancePlace } from "../domain/instance.ts";
import type { Discovery } from "../domain/parse-discovery.ts";
import type { ResourceStatus } from "../domain/status.ts";
import type { PlacementUnit, Workspace } from "../domain/workspace.ts";
import type { PolicyRule } from "../shard/deployer-rules.ts";
import type { PatchOperation, Preconditions } from "../shard/diff-object.ts";
import type { ObservedEntry } from "../shard/entry-token.ts";
import type { Manifest, ObjectAt, ObjectChange, ObservedObject } from "../shard/managed-object.ts";
import type { ObservedApplication } from "../shard/parse-application.ts";
import type { ObservedBinding, ObservedRole } from "../shard/parse-rights.ts";
import type { Tampering } from "../shard/tampering.ts";

/**
 * The objects of one kind that carry our label, kept by a watch, and conditional writes to them. Errors are those of the
 * Kubernetes client, except that a failed `test` is a `StaleError` too: whoever wrote conditionally reads again.
 */
export interface ManagedObjects<T extends ObservedObject> {
  /** As last seen; what was written through here is seen at once. */
  get(at: ObjectAt): T | undefined;
  list(namespace?: string): readonly T[];
  /** As the cluster has it now, also without our label. */
  read(at: ObjectAt, signal: AbortSignal): Promise<T | undefined>;
  /** Throws `StaleError` with code `kube.exists` when there is one, `GoneError` when the namespace is not there. */
  create(manifest: Manifest, signal: AbortSignal): Promise<T>;
  patch(at: ObjectAt, patch: readonly PatchOperation[], signal: AbortSignal): Promise<T>;
  /** Resolves also when the object is not there. */
  delete(at: ObjectAt, preconditions: Preconditions, signal: AbortSignal): Promise<void>;
  /** Calls `listener` with what others change; what was created or patched through here is left out. Returns what ends that. */
  subscribe(listener: (change: ObjectChange<T>) => void): () => void;
}

/** The content of one instance: what stands in its namespace on its engine cluster. */
export interface EngineShard {
  readonly cluster: string;
  readonly applications: ManagedObjects<ObservedApplication>;
  /** Those of the Applications that Argo CD has yet to answer (`isUnanswered`), as the watch shows them. Costs as much as these are, not as all are. */
  listUnanswered(): readonly ObservedApplication[];
  readonly projects: ManagedObjects<ObservedObject>;
  /** Cluster Secrets. */
  readonly entries: ManagedObjects<ObservedEntry>;
  /** Repository Secrets. */
  readonly repositories: ManagedObjects<ObservedObject>;
  /** True once every kind was listed completely; before that absence means nothing. */
  isSynced(): boolean;
  synced(signal: AbortSignal): Promise<void>;
  /** Calls `listener` when the cluster answers again after it could not be reached. Returns what ends that. */
  onReturn(listener: () => void): () => void;
}

/** The cluster users' resources stand in, and where own-namespace deployments go. */
export interface ApiCluster {
  readonly cluster: string;
  /** ServiceAccounts of instances, in the accounts namespace. */
  readonly accounts: ManagedObjects<ObservedObject>;
  /** Those that an instance holds, as the watch shows them. Costs as much as these are, not as all are; and so below. */
  accountsOf(instance: InstanceId): readonly ObservedObject[];
  readonly tokens: AccountTokens;
  /** Who may impersonate whom. */
  readonly roles: ManagedObjects<ObservedRole>;
  /** Owner bindings in users' namespaces, and the bindings of `roles`. */
  readonly bindings: ManagedObjects<ObservedBinding>;
  /** Those that name the unit, wherever they stand. */
  bindingsOf(unit: UnitId): readonly ObservedBinding[];
  readonly readers: ManagedObjects<ObservedObject>;
  readonly deployer: DeployerRole;
  readonly reader: KeptRole;
  readonly held: HeldObjects;
  /** Asks the API server: what watches show may be behind. `undefined`: there is none of that name. */
  readNamespaceUid(name: string, signal: AbortSignal): Promise<string | undefined>;
  isSynced(): boolean;
  synced(signal: AbortSignal): Promise<void>;
}

/** Tokens of read accounts. They stand in instances' cluster entries alone. */
export interface AccountTokens {
  /**
   * Asks for a token with an end, which may come sooner than after `lifeMs`. `GoneError`: there is no such account; `RefusedError` with
   * code `kube.forbidden`, or `UnavailableError`, where there is none to be had.
   */
  issue(account: ObjectAt, lifeMs: number, signal: AbortSignal): Promise<IssuedToken>;
  /** Removes the Secret in which earlier versions kept a token without an end; that token is worth nothing any more then. */
  removeEndless(account: ObjectAt, signal: AbortSignal): Promise<void>;
}

/** Finds what holds a deletion. */
export interface HeldObjects {
  /**
   * Those of these objects that are being deleted and have somebody's finalizer, as far as they can be seen with the rights the
   * account has in the namespace; objects elsewhere are left out.
   */
  find(
    where: { readonly namespace: string; readonly account: string; readonly resources: readonly ResourceStatus[] },
    signal: AbortSignal,
  ): Promise<readonly HeldObject[]>;
}

export interface ObservedClusterRole extends Preconditions {
  readonly rules: readonly PolicyRule[];
  readonly annotations: Readonly<Record<string, string>>;
}

/** A role whose rules Argosy keeps. */
export interface KeptRole {
  read(signal: AbortSignal): Promise<ObservedClusterRole | undefined>;
  /** Replaces the rules, and the annotations where some are given, of that very version; `StaleError` if it has changed. */
  replaceRules(
    version: Preconditions & { readonly annotations?: Readonly<Record<string, string>> },
    rules: readonly PolicyRule[],
    signal: AbortSignal,
  ): Promise<void>;
}

/** The role that owner bindings bind, and what it is made from. */
export interface DeployerRole extends KeptRole {
  discover(signal: AbortSignal): Promise<Discovery>;
}

/** The content of instances, each watched by itself, so that a process watches what it works on and no more. */
export interface Engines {
  /**
   * The content at this place, which is watched from then on; `undefined` while its engine cluster is not declared or cannot be reached. The watch
   * ends when nobody has asked for it for a minute, unless it is retained.
   */
  get(place: InstancePlace): Promise<EngineShard | undefined>;
  /** Whoever asks or does not ask: what stands at these places stays watched, once it is. Replaces what was retained before. */
  retain(places: readonly InstancePlace[]): void;
}

/** A unit on an instance that it moves to or has left, under an epoch. */
export interface UnitToPrepare {
  readonly unitId: UnitId;
  readonly instance: Instance;
  readonly epoch: number;
  /** Environments whose entries it does without while their credentials are not there. */
  readonly withoutEnvironments?: readonly EnvironmentId[];
  /** Its engine cluster cannot be reached: what stands there goes with the sweep once it can. */
  readonly isAway?: boolean;
}

/**
 * Prerequisites of a unit's Applications on an instance that a move names: account, projects, repository Secrets, cluster entries, the right
 * to impersonate.
 */
export interface UnitPrerequisites {
  /** Makes them equal to the unit's row. Returns what they wait for, for people; empty: they stand. */
  raise(unitToPrepare: UnitToPrepare, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Name of an environment that the instance may enter for the unit with what is no account of ours, by what is recorded of its entries;
   * `undefined`: none.
   */
  enteredFreely(unitToPrepare: UnitToPrepare, signal: AbortSignal): Promise<string | undefined>;
  /** Removes them, but for what a newer epoch wrote. The right to impersonate goes with the next sweep of the instance. */
  clear(unitToPrepare: UnitToPrepare, signal: AbortSignal): Promise<void>;
  /** Counts and reports an owner binding that somebody changed during the move and that was put back. */
  tellRepair(
    whose: { readonly unit: Pick<PlacementUnit, "id">; readonly workspace: Pick<Workspace, "namespace"> },
    tampering: Tampering,
  ): void;
}
