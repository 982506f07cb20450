import type { DemandHistory, FullInstances, PoolSizes, Sizing } from "../../domain/capacity.ts";
import type { Millis } from "../../domain/clock.ts";
import type { EnvironmentId, InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { ResourceLimits } from "../../domain/raised-resources.ts";
import type { MeanLoads, MeasuredPromise, ReliefPromise } from "../../domain/rebalancing.ts";

/** What is known of a unit's load, with fractions. */
export interface KnownLoad {
  /** What plans are made with. */
  readonly planning: LoadVector;
  /** What it does now. */
  readonly recent: LoadVector;
  /** When it was measured last. Read from the store: when the instance that holds it was, if that is later. */
  readonly at: Millis;
}

/** What of a unit goes to one destination. */
export interface CountedDestination {
  /** Its own namespace, through the cluster entry all share. */
  readonly isOwn: boolean;
  /** Environments of the name its applications give, if it is another, each with a cluster entry of its own. */
  readonly environments: readonly EnvironmentId[];
  readonly applications: number;
  /** Objects its applications manage, as their instance says. */
  readonly resources: number;
}

/** A unit on the instance that holds it, with what can be counted of it. */
export interface CountedUnit {
  readonly unitId: UnitId;
  readonly workspaceId: WorkspaceId;
  readonly namespace: string;
  readonly epoch: number;
  /** The own namespace first, then by name of the environment; none that no application goes to. */
  readonly destinations: readonly CountedDestination[];
  /** How many of its applications read each repository. */
  readonly repositories: Readonly<Record<string, number>>;
  readonly known: KnownLoad | undefined;
}

/** What an instance took while it was measured. */
export interface LoadObservation {
  readonly milliCpu: number;
  /** Calls to Kubernetes a minute. */
  readonly requests: number;
  readonly resources: number;
  readonly applications: number;
}

export interface InstanceLoad {
  readonly instanceId: InstanceId;
  readonly at: Millis;
  /** Sum of what was measured of its units, whole numbers. */
  readonly total: LoadVector;
  /** Absent where only counts could be taken. */
  readonly observation: LoadObservation | undefined;
  /** Objects its controller caches; absent where it did not say. */
  readonly cachedObjects: number | undefined;
}

export interface LoadSample extends InstanceLoad {
  readonly units: readonly {
    readonly unitId: UnitId;
    readonly epoch: number;
    readonly load: KnownLoad;
    /** The planning load in whole numbers: what instances are filled by. Its applications are counted elsewhere and left alone. */
    readonly whole: LoadVector;
  }[];
}

/** What is remembered of a class from one plan to the next. */
export interface ClassLoadState {
  /** Totals that were last trusted, and a level that was not but may come to be. */
  readonly reference?: { readonly total: LoadVector; readonly rival?: { readonly total: LoadVector; readonly since: Millis } | undefined };
  readonly weights?: { readonly base: number; readonly request: number; readonly resource: number; readonly application: number };
  readonly fittedAt?: Millis;
  /** Since when instances have been above the bound, and overloaded, by id. */
  readonly aboveSince: Readonly<Record<string, Millis>>;
  readonly overloadedSince: Readonly<Record<string, Millis>>;
  /** What the instances were measured to have, what automatic plans promise of them, and how the last promises came out, newest first. */
  readonly meanLoads?: MeanLoads | undefined;
  readonly promises?: readonly ReliefPromise[] | undefined;
  readonly measured?: readonly MeasuredPromise[] | undefined;
  /**
   * Where pools have no declared size: what the class took in each hour of the week; hours of a level that is not believed yet; how many instances its pools are
   * to have, and by what that was decided.
   */
  readonly demand?: DemandHistory | undefined;
  readonly doubted?: DemandHistory | undefined;
  readonly sizes?: PoolSizes | undefined;
  readonly sizing?: Sizing | undefined;
  readonly full?: FullInstances | undefined;
  /** Where resources may be raised: which instances ran out of what they cannot be given. */
  readonly limits?: ResourceLimits | undefined;
}

/** A unit with its load, for people. */
export interface HeavyUnit {
  readonly unitId: UnitId;
  readonly namespace: string;
  readonly bucket: number;
  readonly instanceId: InstanceId;
  /** As instances are filled by it. */
  readonly planning: LoadVector;
  readonly capacity: LoadVector;
  /** Absent: it was not measured yet. */
  readonly known: KnownLoad | undefined;
}

/** Written by the scheduler: what units and instances were measured to take. */
export interface LoadStore {
  /** Units the instance holds, sorted by id, read at one moment. */
  countUnits(instanceId: InstanceId, signal: AbortSignal): Promise<readonly CountedUnit[]>;
  /**
   * Records what one instance was measured to take. Where a later sample of the instance is recorded, nothing changes. A unit that was moved
   * meanwhile, or of which a later sample is recorded, is left as it is. Rows of units of which nothing is new, and of those that are not in
   * the sample, are not written.
   */
  recordSample(sample: LoadSample, signal: AbortSignal): Promise<void>;
  /** Of instances of the class that are not retired and were measured at least once, sorted by id. */
  listInstanceLoads(className: string, signal: AbortSignal): Promise<readonly InstanceLoad[]>;
  /** Nothing remembered where nothing is recorded. */
  readState(className: string, signal: AbortSignal): Promise<ClassLoadState>;
  recordState(className: string, state: ClassLoadState, signal: AbortSignal): Promise<void>;
  /** How many instances pools of every class are to have that have no declared size, by name of the pool. */
  listSizes(signal: AbortSignal): Promise<PoolSizes>;
  /**
   * Units that take the largest share of their instance in any dimension, of all instances or of one, largest first; a dimension without capacity does not
   * count.
   */
  listHeaviest(of: { readonly limit: number; readonly instanceId?: InstanceId }, signal: AbortSignal): Promise<readonly HeavyUnit[]>;
}
