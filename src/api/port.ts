import type { Calibration, CalibrationFacts } from "../domain/calibration.ts";
import type { Clock, Millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import type { Directive, Freeze } from "../domain/directive.ts";
import type { EngineObject } from "../domain/engine.ts";
import type { FleetSpec } from "../domain/fleet.ts";
import type { Ids, InstanceId, MoveId, PlanId, RolloutId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { LoadVector } from "../domain/load.ts";
import type { Move, MoveKind } from "../domain/move.ts";
import type { CarriedStep, PlanGoal, StoredPlan } from "../domain/plan.ts";
import type { RepositoryCredential } from "../domain/repository-credential.ts";
import type { Rollout, RolloutOrder } from "../domain/rollout.ts";
import type { Supposition, WhatIf } from "../domain/what-if.ts";
import type { PlacementUnit, Workspace } from "../domain/workspace.ts";
import type { InstanceLoad } from "../store/load/port.ts";
import type { Store } from "../store/port.ts";
import type { DesiredApplication } from "../store/shard/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Identities } from "./identity/port.ts";
import type { RequestRates } from "./request-limits.ts";

export interface FleetComplaint {
  readonly path: string;
  readonly message: string;
  readonly remedy: string;
}

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly remedy: string;
  /** What was ordered or declared that looks like trouble and is no failure; with how to end it. Absent: nothing. */
  readonly remark?: string;
}

/** What a declared fleet does to one instance. */
export interface PlannedChange {
  readonly instance: string;
  readonly pool: string;
  readonly change: "created" | "retired" | "waits" | "recalled" | "resized" | "left";
  readonly units: number;
  readonly reason: string;
}

/** What an instance costs; absent is what could not be read now. */
export interface InstanceUsage {
  readonly clusterEntries: number | undefined;
  readonly controllerMemoryBytes: number | undefined;
}

/** The scheduler's plans of what should move. */
export interface PlanningPort {
  /** Makes and keeps a plan for one class. */
  plan(
    className: string,
    goal: { readonly kind: PlanGoal; readonly instance?: Instance; readonly subject: string; readonly actor: string },
    signal: AbortSignal,
  ): Promise<StoredPlan>;
  /** What would become of a class if something were different. Keeps nothing. Throws `InputError` for what cannot be supposed. */
  whatIf(className: string, suppositions: readonly Supposition[], signal: AbortSignal): Promise<WhatIf>;
  apply(id: PlanId, said: { readonly actor: string }, signal: AbortSignal): Promise<readonly CarriedStep[]>;
  /** A plan as sentences. */
  describe(plan: StoredPlan): readonly string[];
  /** Whether every choice of it, asked again, gives the recorded answer. */
  review(plan: StoredPlan): boolean;
  /** What the things it names are called; why an approver has to carry it out, empty: an operator may. */
  names(plan: StoredPlan): {
    unit(id: string): string;
    instance(id: string): string;
    isDeployed(id: string): boolean;
    readonly approval: readonly string[];
    /** The same in words. */
    readonly approvalText: string;
  };
}

/** The mover's live moves. */
export interface Moving {
  /** What speaks against moving a unit there now, for people. */
  whyNot(
    request: { readonly unit: PlacementUnit; readonly target: Instance; readonly isFailOver?: boolean },
    signal: AbortSignal,
  ): Promise<{ readonly code: string; readonly text: string } | undefined>;
  ask(
    request: {
      readonly unit: PlacementUnit;
      readonly target: Instance;
      readonly kind: MoveKind;
      readonly actor: string;
      readonly isFailOver?: boolean;
      /** Why, in the words of whoever asks. */
      readonly words?: string | undefined;
    },
    signal: AbortSignal,
  ): Promise<Move>;
  abort(id: MoveId, actor: string, signal: AbortSignal): Promise<Move>;
  /** Gives up what waits to leave an instance that is not emptied any more. Returns how many moves. */
  giveUp(source: InstanceId, which: "that wait to drain it", actor: string, signal: AbortSignal): Promise<number>;
  reverse(id: MoveId, actor: string, signal: AbortSignal): Promise<Move>;
}

/** The scheduler's emptying of instances. */
export interface Draining {
  /** How many of its moves may be under way at once with one instance at either end. */
  readonly budget: number;
  draft(instance: Instance, actor: string, signal: AbortSignal): Promise<StoredPlan>;
  /** What such a plan finds no other instance for, and why. */
  staying(plan: StoredPlan, instance: Instance): readonly Pick<CarriedStep, "name" | "why">[];
  /** What speaks against emptying it at all, unless that is forced, with what to do instead. */
  whyLast(instance: Instance, signal: AbortSignal): Promise<string | undefined>;
  begin(
    instance: Instance,
    said: { readonly actor: string; readonly reason: string; readonly isFailOver?: boolean; readonly isForced?: boolean },
    signal: AbortSignal,
  ): Promise<void>;
}

/** The requests that roll releases out. */
export interface RollingOut {
  draft(
    order: RolloutOrder,
    signal: AbortSignal,
  ): Promise<{ readonly rollout: Rollout; readonly refused: readonly { readonly instance: string; readonly reason: string }[] }>;
  create(order: RolloutOrder, signal: AbortSignal): Promise<Rollout>;
  command(
    id: RolloutId,
    order: { readonly command: "pause" | "resume" | "approve" | "abort"; readonly actor: string; readonly reason: string },
    signal: AbortSignal,
  ): Promise<Rollout>;
  unfreeze(version: string, actor: string, signal: AbortSignal): Promise<void>;
}

/** A workspace's applications as an ordinary Argo CD takes them. */
interface WorkspaceExport {
  readonly objects: readonly EngineObject[];
  readonly leftOut: readonly { readonly application: string; readonly reason: string }[];
  readonly needs: readonly { readonly kind: "cluster" | "repository"; readonly url: string }[];
}

/** What the API asks of the other modules; the composition root hands it in. */
export interface ApiDeps {
  readonly store: Store;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
  /** Who has to agree to what, as configured. */
  readonly approvals: { readonly fleet: "two-people" | "nobody" };
  readonly requestRates: RequestRates;
  /** Who callers are whose tokens are in no table of ours. */
  readonly identities: Identities;
  /** Parses a fleet document of unknown shape; all complaints at once. */
  readonly parseFleet: (
    document: unknown,
  ) =>
    | { readonly ok: true; readonly spec: FleetSpec; readonly saysGroups: boolean }
    | { readonly ok: false; readonly complaints: readonly FleetComplaint[] };
  /** The document that declares a fleet, in the units of people. */
  readonly renderFleet: (spec: FleetSpec) => Record<string, unknown>;
  /** What a fleet does to its instances once it is in force; `pruned`: pools removed on purpose. */
  readonly planFleet: (facts: {
    readonly spec: FleetSpec;
    readonly pruned: readonly string[];
    readonly instances: readonly Instance[];
    readonly units: ReadonlyMap<InstanceId, number>;
  }) => readonly PlannedChange[];
  /** The scheduler's account of a unit, as sentences. */
  readonly explain: (about: {
    readonly unit: PlacementUnit;
    readonly namespace: string;
    readonly directive: Directive;
    readonly freezes: readonly Freeze[];
    /** Of the unit, and of what was ordered about its workspace; newest first. */
    readonly decisions: readonly Decision[];
    readonly owner: Instance | undefined;
    readonly move: Move | undefined;
    /** That may move it, and the one by which it was moved last; newest first. */
    readonly plans: readonly StoredPlan[];
    readonly instanceName: (id: string) => string;
    readonly now: Millis;
  }) => readonly string[];
  readonly planning: PlanningPort;
  readonly moving: Moving;
  readonly draining: Draining;
  readonly rollouts: RollingOut;
  /** The scheduler's account of an instance, as sentences. */
  readonly explainInstance: (about: {
    readonly instance: Instance;
    readonly load: LoadVector;
    readonly units: number;
    readonly measured: InstanceLoad | undefined;
    readonly aboveSince: Millis | undefined;
    readonly overloadedSince: Millis | undefined;
    readonly decisions: readonly Decision[];
  }) => readonly string[];
  /** How much load an instance can take, learnt from observations of it. */
  readonly calibrate: (facts: CalibrationFacts) => Calibration;
  /** What tells the cluster users' resources are on from any other. */
  readonly apiClusterUid: (signal: AbortSignal) => Promise<string>;
  /** What an ordinary Argo CD in a namespace takes; `server`: how it addresses the API cluster, absent: as instances do. */
  readonly exportWorkspace: (
    facts: {
      readonly workspace: Workspace;
      readonly rows: readonly DesiredApplication[];
      readonly credentials: readonly RepositoryCredential[];
    },
    taker: { readonly namespace: string; readonly server: string | undefined },
  ) => WorkspaceExport;
  /** Whether a recorded decision, asked again of what is recorded with it, gives the recorded verdict; `undefined`: nothing to ask. */
  readonly review: (decision: Decision) => boolean | undefined;
  /** Whether a text is a schedule that a freeze may begin by. */
  readonly isSchedule: (text: string) => boolean;
  /** Asks instances themselves what they cost; takes seconds when some do not answer. */
  readonly readUsage: (instances: readonly Instance[], signal: AbortSignal) => Promise<ReadonlyMap<InstanceId, InstanceUsage>>;
  readonly doctor: (signal: AbortSignal) => Promise<readonly Check[]>;
  /** Prometheus text of all metrics. */
  readonly metricsText: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly readiness: () => Promise<{
    readonly ok: boolean;
    readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
  }>;
}
