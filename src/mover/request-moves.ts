import type { Clock } from "../domain/clock.ts";
import { GoneError, RefusedError } from "../domain/errors.ts";
import type { Ids, MoveId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Move, MoveKind } from "../domain/move.ts";
import { givenUpBy } from "../domain/move-messages.ts";
import { PHASES } from "../domain/move-phases.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import type { RequestedMove } from "../store/move/port.ts";
import type { Store } from "../store/port.ts";
import { abortDecision, requestDecision } from "./decisions.ts";
import type { LiveMoves } from "./port.ts";
import { endsWithSource, type MoveRefusal, usableCapacityOf, whyNotMove } from "./why-not-move.ts";

export interface MoveRequestsDeps {
  readonly store: Pick<Store, "moves" | "shards" | "fleet" | "placements">;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Where people and plans request live moves. A request is a row; whichever process has the move's key carries it out. */
export interface MoveRequests extends LiveMoves {
  /** Why a unit cannot be moved there now; `undefined`: nothing is known but what the request itself tests. */
  whyNot(where: Destined, signal: AbortSignal): Promise<MoveRefusal | undefined>;
  /** Requests a move. Throws `RefusedError` that says why it is not possible. */
  ask(request: Asked, signal: AbortSignal): Promise<Move>;
  /** Gives a move up. Throws `GoneError` for one that is not known, `RefusedError` after its point of no return. */
  abort(id: MoveId, actor: string, signal: AbortSignal): Promise<Move>;
  /** Requests the move back of one that has ended. */
  reverse(id: MoveId, actor: string, signal: AbortSignal): Promise<Move>;
}

/** Where a unit is to go. */
interface Destined {
  readonly unit: PlacementUnit;
  readonly target: Instance;
  /** Nobody reaches the instance it is on, which may be alive. */
  readonly isFailOver?: boolean;
}

interface Asked extends Destined {
  readonly kind: MoveKind;
  readonly actor: string;
  readonly reverses?: MoveId;
  /** Why, in the words of who requests it. */
  readonly words?: string | undefined;
}

/** What is written down of a request. */
type Recorded = Omit<RequestedMove, "id" | "decision"> & { readonly words?: string | undefined };

/** The move that waits now, or why there is none and which move is in the way. */
type Requested = { readonly id: MoveId } | { readonly id?: undefined; readonly why: string; readonly by?: Move | undefined };

export function createMoveRequests(deps: MoveRequestsDeps): MoveRequests {
  const { moves, shards, fleet, placements } = deps.store;

  const read = async (id: MoveId, signal: AbortSignal): Promise<Move> => {
    const move = await moves.read(id, signal);
    if (move !== undefined) return move;
    throw new GoneError(`there is no move ${id}; \`argosy moves\` lists them`, { code: "move.unknown", context: { move: id } });
  };

  const readSource = async ({ owner }: Pick<PlacementUnit, "owner">, signal: AbortSignal): Promise<Instance | undefined> =>
    owner === undefined ? undefined : fleet.readInstance(owner, signal);

  const whyNot: MoveRequests["whyNot"] = async ({ unit, target, isFailOver = false }, signal) => {
    const source = await readSource(unit, signal);
    const row = await shards.readUnit(unit.id, signal);
    const { environments = [] } = row ?? {};
    // Most workspaces are in no group: there is nothing to read.
    const found = row?.workspace.groups === undefined ? undefined : await placements.readUnit(unit.id, signal);
    const strangers = found?.strangers.filter(({ instance }) => instance === target.id) ?? [];
    return whyNotMove({ unit, environments, source, target, isFailOver, strangers });
  };

  const ask: MoveRequests["ask"] = async ({ unit, target, kind, actor, isFailOver = false, reverses, words }, signal) => {
    const refusal = await whyNot({ unit, target, isFailOver }, signal);
    if (refusal !== undefined) throw refused(refusal.text, unit);
    const what = { unitId: unit.id, to: target.id, epoch: unit.epoch, kind, reason: "FORCED", plan: undefined } as const;
    const recorded = { ...what, reverses, isFailOver, actor, words, ceiling: usableCapacityOf(target) };
    const requested = await requestMove(deps, recorded, target, signal);
    if (requested.id === undefined) throw refused(requested.why, unit);
    return read(requested.id, signal);
  };

  /** False: it is too late. */
  const giveUpOne = (move: Move, actor: string, signal: AbortSignal): Promise<boolean> => {
    const said = givenUpBy(actor);
    const decision = abortDecision({ ...move, actor }, deps.clock.now(), { code: "COMMAND", text: said.message });
    return moves.abort(move.id, { ...said, decision }, signal);
  };

  return {
    whyNot,
    ask,
    async abort(id, actor, signal) {
      if (await giveUpOne(await read(id, signal), actor, signal)) return read(id, signal);
      const { phase } = await read(id, signal);
      const how = PHASES[phase].isLive ? "goes only forward now; `argosy move reverse` takes it back once it has ended" : "has ended";
      throw new RefusedError(`move ${id} is in ${phase} and ${how}`, { code: "move.too-late", context: { move: id } });
    },
    async reverse(id, actor, signal) {
      const move = await read(id, signal);
      const target = await fleet.readInstance(move.from, signal);
      const row = await shards.readUnit(move.unitId, signal);
      if (move.phase !== "DONE" || target === undefined || row?.unit.owner !== move.to)
        throw new RefusedError(`move ${id} is in ${move.phase}, or its unit has gone on since: nothing to take back`, {
          code: "move.nothing-to-reverse",
          context: { move: id },
        });
      return ask({ unit: row.unit, target, kind: "voluntary", actor, reverses: id }, signal);
    },
    async askFor(planned, signal) {
      const target = await fleet.readInstance(planned.to, signal);
      const unit = (await shards.readUnit(planned.unitId, signal))?.unit;
      if (unit === undefined || target === undefined) return { kind: "refused", why: "it or the instance it should go to is gone" };
      const isFailOver = leavesByFailOver(await readSource(unit, signal));
      const refusal = await whyNot({ unit, target, isFailOver }, signal);
      if (refusal !== undefined) return { kind: "refused", why: refusal.text };
      const kind = isFailOver ? "evacuation" : planned.kind;
      const requested = await requestMove(deps, { ...planned, kind, isFailOver, reverses: undefined }, target, signal);
      if (requested.id !== undefined) return { kind: "asked", id: requested.id };
      const { by: underWay, why } = requested;
      return underWay?.plan === planned.plan && underWay !== undefined ? { kind: "asked", id: underWay.id } : { kind: "refused", why };
    },
    async giveUp(source, which, actor, signal) {
      const live = (await moves.listLive({ instanceId: source }, signal)).filter(({ from }) => from === source);
      const isMeant = ({ isFailOver, phase, plan }: Move) =>
        which === "that go there" ? !isFailOver : phase === "WAITING" && plan !== undefined;
      const ends = await Promise.all(live.filter(isMeant).map((move) => giveUpOne(move, actor, signal)));
      return ends.filter(Boolean).length;
    },
    async isHeldBySource(unitId, to, signal) {
      const [target, row] = [await fleet.readInstance(to, signal), await shards.readUnit(unitId, signal)];
      return target !== undefined && row !== undefined && endsWithSource(await whyNot({ unit: row.unit, target }, signal));
    },
  };
}

/**
 * Records a request for a move, unless the unit is being moved, has been moved meanwhile, or the target has no capacity for it. A request
 * for a fail-over ends the move that brought the unit to where it is, if that move waits only for the instance which is lost.
 */
export async function requestMove(
  { store: { moves }, clock, ids }: MoveRequestsDeps,
  { words, ...request }: Recorded,
  target: Pick<Instance, "name">,
  signal: AbortSignal,
): Promise<Requested> {
  const id = ids.next<MoveId>();
  const decision = requestDecision({ ...request, id, words }, clock.now());
  const outcome = await moves.request({ ...request, id, decision }, signal);
  switch (outcome.kind) {
    case "requested":
      return { id };
    case "moving": {
      const by = await moves.read(outcome.id, signal);
      return { by, why: whyMoving(outcome.id, by) };
    }
    case "full":
      return { why: `${target.name} has no room for it, or takes nothing now` };
    case "kept":
      return { why: "another part of its workspace is on the same instance, and applications still pass from one to the other" };
    case "stale":
      return { why: "it was moved at this moment: see where it is now" };
  }
}

function whyMoving(id: MoveId, underWay: Move | undefined): string {
  const text = `it is being moved already: \`argosy moves\` shows move ${id}`;
  const mayGoOn = underWay !== undefined && PHASES[underWay.phase].next.includes("REDIRECTED");
  return mayGoOn ? `${text}; if its new owner is lost, \`argosy move --fail-over\` takes it on from there` : text;
}

/** Whether what a plan sends away from an instance leaves it by fail-over. */
function leavesByFailOver(source: Instance | undefined): boolean {
  return source?.state === "DRAINING" && source.failsOver;
}

function refused(text: string, unit: PlacementUnit): RefusedError {
  return new RefusedError(`the workspace cannot be moved: ${text}`, { code: "move.refused", context: { unit: unit.id } });
}
