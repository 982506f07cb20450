import { type Millis, millis, rfc3339 } from "../../domain/clock.ts";
import type { InstanceId, MoveId, UnitId } from "../../domain/ids.ts";
import type { Move, MovePhase } from "../../domain/move.ts";
import type { Application } from "../../domain/workspace.ts";
import { applyJsonPatch } from "../../runtime/kube/testing/json-patch.ts";
import type { ApplicationPlacement } from "../../shard/application-placement.ts";
import type { DesiredObject } from "../../shard/managed-object.ts";
import { type ApplicationObservation, parseObservation, parseOwnerBinding } from "../../shard/parse-observation.ts";
import { renderApplication } from "../../shard/render-application.ts";
import { renderUnit } from "../../shard/render-unit.ts";
import { anApplicationPlacement, DESTINATION, NAMESPACES, type Stored, stored, TARGET } from "../../shard/testing/builders.ts";
import type { MoveWorld } from "../next-step.ts";
import type { Side, SidedWrite } from "../phases/object-step.ts";
import type { Pair } from "../phases/pair.ts";

export const EPOCH = 7;
export const MOVE_EPOCH = 9;
export const NOW = millis(1_767_225_600_000);

export function aMove(over: Partial<Move> = {}): Move {
  return {
    ...{ id: "move-1" as MoveId, unitId: "unit-1" as UnitId, from: "instance-1" as InstanceId, to: "instance-2" as InstanceId },
    ...{ fromEpoch: EPOCH, toEpoch: MOVE_EPOCH, phase: "PREPARE", phaseSince: NOW, kind: "voluntary", reason: "FORCED" },
    ...{
      plan: undefined,
      reverses: undefined,
      isFailOver: false,
      actor: "otto",
      createdAt: NOW,
      endedAt: undefined,
      message: "",
      messageCode: undefined,
      baseline: [],
      marks: [],
    },
    ...over,
  };
}

const SOURCE_PLACEMENT = anApplicationPlacement();
const TARGET_PLACEMENT: ApplicationPlacement = {
  ...anApplicationPlacement({ owner: "instance-2" as InstanceId, epoch: MOVE_EPOCH }),
  instance: { id: "instance-2" as InstanceId, namespace: "argocd-2", engineCluster: "engine", entries: "shared" },
};

const ownerBindingOf = (placement: ApplicationPlacement): DesiredObject =>
  renderUnit(placement, { destination: DESTINATION, namespaces: NAMESPACES, repoUrls: [], environmentRepoUrls: [], environments: [] })
    .ownerBinding;
const GRANTED = ownerBindingOf(TARGET_PLACEMENT);
const desiredOn = (side: "source" | "target", application: Application): DesiredObject =>
  renderApplication(side === "source" ? SOURCE_PLACEMENT : TARGET_PLACEMENT, application, TARGET);

/** A status as Argo CD's controller leaves it. */
const HEALTHY = {
  sync: { status: "Synced", revision: "0123" },
  health: { status: "Healthy" },
  reconciledAt: "2025-12-31T23:59:00Z",
  operationState: { phase: "Succeeded", finishedAt: "2025-12-31T23:50:00Z", operation: { sync: {} } },
};

/** An application as it stands on its owner at rest. */
function standing(application: Application): Stored {
  return { ...stored(desiredOn("source", application), `uid-${application.argoName}`), status: structuredClone(HEALTHY) };
}

export function observationOf(raw: Stored): ApplicationObservation {
  return parseObservation(raw) as ApplicationObservation;
}

/** The two instances and the owner binding of one unit, as far as a move and Argo CD's controllers touch them. */
export interface Model {
  readonly objects: Record<"source" | "target", Map<string, Stored>>;
  ownerBinding: Stored | undefined;
  now: Millis;
  /** What can be decided from, at this moment. */
  observe(move: Move, over?: Partial<MoveWorld>): MoveWorld;
  /** Carries a write out as an API server does; false when its tests do not hold. */
  carry(each: SidedWrite): boolean;
  /** Something Argo CD does by itself with an Application that is not paused. */
  act(side: "source" | "target", name: string, what: "compare" | "begin" | "end" | "fail" | "hook"): void;
}

