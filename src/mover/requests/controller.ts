import type { Clock } from "../../domain/clock.ts";
import type { Ids, MoveId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Move } from "../../domain/move.ts";
import { GIVEN_UP_BY } from "../../domain/move-messages.ts";
import { PHASES } from "../../domain/move-phases.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import type { MoveWish } from "../../store/move/port.ts";
import type { Store } from "../../store/port.ts";
import { abortDecision, requestDecision } from "../decisions.ts";
import { type MoveRefusal, whyNotMove } from "../why-not-move.ts";

export interface RequestsDeps {
  readonly store: Pick<Store, "moves" | "shards" | "fleet">;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The move that waits now, or why there is none and which one stands in its way. */
type Requested = { readonly id: MoveId } | { readonly id?: undefined; readonly why: string; readonly by?: Move | undefined };

/** `words`: why, in the words of whoever asks. */
type Wished = Omit<MoveWish, "id" | "decision"> & { readonly words?: string | undefined };

/** Where a unit is to go. */
interface Destined {
  readonly unit: PlacementUnit;
  readonly target: Instance;
  /** Nobody gets to the instance it is on, which may be alive. */
  readonly isFailOver?: boolean;
}

/** Writes down which moves are wanted, and which are not any more. */
export interface Requests {
  /** The instance that owns a unit. */
  sourceOf(unit: Pick<PlacementUnit, "owner">, signal: AbortSignal): Promise<Instance | undefined>;
  /** What speaks against moving a unit there now; `undefined`: nothing but what is tested when it is asked for. */
  whyNot(wish: Destined, signal: AbortSignal): Promise<MoveRefusal | undefined>;
  /** A fail-over ends one that brought the unit to where it is, and that waits for that instance by now. */
  request(wish: Wished, target: Pick<Instance, "name">, signal: AbortSignal): Promise<Requested>;
  /** False: it is too late. */
  giveUp(move: Move, actor: string, signal: AbortSignal): Promise<boolean>;
}

export function createRequests({ store: { moves, shards, fleet }, clock, ids }: RequestsDeps): Requests {
  const sourceOf: Requests["sourceOf"] = async ({ owner }, signal) => (owner === undefined ? undefined : fleet.readInstance(owner, signal));
  return {
    sourceOf,
    async whyNot({ unit, target, isFailOver = false }, signal) {
      const source = await sourceOf(unit, signal);
      const environments = (await shards.readUnit(unit.id, signal))?.environments ?? [];
      return whyNotMove({ unit, environments, source, target, isFailOver });
    },
    async request({ words, ...wish }, { name }, signal) {
      const id = ids.next<MoveId>();
      const decision = requestDecision({ ...wish, id, words }, clock.now());
      const outcome = await moves.request({ ...wish, id, decision }, signal);
      if (outcome.kind === "requested") return { id };
      if (outcome.kind === "moving") {
        const by = await moves.read(outcome.id, signal);
        return { by, why: whyMoving(outcome.id, by) };
      }
      return {
        why: outcome.kind === "full" ? `${name} has no room for it, or takes nothing now` : "it was moved at this moment: look again",
      };
    },
    giveUp(move, actor, signal) {
      const text = `${GIVEN_UP_BY}${actor}`;
      const decision = abortDecision({ ...move, actor }, clock.now(), { code: "COMMAND", text });
      return moves.abort(move.id, { message: text, decision }, signal);
    },
  };
}

function whyMoving(id: MoveId, under: Move | undefined): string {
  const text = `it is being moved already: \`argosy moves\` shows move ${id}`;
  const mayGoOn = under !== undefined && PHASES[under.phase].next.includes("REDIRECTED");
  return mayGoOn ? `${text}; if its new owner is lost, \`argosy move --fail-over\` takes it on from there` : text;
}
