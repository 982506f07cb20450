import type { Clock } from "../../domain/clock.ts";
import { GoneError, RefusedError } from "../../domain/errors.ts";
import type { Ids, MoveId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Move, MoveKind } from "../../domain/move.ts";
import { GIVEN_UP_BY } from "../../domain/move-messages.ts";
import { PHASES } from "../../domain/move-phases.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import type { MoveWish } from "../../store/move/port.ts";
import type { Store } from "../../store/port.ts";
import { abortDecision, requestDecision } from "../decisions.ts";
import type { LiveMoves } from "../port.ts";
import { endsWithSource, type MoveRefusal, roomOf, whyNotMove } from "../why-not-move.ts";

export interface MoveDeskDeps {
  readonly store: Pick<Store, "moves" | "shards" | "fleet">;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** What people and plans ask of live moves. */
export interface MoveDesk extends LiveMoves {
  /** What speaks against moving a unit there now; `undefined`: nothing but what is tested when it is asked for. */
  whyNot(unit: PlacementUnit, target: Instance, signal: AbortSignal): Promise<MoveRefusal | undefined>;
  /** Asks for a move. Throws `RefusedError` with what speaks against it. */
  ask(wish: Asked, signal: AbortSignal): Promise<Move>;
  /** Gives a move up. Throws `GoneError` for one nobody knows, `RefusedError` after its point of no return. */
  abort(id: MoveId, actor: string, signal: AbortSignal): Promise<Move>;
  /** Asks for the move back of one that has ended. */
  reverse(id: MoveId, actor: string, signal: AbortSignal): Promise<Move>;
}

/** The move that waits now, or why there is none and which one stands in its way. */
type Requested = { readonly id: MoveId } | { readonly id?: undefined; readonly why: string; readonly by?: MoveId };

interface Asked {
  readonly unit: PlacementUnit;
  readonly target: Instance;
  readonly kind: MoveKind;
  readonly actor: string;
  readonly reverses?: MoveId;
}

export function createMoveDesk({ store, clock, ids }: MoveDeskDeps): MoveDesk {
  const { moves, shards, fleet } = store;
  const read = async (id: MoveId, signal: AbortSignal): Promise<Move> => {
    const move = await moves.read(id, signal);
    if (move !== undefined) return move;
    throw new GoneError(`there is no move ${id}; \`argosy moves\` lists them`, { code: "move.unknown", context: { move: id } });
  };

  const whyNot: MoveDesk["whyNot"] = async (unit, target, signal) => {
    const source = unit.owner === undefined ? undefined : await fleet.readInstance(unit.owner, signal);
    const environments = (await shards.readUnit(unit.id, signal))?.environments ?? [];
    return whyNotMove({ unit, environments, source, target });
  };
  const request = async (wish: Omit<MoveWish, "id" | "decision">, { name }: Instance, signal: AbortSignal): Promise<Requested> => {
    const id = ids.next<MoveId>();
    const decision = requestDecision({ ...wish, id }, clock.now());
    const outcome = await moves.request({ ...wish, id, decision }, signal);
    if (outcome.kind === "requested") return { id };
    if (outcome.kind === "moving") return { by: outcome.id, why: `it is being moved already: \`argosy moves\` shows move ${outcome.id}` };
    return {
      why: outcome.kind === "full" ? `${name} has no room for it, or takes nothing now` : "it was moved at this moment: look again",
    };
  };

  const ask: MoveDesk["ask"] = async ({ unit, target, kind, actor, reverses }, signal) => {
    const refusal = await whyNot(unit, target, signal);
    if (refusal !== undefined) throw refused(refusal.text, unit);
    const wish = { unitId: unit.id, to: target.id, epoch: unit.epoch, kind, reason: "FORCED", plan: undefined, reverses, actor } as const;
    const requested = await request({ ...wish, ceiling: roomOf(target) }, target, signal);
    if (requested.id === undefined) throw refused(requested.why, unit);
    return read(requested.id, signal);
  };

  return {
    whyNot,
    ask,
    async isHeldBySource(unitId, to, signal) {
      const [target, row] = [await fleet.readInstance(to, signal), await shards.readUnit(unitId, signal)];
      return target !== undefined && row !== undefined && endsWithSource(await whyNot(row.unit, target, signal));
    },
    async askFor(wish, signal) {
      const target = await fleet.readInstance(wish.to, signal);
      const unit = (await shards.readUnit(wish.unitId, signal))?.unit;
      if (unit === undefined || target === undefined) return { kind: "refused", why: "it or the instance it should go to is gone" };
      const refusal = await whyNot(unit, target, signal);
      if (refusal !== undefined) return { kind: "refused", why: refusal.text };
      const requested = await request({ ...wish, reverses: undefined }, target, signal);
      if (requested.id !== undefined) return { kind: "asked", id: requested.id };
      const under = requested.by === undefined ? undefined : await moves.read(requested.by, signal);
      return under?.plan === wish.plan && under !== undefined ? { kind: "asked", id: under.id } : { kind: "refused", why: requested.why };
    },
    async abort(id, actor, signal) {
      const move = await read(id, signal);
      const text = `${GIVEN_UP_BY}${actor}`;
      const decision = abortDecision({ ...move, actor }, clock.now(), { code: "COMMAND", text });
      if (await moves.abort(id, { message: text, decision }, signal)) return read(id, signal);
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

function refused(text: string, unit: PlacementUnit): RefusedError {
  return new RefusedError(`the workspace cannot be moved: ${text}`, { code: "move.refused", context: { unit: unit.id } });
}
