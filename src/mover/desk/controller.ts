import type { Clock } from "../../domain/clock.ts";
import { GoneError, RefusedError } from "../../domain/errors.ts";
import type { Ids, MoveId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Move, MoveKind } from "../../domain/move.ts";
import { PHASES } from "../../domain/move-phases.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import type { Store } from "../../store/port.ts";
import type { LiveMoves } from "../port.ts";
import { createRequests, type Requests } from "../requests/controller.ts";
import { endsWithSource, roomOf } from "../why-not-move.ts";

export interface MoveDeskDeps {
  readonly store: Pick<Store, "moves" | "shards" | "fleet">;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** What people and plans ask of live moves. */
export interface MoveDesk extends LiveMoves {
  readonly whyNot: Requests["whyNot"];
  /** Asks for a move. Throws `RefusedError` with what speaks against it. */
  ask(wish: Asked, signal: AbortSignal): Promise<Move>;
  /** Gives a move up. Throws `GoneError` for one nobody knows, `RefusedError` after its point of no return. */
  abort(id: MoveId, actor: string, signal: AbortSignal): Promise<Move>;
  /** Asks for the move back of one that has ended. */
  reverse(id: MoveId, actor: string, signal: AbortSignal): Promise<Move>;
}

/** More than an instance has units. */
const LIVE_READ = 100_000;

interface Asked {
  readonly unit: PlacementUnit;
  readonly target: Instance;
  readonly kind: MoveKind;
  readonly actor: string;
  /** Nobody gets to the instance it is on, which may be alive. */
  readonly isFailOver?: boolean;
  readonly reverses?: MoveId;
  /** Why, in the words of whoever asks. */
  readonly words?: string | undefined;
}

export function createMoveDesk({ store, clock, ids }: MoveDeskDeps): MoveDesk {
  const { moves, shards, fleet } = store;
  const read = async (id: MoveId, signal: AbortSignal): Promise<Move> => {
    const move = await moves.read(id, signal);
    if (move !== undefined) return move;
    throw new GoneError(`there is no move ${id}; \`argosy moves\` lists them`, { code: "move.unknown", context: { move: id } });
  };

  const { whyNot, sourceOf, request, giveUp } = createRequests({ store, clock, ids });
  const ask: MoveDesk["ask"] = async ({ unit, target, kind, actor, isFailOver = false, reverses, words }, signal) => {
    const refusal = await whyNot({ unit, target, isFailOver }, signal);
    if (refusal !== undefined) throw refused(refusal.text, unit);
    const what = { unitId: unit.id, to: target.id, epoch: unit.epoch, kind, reason: "FORCED", plan: undefined } as const;
    const requested = await request({ ...what, reverses, isFailOver, actor, words, ceiling: roomOf(target) }, target, signal);
    if (requested.id === undefined) throw refused(requested.why, unit);
    return read(requested.id, signal);
  };

  return {
    whyNot,
    ask,
    async isHeldBySource(unitId, to, signal) {
      const [target, row] = [await fleet.readInstance(to, signal), await shards.readUnit(unitId, signal)];
      return target !== undefined && row !== undefined && endsWithSource(await whyNot({ unit: row.unit, target }, signal));
    },
    async askFor(wish, signal) {
      const target = await fleet.readInstance(wish.to, signal);
      const unit = (await shards.readUnit(wish.unitId, signal))?.unit;
      if (unit === undefined || target === undefined) return { kind: "refused", why: "it or the instance it should go to is gone" };
      const isFailOver = leavesByFailOver(await sourceOf(unit, signal));
      const refusal = await whyNot({ unit, target, isFailOver }, signal);
      if (refusal !== undefined) return { kind: "refused", why: refusal.text };
      const kind = isFailOver ? "evacuation" : wish.kind;
      const requested = await request({ ...wish, kind, isFailOver, reverses: undefined }, target, signal);
      if (requested.id !== undefined) return { kind: "asked", id: requested.id };
      const { by: under, why } = requested;
      return under?.plan === wish.plan && under !== undefined ? { kind: "asked", id: under.id } : { kind: "refused", why };
    },
    async giveUp(source, which, actor, signal) {
      const live = (await moves.list({ isLive: true, instanceId: source }, LIVE_READ, signal)).filter(({ from }) => from === source);
      const isMeant = ({ isFailOver, phase, plan }: Move) =>
        which === "that go there" ? !isFailOver : phase === "WAITING" && plan !== undefined;
      const ends = await Promise.all(live.filter(isMeant).map((move) => giveUp(move, actor, signal)));
      return ends.filter(Boolean).length;
    },
    async abort(id, actor, signal) {
      if (await giveUp(await read(id, signal), actor, signal)) return read(id, signal);
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
  };
}

/** Whether what a plan sends away from an instance goes without it. */
function leavesByFailOver(source: Instance | undefined): boolean {
  return source?.state === "DRAINING" && source.failsOver;
}

function refused(text: string, unit: PlacementUnit): RefusedError {
  return new RefusedError(`the workspace cannot be moved: ${text}`, { code: "move.refused", context: { unit: unit.id } });
}
