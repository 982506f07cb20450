import type { Clock } from "../domain/clock.ts";
import { StaleError, UnavailableError } from "../domain/errors.ts";
import type { ApplicationId, EnvironmentId, InstanceId, MoveId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Move } from "../domain/move.ts";
import { PHASES } from "../domain/move-phases.ts";
import type { Workspace } from "../domain/workspace.ts";
import type { ApplicationPlacement, Destination, OwnNamespaces } from "../shard/application-placement.ts";
import { newerFence } from "../shard/diff-object.ts";
import type { DesiredObject, ObjectAt } from "../shard/managed-object.ts";
import { ownerBindingName } from "../shard/names.ts";
import { unitOf } from "../shard/parse-application.ts";
import type { ApplicationObservation, ObservedOwnerBinding } from "../shard/parse-observation.ts";
import { renderOwnerBinding } from "../shard/render-unit.ts";
import { isBorneOutBy } from "../shard/tampering.ts";
import type { MoveRows } from "../store/move/port.ts";
import type { Store } from "../store/port.ts";
import type { EnvironmentOwnerBindings } from "../workspace/environment/port.ts";
import { OBSERVED } from "./next-observation.ts";
import type { MoveWorld } from "./next-step.ts";
import { pairUp } from "./phases/pair.ts";
import { type RemoteCluster, remoteClustersOf, type Visited } from "./phases/remote-clusters.ts";
import type { ManagedCluster, ObservationSource, Observations } from "./port.ts";

/** One observation of a move: what its next step is decided from (`world`), and what that step needs to be carried out. */
export interface ObservedMove {
  readonly move: Move;
  readonly source: Instance;
  readonly target: Instance;
  /** The unit as it will be on the target: owned by the target, under the move's epoch. */
  readonly placement: ApplicationPlacement;
  /** Access to the Applications on the source's engine cluster. Absent: the move works without the source. */
  readonly sourceObservations: Observations | undefined;
  /** Access to the Applications on the target's engine cluster. */
  readonly targetObservations: Observations;
  /** Environments in which Argosy makes accounts and owner bindings for the unit, or may have left some from earlier. */
  readonly remoteClusters: readonly RemoteCluster[];
  /**
   * Environments where the target has no account and the move does not wait for one. What deploys there is created
   * once it has one.
   */
  readonly unknown: readonly EnvironmentId[];
  /**
   * The epoch in the unit's row: the source's until COMMIT, the target's afterwards. After an abort it is a newer one
   * of the source's.
   */
  readonly unitEpoch: number;
  /** How this phase's work in remote clusters ended. Empty where the unit has none; absent where the work was not tried yet. */
  readonly visits: readonly Visited[] | undefined;
  /**
   * The observed part of what `nextStep` decides from. The worker remembers the omitted fields from step to step and
   * adds them.
   */
  readonly world: Omit<MoveWorld, "prerequisiteWaits" | "enteredFreely" | "isRefusalProven" | "answer" | "askedAt" | "visits">;
}

/**
 * There is nothing to do for a move. `waits`: its turn has not come. `over`: it has ended, or was deleted together
 * with its unit.
 */
export type Idle = "waits" | "over";

/**
 * Reads the rows of a move, and from the clusters what its phase needs (`OBSERVED` in `next-observation.ts`). Writes
 * nothing.
 *
 * @throws UnavailableError where an instance that the move needs cannot be reached
 * @throws StaleError where the move went on since its row was read, and that makes the owner binding unsafe to use
 */
export type ObserveMove = (id: MoveId, signal: AbortSignal) => Promise<ObservedMove | Idle>;

export interface ObserveMoveDeps {
  readonly store: Pick<Store, "moves" | "shards" | "intents">;
  readonly observations: ObservationSource;
  readonly managed: Pick<ManagedCluster, "read" | "readNamespace">;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  readonly ownerBindings: Pick<EnvironmentOwnerBindings, "isKnown">;
  readonly clock: Clock;
}

