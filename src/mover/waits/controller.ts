import type { MoveId } from "../../domain/ids.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { Store } from "../../store/port.ts";
import { isSaid } from "../decisions.ts";
import type { View } from "../look/controller.ts";
import { LOOKS, lookAgainMs, WAKE_MS } from "../looks.ts";
import type { News } from "../news/controller.ts";
import type { ApplicationWatch } from "../port.ts";
import type { RunMemory } from "../run-memory.ts";

export interface WaitsDeps {
  readonly store: Pick<Store, "moves">;
  readonly news: Omit<News, "heard">;
  readonly watch: Pick<ApplicationWatch, "isHeard">;
}

/** Lets moves wait: says what for, and when they are looked at again. */
export interface Waits {
  /** Each look begins here. */
  looked(view: View): void;
  forget(id: MoveId): void;
  /** For a change of what is looked at. */
  forChange(view: View, run: RunMemory, why: string, signal: AbortSignal): Promise<WorkResult>;
  /** For so long, for people to read what for. */
  forMs(view: View, requeueAfterMs: number, why: string, signal: AbortSignal): Promise<WorkResult>;
}

export function createWaits({ store: { moves }, news, watch }: WaitsDeps): Waits {
  const say = async ({ move }: View, why: string, signal: AbortSignal): Promise<void> => {
    if (why !== move.message && !isSaid(move)) await moves.note(move.id, move.phase, why, signal);
  };
  /** Whether it is Applications of instances that have to change, and somebody tells of it. */
  const isTold = ({ move, abroad, source, target }: View, { groundWaits = [] }: RunMemory): boolean =>
    LOOKS[move.phase].atApplications &&
    groundWaits.length === 0 &&
    abroad.length === 0 &&
    [source, target].every(({ engineCluster }) => watch.isHeard(engineCluster));
  return {
    looked({ move, world }) {
      news.looked(move, [...world.onSource, ...world.onTarget]);
    },
    forget: news.forget,
    async forChange(view, run, why, signal) {
      await say(view, why, signal);
      const { move, world } = view;
      const isAsleep = news.rest(move.unitId);
      return { requeueAfterMs: isAsleep ? lookAgainMs(move.phase, world.now - move.phaseSince, isTold(view, run)) : WAKE_MS };
    },
    async forMs(view, requeueAfterMs, why, signal) {
      await say(view, why, signal);
      return { requeueAfterMs };
    },
  };
}
