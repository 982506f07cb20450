import type { Clock } from "../../domain/clock.ts";
import type { MoveId } from "../../domain/ids.ts";
import type { Ground, Grounds } from "../../reconciler/port.ts";
import type { View } from "../look/controller.ts";

/** What making it came to. */
interface Raised {
  /** What that waits for, for people. */
  readonly groundWaits: readonly string[];
  readonly enteredFreely: string | undefined;
}

/** What Applications of a moved unit need on its two instances. */
export interface Groundwork {
  /** Whether it was seen to stand on the target a moment ago: what that waits for, or `undefined` where somebody has to look. */
  recall(id: MoveId): readonly string[] | undefined;
  forget(id: MoveId): void;
  /** Makes it on the target. */
  raise(view: View, signal: AbortSignal): Promise<Raised>;
  clear(view: View, side: "source" | "target", signal: AbortSignal): Promise<void>;
}

/** Somebody may take it away again while the target compares: it is looked for anew after so long, in ms. */
const STANDS_MS = 5_000;

export function createGroundwork(grounds: Grounds, clock: Pick<Clock, "monotonicMs">): Groundwork {
  const stoodAt = new Map<MoveId, number>();
  const groundOf = ({ move, source, target, world }: View, side: "source" | "target"): Ground => {
    const isAway = side === "source" && world.isSourceAway;
    return { unitId: move.unitId, instance: side === "source" ? source : target, epoch: move.toEpoch, isAway };
  };
  return {
    recall: (id) => (clock.monotonicMs() - (stoodAt.get(id) ?? Number.NEGATIVE_INFINITY) < STANDS_MS ? [] : undefined),
    forget: (id) => void stoodAt.delete(id),
    async raise(view, signal) {
      // The source's too where accounts are made: what it entered an environment with before may be nothing that can be taken from it.
      // Where nobody gets to the source, what was recorded of it has to say so.
      const { abroad, move, unknown: withoutEnvironments } = view;
      const source = { ...groundOf(view, "source"), epoch: move.fromEpoch, withoutEnvironments };
      const enteredFreely = move.isFailOver && !view.world.isSourceStopped ? await grounds.enteredFreely(source, signal) : undefined;
      if (enteredFreely !== undefined) return { groundWaits: [], enteredFreely };
      const onSource = abroad.length === 0 || move.isFailOver ? [] : await grounds.raise(source, signal);
      const onTarget = await grounds.raise({ ...groundOf(view, "target"), withoutEnvironments }, signal);
      const groundWaits = [...onSource, ...onTarget];
      if (groundWaits.length === 0) stoodAt.set(move.id, clock.monotonicMs());
      return { groundWaits, enteredFreely };
    },
    clear: (view, side, signal) => grounds.clear(groundOf(view, side), signal),
  };
}