/** Creates the function that observes moves. */
export function createObserveMove(deps: ObserveMoveDeps): ObserveMove {
  const { store, observations, managed, destination, namespaces, clock } = deps;
  return async (id, signal) => {
    const known = await store.moves.readRows(id, signal);
    if (known === undefined || known.move.endedAt !== undefined) return "over";
    if (known.move.phase === "WAITING") return "waits";
    const { move, unit: row } = known;
    const { source, target } = await reachInstances(observations, known);
    const { workspace, environments, applications: rows } = row;
    const unit = { ...row.unit, owner: move.to, epoch: move.toEpoch };
    const placement: ApplicationPlacement = { unit, workspace, instance: target.instance };
    const ownerBinding = { namespace: workspace.namespace, name: ownerBindingName(unit.bucket) };
    const observed = OBSERVED[move.phase];
    const [seen, passed, onTarget, ownNamespace] = await Promise.all([
      observed.applications ? listSource(move, source, signal) : [],
      listPassed(known, source, signal),
      observed.applications ? list(target, unit.id, signal) : [],
      observed.ownerBinding ? observeOwnNamespace({ unitId: unit.id, workspace, ownerBinding }, managed, signal) : NOT_OBSERVED,
    ]);
    const remoteClusters = remoteClustersOf(environments, rows);
    const unknown = await unknownToTarget(deps, { move, source: source.instance, remoteClusters }, signal);
    const ids = rows.map(({ application }) => application.id);
    const recorded = await readRecorded(store, move, ids, signal);
    const [onSource, isSourceAway] = [seen ?? [], seen === undefined];
    const granted = renderOwnerBinding(placement, namespaces);
    const believed = await believedOwnerBinding(store, { move, granted, seen: ownNamespace.ownerBinding }, signal);
    return {
      move,
      source: source.instance,
      target: target.instance,
      placement,
      sourceObservations: source.observations,
      targetObservations: target.observations,
      remoteClusters,
      unknown,
      unitEpoch: row.unit.epoch,
      visits: remoteClusters.length === 0 ? [] : undefined,
      world: {
        now: clock.now(),
        pairs: pairUp(placement, { rows, onSource, isSourceAway, onTarget, unknown, own: destination, recorded }),
        onSource,
        passed,
        isSourceAway,
        onTarget,
        ownerBinding: believed,
        isNamespaceGone: ownNamespace.isGone,
        granted,
        isSourceStopped: source.instance.halt === "seen",
      },
    };
  };
}

/** One of the two instances of a move, with access to the Applications of its engine cluster. */
interface Reached {
  readonly instance: Instance;
  readonly observations: Observations;
}
/** The source. `observations` is absent where the move works without it. */
interface MaybeReached {
  readonly instance: Instance;
  readonly observations: Observations | undefined;
}

/**
 * Reaches both instances. The target is always needed. The source is needed while the move can still be aborted; a
 * fail-over never tries.
 */
async function reachInstances(
  observations: ObservationSource,
  { move, ...rows }: Pick<MoveRows, "move" | "source" | "target">,
): Promise<{ readonly source: MaybeReached; readonly target: Reached }> {
  const [left, entered] = [known(move.from, rows.source), known(move.to, rows.target)];
  const reach = async (instance: Instance): Promise<Reached> => {
    const found = await observations.of(instance.engineCluster);
    if (found === undefined) throw unavailable("reaching an instance of a move", instance.id);
    return { instance, observations: found };
  };
  const reachSource = async (): Promise<MaybeReached> =>
    (move.isFailOver ? undefined : await ifNeeded(move, reach(left))) ?? { instance: left, observations: undefined };
  const [source, target] = await Promise.all([reachSource(), reach(entered)]);
  return { source, target };
}

function known(id: InstanceId, instance: Instance | undefined): Instance {
  if (instance === undefined) throw unavailable("reading an instance of a move", id);
  return instance;
}

function unavailable(doing: string, instance: InstanceId): UnavailableError {
  return new UnavailableError(doing, { code: "mover.no-instance", context: { instance } });
}

/**
 * Returns `undefined` instead of failing where the source is unavailable and the phase can go on without it. After
 * COMMIT the move needs nothing from the source. After an abort the reconciler brings the source back to order.
 */
async function ifNeeded<T>({ phase }: Move, reaching: Promise<T>): Promise<T | undefined> {
  try {
    return await reaching;
  } catch (error) {
    if (error instanceof UnavailableError && !PHASES[phase].isRevocable) return undefined;
    throw error;
  }
}

function list(
  { instance: { namespace }, observations }: Reached,
  unitId: UnitId,
  signal: AbortSignal,
): Promise<readonly ApplicationObservation[]> {
  return observations.list({ namespace, unitId }, signal);
}

/** The unit's Applications on the source; `undefined` where the move works without the source. */
async function listSource(
  move: Move,
  { instance, observations }: MaybeReached,
  signal: AbortSignal,
): Promise<readonly ApplicationObservation[] | undefined> {
  return observations && ifNeeded(move, list({ instance, observations }, move.unitId, signal));
}

/** What parts that stay have taken over from the unit on the source. Empty after PREPARE, and where the move works without the source. */
async function listPassed(
  { move, takers }: MoveRows,
  { instance: { namespace }, observations }: MaybeReached,
  signal: AbortSignal,
): Promise<readonly ApplicationObservation[]> {
  if (move.phase !== "PREPARE" || observations === undefined) return [];
  const lists = takers.map((unitId) => ifNeeded(move, observations.list({ namespace, unitId }, signal)));
  return (await Promise.all(lists)).flatMap((list) => list ?? []);
}

/** What was observed of a unit's own namespace. */
interface OwnNamespace {
  readonly ownerBinding: ObservedOwnerBinding | undefined;
  /**
   * The namespace does not exist any more, or is being deleted and has no owner binding: nobody can get a right there
   * any more. A newer namespace of the same name does not count.
   */
  readonly isGone: boolean;
}

