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

/** Everything that a step of one move is decided from and carried out with. */
export interface ObservedMove {
  readonly move: Move;
  readonly source: Instance;
  readonly target: Instance;
  /** The unit on the target under the move's epoch. */
  readonly placement: Seat;
  /** The Applications of the source's engine cluster; absent: nobody goes there. */
  readonly sourceSights: Sights | undefined;
  readonly targetSights: Sights;
  /** Environments where the unit has, or had, an owner binding of its own. */
  readonly remoteClusters: readonly RemoteCluster[];
  /** Environments that the target has no account for, and does without: what deploys there is made once it has one. */
  readonly unknown: readonly EnvironmentId[];
  /** The epoch in the unit's row: the source's until COMMIT, the target's from then on, and a newer one of the source's after a move was given up. */
  readonly unitEpoch: number;
  /** How this phase's work in remote clusters ended; absent: it was not tried yet. */
  readonly visits: readonly Visited[] | undefined;
  readonly world: Omit<MoveWorld, "groundWaits" | "enteredFreely" | "isRefusalProven" | "answer" | "askedAt" | "visits">;
}

/** There is nothing to do for a move: its turn has not come, or it has ended or is gone with its unit. */
export type Idle = "waits" | "over";

/** Reads a move's rows and what is on its clusters. Throws `UnavailableError` where an instance that the move needs cannot be reached. */
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

/** One of the two instances of a move, and the Applications of its engine cluster. */
interface Reached {
  readonly instance: Instance;
  readonly sights: Sights;
}
/** Without Applications: nobody goes there. */
interface MaybeReached {
  readonly instance: Instance;
  readonly sights: Sights | undefined;
}

/** The target has to be reached always, the source until COMMIT unless the move is a fail-over. */
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
 * `undefined` where the source is unavailable and the move can go on without it: after COMMIT nothing of it is needed, and a move that was
 * given up leaves it to the reconciler.
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

/** `undefined`: nobody reaches the source. */
async function listSource(move: Move, { instance, sights }: MaybeReached, signal: AbortSignal): Promise<readonly Sight[] | undefined> {
  return sights && ifNeeded(move, list({ instance, sights }, move.unitId, signal));
}

/** A unit's own namespace. */
interface OwnNamespace {
  readonly register: RegisterSight | undefined;
  /** It is gone, whatever has its name now, or is being deleted and has no owner binding: nobody can be given a right there any more. */
  readonly isGone: boolean;
}

const NOT_OBSERVED: OwnNamespace = { register: undefined, isGone: false };

/**
 * Reads the owner binding of a unit. Where there is none, or it says that it is another unit's, reads also whether the namespace is still the
 * unit's own: in one that is being deleted nothing can be made, and a new one of the same name holds the binding of its own unit.
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

/** Environments that the target has no account for. Only a move away from a source that was stopped goes on without. */
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

/** The last recorded statuses of the unit's applications; `undefined` where their source is observed. */
async function readRecorded({ intents }: Pick<Store, "intents">, move: Move, ids: readonly ApplicationId[], signal: AbortSignal) {
  if (!move.isFailOver) return undefined;
  const applications = await intents.readByIds(ids, signal);
  return new Map(
    applications.flatMap(({ application, status }) => (status === undefined ? [] : [[application.id, status.status] as const])),
  );
}

/**
 * What of an observed owner binding is believed. A fence is written after the row that it is made from. So where the move is still in its phase
 * when its row is read after the binding, nobody can have a newer fence for the unit: one that claims to be newer is forged, and its epoch is
 * not believed. Otherwise whoever may write in that namespace could keep the move from ever ending. `granted`: the binding as it will be on
 * the target. Throws `StaleError` where the move has gone on since its row was read.
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

/** In REVOKE a binding with the move's epoch names somebody: by hand, or because the move was granted since its row was read. */
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
