import type { Clock } from "../domain/clock.ts";
import type { Environment } from "../domain/environment.ts";
import { DefectError, GoneError, StaleError } from "../domain/errors.ts";
import type { MoveId } from "../domain/ids.ts";
import type { UnitPrerequisites, UnitToPrepare } from "../reconciler/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { EnvironmentOwnerBindings, VisitEnd } from "../workspace/environment/port.ts";
import type { ObservedMove } from "./observe-move.ts";
import type { SidedWrite } from "./phases/object-step.ts";
import { tamperingOf } from "./phases/owner-binding.ts";
import type { Visited } from "./phases/remote-clusters.ts";
import type { ManagedCluster } from "./port.ts";

export interface WriteDeps {
  readonly managed: Pick<ManagedCluster, "create" | "patch" | "delete">;
  readonly unitPrerequisites: Pick<UnitPrerequisites, "tellRepair">;
  readonly log: Log;
}

/**
 * Carries out conditional writes to Applications and the owner binding, all at once; each is tried, whatever becomes of the others. An object
 * that has changed meanwhile is left for the next observation. Throws the first other error.
 */
export async function writeObjects(
  deps: WriteDeps,
  observed: ObservedMove,
  writes: readonly SidedWrite[],
  signal: AbortSignal,
): Promise<void> {
  const ends = await Promise.allSettled(writes.map((each) => writeObject(deps, observed, each, signal)));
  const [failure] = ends.flatMap((end, index) => failureOf(end, writes[index]) ?? []);
  if (failure !== undefined) throw failure;
}

async function writeObject(deps: WriteDeps, observed: ObservedMove, { side, write }: SidedWrite, signal: AbortSignal): Promise<void> {
  const { sourceObservations, targetObservations, move, placement, world } = observed;
  const objects = { source: sourceObservations, target: targetObservations, ownerBinding: deps.managed }[side];
  if (objects === undefined)
    throw new DefectError("writing to an instance that nobody goes to", { code: "mover.away", context: { move: move.id } });
  deps.log.debug({ move: move.id, phase: move.phase, side, step: write.kind }, "Writing for a move");
  const tampering = side === "ownerBinding" ? tamperingOf(world.ownerBinding, write) : undefined;
  if (tampering !== undefined) deps.unitPrerequisites.tellRepair(placement, tampering);
  if (write.kind === "create") return objects.create(write.manifest, signal);
  if (write.kind === "change") return objects.patch(write.at, write.patch, signal);
  return objects.delete(write.at, write.preconditions, signal);
}

/** What a write failed with, unless its object has changed meanwhile. A creation in a namespace that is gone would fail again at once. */
function failureOf(end: PromiseSettledResult<void>, written: SidedWrite | undefined): Error | undefined {
  if (end.status === "fulfilled") return undefined;
  const error = end.reason as Error;
  const isOvertaken = error instanceof StaleError || (error instanceof GoneError && written?.write.kind !== "create");
  return isOvertaken ? undefined : error;
}

/** The prerequisites of a moved unit on its two instances. */
export interface MovePrerequisites {
  /** `[]` where they were seen on the target a moment ago; `undefined`: they have to be observed first. */
  recall(id: MoveId): readonly string[] | undefined;
  /**
   * Makes them on the target. `prerequisiteWaits`: what that waits for, for people. `enteredFreely`: an environment that the source of a fail-over may
   * enter with a credential that nobody can take from it; then nothing is made.
   */
  make(
    observed: ObservedMove,
    signal: AbortSignal,
  ): Promise<{ readonly prerequisiteWaits: readonly string[]; readonly enteredFreely: string | undefined }>;
  /** Makes the target's entries equal to what is stored by now, which may ask for a cluster to be read anew. Waits for nothing. */
  renewEntries(observed: ObservedMove, signal: AbortSignal): Promise<void>;
  remove(observed: ObservedMove, side: "source" | "target", signal: AbortSignal): Promise<void>;
  forget(id: MoveId): void;
}

/** Somebody may remove them again while the target compares, so they are looked for again after so long, in ms. */
const RECALL_MS = 5_000;