const NOT_OBSERVED: OwnNamespace = { ownerBinding: undefined, isGone: false };

/**
 * Observes a unit's own namespace: its owner binding, and whether the namespace is gone.
 *
 * The namespace is read only where the binding is missing or labelled with another unit. Two cases count as gone: the
 * namespace is being deleted, so that no binding can be created in it; or it was deleted and created again, so that a
 * binding in it is another unit's and is not returned.
 */
export async function observeOwnNamespace(
  { unitId, workspace, ownerBinding: at }: { readonly unitId: UnitId; readonly workspace: Workspace; readonly ownerBinding: ObjectAt },
  managed: Pick<ManagedCluster, "read" | "readNamespace">,
  signal: AbortSignal,
): Promise<OwnNamespace> {
  const ownerBinding = await managed.read(at, signal);
  if (ownerBinding !== undefined && unitOf(ownerBinding) === unitId) return { ownerBinding, isGone: false };
  const namespace = await managed.readNamespace(workspace.namespace, signal);
  if (namespace?.uid !== workspace.namespaceUid) return { ownerBinding: undefined, isGone: true };
  return { ownerBinding, isGone: ownerBinding === undefined && namespace.isDeleting };
}

/**
 * Environments of the unit in which the target has no account yet. Empty unless the source was seen to be stopped for
 * good: every other move waits until its target has all accounts.
 */
async function unknownToTarget(
  { ownerBindings }: Pick<ObserveMoveDeps, "ownerBindings">,
  { move, source, remoteClusters }: Pick<ObservedMove, "move" | "source" | "remoteClusters">,
  signal: AbortSignal,
): Promise<readonly EnvironmentId[]> {
  if (source.halt !== "seen") return [];
  const owner = { unitId: move.unitId, instanceId: move.to };
  const isKnown = await Promise.all(remoteClusters.map(({ environment }) => ownerBindings.isKnown(environment, owner, signal)));
  return remoteClusters.flatMap(({ environment }, index) =>
    isKnown[index] === true || !environment.createsAccount ? [] : [environment.id],
  );
}

/**
 * The last recorded statuses of the unit's applications, for a fail-over; `undefined` for other moves, which observe
 * their source.
 */
async function readRecorded({ intents }: Pick<Store, "intents">, move: Move, ids: readonly ApplicationId[], signal: AbortSignal) {
  if (!move.isFailOver) return undefined;
  const applications = await intents.readByIds(ids, signal);
  return new Map(
    applications.flatMap(({ application, status }) => (status === undefined ? [] : [[application.id, status.status] as const])),
  );
}

/**
 * Decides what to believe of an observed owner binding: all of it, or all but its epoch and revision, so that the move
 * overwrites it. Without this, whoever may write in the namespace could set a high epoch and keep the move from ever
 * ending.
 *
 * Only a binding with a newer fence than `granted` (the binding as it will be on the target) is in doubt. A fence is
 * written after the row that it comes from. The move's row is therefore read once more, after the binding: if the move
 * is still in the same phase, nobody can have written a newer fence for this unit, and the claim is false. It is
 * believed if the move has entered another phase, or if the binding names another unit whose rows bear the fence out.
 *
 * @throws StaleError in REVOKE where the right was granted to the target since the move's row was read
 */
export async function believedOwnerBinding(
  store: Pick<Store, "moves" | "shards">,
  { move, granted, seen }: { readonly move: Move; readonly granted: DesiredObject; readonly seen: ObservedOwnerBinding | undefined },
  signal: AbortSignal,
): Promise<ObservedOwnerBinding | undefined> {
  if (seen === undefined) return seen;
  await refuseLateRevocation(store, move, seen, signal);
  if (newerFence(granted.fence, seen) === undefined) return seen;
  const claimed = unitOf(seen);
  const other = claimed === undefined || claimed === move.unitId ? undefined : await store.shards.readUnit(claimed, signal);
  const now = await store.moves.read(move.id, signal);
  if (now?.phase !== move.phase || isBorneOutBy(other, seen)) return seen;
  return { ...seen, epoch: undefined, revision: undefined };
}

/**
 * Keeps a late worker from taking the right that another one has already granted. In REVOKE a binding with the move's
 * own epoch should name nobody. If it does name somebody, a person has edited it, or the move went on to GRANT since
 * its row was read. Reading the row once more tells which; in the second case this throws.
 */
async function refuseLateRevocation(
  { moves }: Pick<Store, "moves">,
  { id, phase, toEpoch }: Move,
  { epoch, subjects }: ObservedOwnerBinding,
  signal: AbortSignal,
): Promise<void> {
  if (phase !== "REVOKE" || epoch !== toEpoch || subjects.length === 0) return;
  if ((await moves.read(id, signal))?.phase === phase) return;
  throw new StaleError("taking a right that was granted since", { code: "mover.fenced", context: { move: id } });
}
