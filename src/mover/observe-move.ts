import type { Clock } from "../domain/clock.ts";
import { StaleError, UnavailableError } from "../domain/errors.ts";
import type { ApplicationId, EnvironmentId, InstanceId, MoveId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Move } from "../domain/move.ts";
import { PHASES } from "../domain/move-phases.ts";
import type { Workspace } from "../domain/workspace.ts";
import { newerFence } from "../shard/diff-object.ts";
import type { DesiredObject, ObjectAt } from "../shard/managed-object.ts";
import { registerName } from "../shard/names.ts";
import { unitOf } from "../shard/parse-application.ts";
import type { RegisterSight, Sight } from "../shard/parse-sight.ts";
import { renderRegister } from "../shard/render-unit.ts";
import type { Destination, OwnNamespaces, Seat } from "../shard/seat.ts";
import { isBorneOutBy } from "../shard/tampering.ts";
import type { MoveRows } from "../store/move/port.ts";
import type { Store } from "../store/port.ts";
import type { EnvironmentRegisters } from "../workspace/environment/port.ts";
import { OBSERVED } from "./next-observation.ts";
import type { MoveWorld } from "./next-step.ts";
import { pairUp } from "./phases/pair.ts";
import { type RemoteCluster, remoteClustersOf, type Visited } from "./phases/remote-clusters.ts";
import type { ManagedCluster, SightSource, Sights } from "./port.ts";

/** One observation of a move: what its next step is decided from (`world`), and what that step needs to be carried out. */
export interface ObservedMove {
  readonly move: Move;
  readonly source: Instance;
  readonly target: Instance;
  /** The unit as it will be on the target: owned by the target, under the move's epoch. */
  readonly placement: Seat;
  /** Access to the Applications on the source's engine cluster. Absent: the move works without the source. */
  readonly sourceSights: Sights | undefined;
  /** Access to the Applications on the target's engine cluster. */
  readonly targetSights: Sights;
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
  readonly world: Omit<MoveWorld, "groundWaits" | "enteredFreely" | "isRefusalProven" | "answer" | "askedAt" | "visits">;
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
  readonly sights: SightSource;
  readonly managed: Pick<ManagedCluster, "read" | "readNamespace">;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  readonly registers: Pick<EnvironmentRegisters, "isKnown">;
  readonly clock: Clock;
}

/** Creates the function that observes moves. */
export function createObserveMove(deps: ObserveMoveDeps): ObserveMove {
  const { store, sights, managed, destination, namespaces, clock } = deps;
  return async (id, signal) => {
    const known = await store.moves.readRows(id, signal);
    if (known === undefined || known.move.endedAt !== undefined) return "over";
    if (known.move.phase === "WAITING") return "waits";
    const { move, unit: row } = known;
    const { source, target } = await reachInstances(sights, known);
    const { workspace, environments, applications: rows } = row;
    const unit = { ...row.unit, owner: move.to, epoch: move.toEpoch };
    const placement: Seat = { unit, workspace, instance: target.instance };
    const register = { namespace: workspace.namespace, name: registerName(unit.bucket) };
    const observed = OBSERVED[move.phase];
    const [seen, onTarget, ownNamespace] = await Promise.all([
      observed.applications ? listSource(move, source, signal) : [],
      observed.applications ? list(target, unit.id, signal) : [],
      observed.register ? observeOwnNamespace({ unitId: unit.id, workspace, register }, managed, signal) : NOT_OBSERVED,
    ]);
    const remoteClusters = remoteClustersOf(environments, rows);
    const unknown = await unknownToTarget(deps, { move, source: source.instance, remoteClusters }, signal);
    const ids = rows.map(({ application }) => application.id);
    const recorded = await readRecorded(store, move, ids, signal);
    const [onSource, isSourceAway] = [seen ?? [], seen === undefined];
    const granted = renderRegister(placement, namespaces);
    const believed = await believedRegister(store, { move, granted, seen: ownNamespace.register }, signal);
    return {
      move,
      source: source.instance,
      target: target.instance,
      placement,
      sourceSights: source.sights,
      targetSights: target.sights,
      remoteClusters,
      unknown,
      unitEpoch: row.unit.epoch,
      visits: remoteClusters.length === 0 ? [] : undefined,
      world: {
        now: clock.now(),
        pairs: pairUp(placement, { rows, onSource, isSourceAway, onTarget, unknown, own: destination, recorded }),
        onSource,
        isSourceAway,
        onTarget,
        register: believed,
        isHomeGone: ownNamespace.isGone,
        granted,
        isSourceStopped: source.instance.halt === "seen",
      },
    };
  };
}