export function createMovePrerequisites(
  unitPrerequisites: UnitPrerequisites,
  { clock, log }: { readonly clock: Pick<Clock, "monotonicMs">; readonly log: Log },
): MovePrerequisites {
  const seenAt = new Map<MoveId, number>();
  return {
    recall: (id) => (clock.monotonicMs() - (seenAt.get(id) ?? Number.NEGATIVE_INFINITY) < RECALL_MS ? [] : undefined),
    async make(observed, signal) {
      const { remoteClusters, move, unknown: withoutEnvironments, world } = observed;
      const source = { ...prerequisitesOf(observed, "source"), epoch: move.fromEpoch, withoutEnvironments };
      // Nobody reaches the source of a fail-over: what was recorded of it has to say how it enters environments.
      const enteredFreely = move.isFailOver && !world.isSourceStopped ? await unitPrerequisites.enteredFreely(source, signal) : undefined;
      if (enteredFreely !== undefined) return { prerequisiteWaits: [], enteredFreely };
      // The source's too, where accounts are made: it may have entered an environment with a credential that cannot be taken from it.
      const onSource = remoteClusters.length === 0 || move.isFailOver ? [] : await unitPrerequisites.raise(source, signal);
      const onTarget = await unitPrerequisites.raise({ ...prerequisitesOf(observed, "target"), withoutEnvironments }, signal);
      const prerequisiteWaits = [...onSource, ...onTarget];
      if (prerequisiteWaits.length === 0) seenAt.set(move.id, clock.monotonicMs());
      return { prerequisiteWaits, enteredFreely };
    },
    async renewEntries(observed, signal) {
      if (observed.remoteClusters.length === 0) return;
      try {
        await unitPrerequisites.raise({ ...prerequisitesOf(observed, "target"), withoutEnvironments: observed.unknown }, signal);
      } catch (error) {
        signal.throwIfAborted();
        // Nobody may write for the unit meanwhile. The reconciler makes them equal once the move is over.
        log.warn({ move: observed.move.id, err: error }, "Leaving the entries of a new owner as they are for now");
      }
    },
    remove: (observed, side, signal) => unitPrerequisites.clear(prerequisitesOf(observed, side), signal),
    forget: (id) => void seenAt.delete(id),
  };
}

function prerequisitesOf({ move, source, target, world }: ObservedMove, side: "source" | "target"): UnitToPrepare {
  const isAway = side === "source" && world.isSourceAway;
  return { unitId: move.unitId, instance: side === "source" ? source : target, epoch: move.toEpoch, isAway };
}

/** Does the work of the move's phase in each remote cluster. */
export async function writeToRemoteClusters(
  ownerBindings: EnvironmentOwnerBindings,
  observed: ObservedMove,
  signal: AbortSignal,
): Promise<readonly Visited[]> {
  const visit = async ({ environment }: ObservedMove["remoteClusters"][number]): Promise<Visited> => {
    return { environment: environment.name, outcome: await writeToRemoteCluster(ownerBindings, observed, environment, signal) };
  };
  return Promise.all(observed.remoteClusters.map(visit));
}

function writeToRemoteCluster(
  ownerBindings: EnvironmentOwnerBindings,
  observed: ObservedMove,
  environment: Environment,
  signal: AbortSignal,
): Promise<VisitEnd> {
  const { unitId, from, to, fromEpoch, toEpoch: epoch, phase } = observed.move;
  switch (phase) {
    case "PREPARE":
      return ownerBindings.prepare(environment, { unitId, instanceId: to, epoch }, { unitId, instanceId: from, epoch: fromEpoch }, signal);
    case "REVOKE":
      return ownerBindings.hand(environment, { unitId, epoch, instanceId: undefined }, signal);
    case "GRANT":
      return grantAccess(ownerBindings, observed, environment, signal);
    case "CLEANUP":
      return ownerBindings.clear(environment, { unitId, instanceId: from, epoch }, signal);
    case "ABORT":
      return giveBack(ownerBindings, observed, environment, signal);
    default:
      return Promise.resolve({ kind: "done" });
  }
}

/**
 * Gives the target its right, and then takes from the source what lets it read: it has nothing to do there any more. Before COMMIT it has to read: an
 * abort would find a cache from which kinds are missing, and nothing of these would be pruned or cascaded.
 */
async function grantAccess(
  ownerBindings: EnvironmentOwnerBindings,
  { move: { unitId, from, to, toEpoch: epoch } }: ObservedMove,
  environment: Environment,
  signal: AbortSignal,
): Promise<VisitEnd> {
  const handed = await ownerBindings.hand(environment, { unitId, epoch, instanceId: to }, signal);
  if (handed.kind === "done") await ownerBindings.endReading(environment, { unitId, instanceId: from, epoch }, signal);
  return handed;
}

/** A move was given up: gives the right back to the old owner first, which has had none for long enough, and then removes the target's account. */
async function giveBack(
  ownerBindings: EnvironmentOwnerBindings,
  { move: { unitId, from, to, toEpoch: epoch }, unitEpoch }: ObservedMove,
  environment: Environment,
  signal: AbortSignal,
): Promise<VisitEnd> {
  const handed = await ownerBindings.hand(environment, { unitId, epoch: unitEpoch, instanceId: from }, signal);
  if (handed.kind === "away" || handed.kind === "waiting") return handed;
  return ownerBindings.clear(environment, { unitId, instanceId: to, epoch }, signal);
}