export function createModel(applications: readonly Application[]): Model {
  let version = 100;
  const next = (): string => String(++version);
  const touch = (object: Stored): Stored => ({ ...object, metadata: { ...object.metadata, resourceVersion: next() } });
  const list = (side: "source" | "target"): readonly ApplicationObservation[] => [...model.objects[side].values()].map(observationOf);

  const put = (side: Side, name: string, object: Stored | undefined): void => {
    const finalizers = object?.metadata["finalizers"] as readonly string[] | undefined;
    const isOver = object === undefined || (object.metadata["deletionTimestamp"] !== undefined && (finalizers?.length ?? 0) === 0);
    if (side === "ownerBinding") model.ownerBinding = isOver ? undefined : object;
    else if (isOver) model.objects[side].delete(name);
    else model.objects[side].set(name, object);
  };
  const get = (side: Side, name: string): Stored | undefined =>
    side === "ownerBinding" ? model.ownerBinding : model.objects[side].get(name);

  const model: Model = {
    objects: { source: new Map(applications.map((each) => [each.argoName, standing(each)])), target: new Map() },
    ownerBinding: stored(ownerBindingOf(SOURCE_PLACEMENT), "owner-binding-1"),
    now: NOW,
    observe(move, over = {}) {
      const pairs = applications.map(
        (each): Pair => ({
          name: each.argoName,
          desired: desiredOn("target", each),
          isRemote: each.spec.destination.environment !== undefined,
          isLeaving: each.deletedAt !== undefined,
          ...sourceOf(
            move,
            list("source").find(({ at }) => at.name === each.argoName),
          ),
          target: list("target").find(({ at }) => at.name === each.argoName),
        }),
      );
      return {
        ...{ now: model.now, pairs, onSource: move.isFailOver ? [] : list("source"), onTarget: list("target") },
        ...{ passed: [], isSourceAway: move.isFailOver },
        ...{
          ownerBinding: model.ownerBinding && parseOwnerBinding(model.ownerBinding),
          isNamespaceGone: false,
          granted: GRANTED,
          prerequisiteWaits: [],
        },
        ...{ isRefusalProven: false, answer: undefined, askedAt: undefined, visits: [], isSourceStopped: false, enteredFreely: undefined },
        ...over,
        ...(move.phase === "GRANT" && over.answer === undefined ? { answer: holderOf(model) === "target" ? "allowed" : "refused" } : {}),
      };
    },
    carry({ side, write }) {
      if (write.kind === "create") {
        const { name } = write.manifest.metadata;
        if (get(side, name) !== undefined) return false;
        const { metadata, ...rest } = structuredClone(write.manifest) as unknown as Stored;
        put(side, name, { ...rest, metadata: { ...metadata, uid: `uid-${next()}`, resourceVersion: next() } });
        return true;
      }
      const object = get(side, write.at.name);
      if (object === undefined) return false;
      if (write.kind === "delete") {
        const { uid, resourceVersion } = write.preconditions;
        if (object.metadata["uid"] !== uid || object.metadata["resourceVersion"] !== resourceVersion) return false;
        put(side, write.at.name, touch({ ...object, metadata: { ...object.metadata, deletionTimestamp: rfc3339(model.now) } }));
        return true;
      }
      const patched = applyJsonPatch(object as never, write.patch) as Stored | undefined;
      if (patched !== undefined) put(side, write.at.name, touch(patched));
      return patched !== undefined;
    },
    act(side, name, what) {
      const object = model.objects[side].get(name);
      if (object === undefined || observationOf(object).isPaused) return;
      put(side, name, touch(acted(structuredClone(object), what, model.now)));
    },
  };
  return model;
}

/** What a move sees of its source. One that does not go there knows what was last recorded: here as it is. */
function sourceOf(
  { isFailOver }: Move,
  observation: ApplicationObservation | undefined,
): Pick<Pair, "source" | "isSourceUnknown" | "before"> {
  return { source: isFailOver ? undefined : observation, isSourceUnknown: isFailOver, before: observation?.report?.status };
}

/** Who the owner binding lets write. */
export function holderOf({ ownerBinding }: Pick<Model, "ownerBinding">): "source" | "target" | "nobody" | "others" {
  const subjects = ownerBinding === undefined ? [] : (parseOwnerBinding(ownerBinding)?.subjects ?? []);
  if (subjects.length === 0) return "nobody";
  const nameIn = (desired: DesiredObject): unknown => (desired.content["subjects"] as readonly { readonly name: string }[])[0]?.name;
  if (subjects.length > 1) return "others";
  if (subjects[0] === nameIn(ownerBindingOf(SOURCE_PLACEMENT))) return "source";
  return subjects[0] === nameIn(GRANTED) ? "target" : "others";
}

function acted(object: Stored, what: Parameters<Model["act"]>[2], now: Millis): Stored {
  const observation = observationOf(object);
  const status = object["status"] as Record<string, unknown> | undefined;
  switch (what) {
    case "compare": {
      const { "argocd.argoproj.io/refresh": _refresh, ...annotations } = object.metadata["annotations"] as Record<string, string>;
      const seen = { ...HEALTHY, ...status, reconciledAt: rfc3339(now) };
      return { ...object, metadata: { ...object.metadata, annotations }, status: seen };
    }
    case "begin":
      if (!observation.isAutomated || observation.sync.operation !== undefined) return object;
      return { ...object, operation: { sync: {} }, status: { ...status, operationState: { phase: "Running", operation: { sync: {} } } } };
    case "end":
    case "fail": {
      const { operation, ...rest } = object;
      if (operation === undefined) return object;
      const phase = what === "end" && observation.sync.state?.phase !== "Terminating" ? "Succeeded" : "Failed";
      return { ...rest, metadata: object.metadata, status: { ...status, operationState: { phase, operation, finishedAt: rfc3339(now) } } };
    }
    case "hook":
      return { ...object, metadata: { ...object.metadata, finalizers: ["post-delete-finalizer.argocd.argoproj.io/cleanup"] } };
  }
}

/** The move as it is in another phase, which begins now. */
export function inPhase(move: Move, phase: MovePhase, now: Millis, over: Partial<Move> = {}): Move {
  return { ...move, ...over, phase, phaseSince: now };
}