/** One of the two instances of a move, with access to the Applications of its engine cluster. */
interface Reached {
  readonly instance: Instance;
  readonly sights: Sights;
}
/** The source. `sights` is absent where the move works without it. */
interface MaybeReached {
  readonly instance: Instance;
  readonly sights: Sights | undefined;
}

/**
 * Reaches both instances. The target is always needed. The source is needed while the move can still be aborted; a
 * fail-over never tries.
 */
async function reachInstances(
  sights: SightSource,
  { move, ...rows }: Pick<MoveRows, "move" | "source" | "target">,
): Promise<{ readonly source: MaybeReached; readonly target: Reached }> {
  const [left, entered] = [known(move.from, rows.source), known(move.to, rows.target)];
  const reach = async (instance: Instance): Promise<Reached> => {
    const found = await sights.of(instance.engineCluster);
    if (found === undefined) throw unavailable("reaching an instance of a move", instance.id);
    return { instance, sights: found };
  };
  const reachSource = async (): Promise<MaybeReached> =>
    (move.isFailOver ? undefined : await ifNeeded(move, reach(left))) ?? { instance: left, sights: undefined };
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

function list({ instance: { namespace }, sights }: Reached, unitId: UnitId, signal: AbortSignal): Promise<readonly Sight[]> {
  return sights.list({ namespace, unitId }, signal);
}

/** The unit's Applications on the source; `undefined` where the move works without the source. */
async function listSource(move: Move, { instance, sights }: MaybeReached, signal: AbortSignal): Promise<readonly Sight[] | undefined> {
  return sights && ifNeeded(move, list({ instance, sights }, move.unitId, signal));
}

/** What was observed of a unit's own namespace. */
interface OwnNamespace {
  readonly register: RegisterSight | undefined;
  /**
   * The namespace does not exist any more, or is being deleted and has no owner binding: nobody can get a right there
   * any more. A newer namespace of the same name does not count.
   */
  readonly isGone: boolean;
}

const NOT_OBSERVED: OwnNamespace = { register: undefined, isGone: false };

/**
 * Observes a unit's own namespace: its owner binding, and whether the namespace is gone.
 *
 * The namespace is read only where the binding is missing or labelled with another unit. Two cases count as gone: the
 * namespace is being deleted, so that no binding can be created in it; or it was deleted and created again, so that a
 * binding in it is another unit's and is not returned.
 */
export async function observeOwnNamespace(
  { unitId, workspace, register: at }: { readonly unitId: UnitId; readonly workspace: Workspace; readonly register: ObjectAt },
  managed: Pick<ManagedCluster, "read" | "readNamespace">,
  signal: AbortSignal,
): Promise<OwnNamespace> {
  const register = await managed.read(at, signal);
  if (register !== undefined && unitOf(register) === unitId) return { register, isGone: false };
  const namespace = await managed.readNamespace(workspace.namespace, signal);
  if (namespace?.uid !== workspace.namespaceUid) return { register: undefined, isGone: true };
  return { register, isGone: register === undefined && namespace.isDeleting };
}

/**
 * Environments of the unit in which the target has no account yet. Empty unless the source was seen to be stopped for
 * good: every other move waits until its target has all accounts.
 */
async function unknownToTarget(
  { registers }: Pick<ObserveMoveDeps, "registers">,
  { move, source, remoteClusters }: Pick<ObservedMove, "move" | "source" | "remoteClusters">,
  signal: AbortSignal,
): Promise<readonly EnvironmentId[]> {
  if (source.halt !== "seen") return [];
  const owner = { unitId: move.unitId, instanceId: move.to };
  const isKnown = await Promise.all(remoteClusters.map(({ environment }) => registers.isKnown(environment, owner, signal)));
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
export async function believedRegister(
  store: Pick<Store, "moves" | "shards">,
  { move, granted, seen }: { readonly move: Move; readonly granted: DesiredObject; readonly seen: RegisterSight | undefined },
  signal: AbortSignal,
): Promise<RegisterSight | undefined> {
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
  { epoch, subjects }: RegisterSight,
  signal: AbortSignal,
): Promise<void> {
  if (phase !== "REVOKE" || epoch !== toEpoch || subjects.length === 0) return;
  if ((await moves.read(id, signal))?.phase === phase) return;
  throw new StaleError("taking a right that was granted since", { code: "mover.fenced", context: { move: id } });
}
