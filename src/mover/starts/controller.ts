import type { MoveId, UnitId } from "../../domain/ids.ts";
import type { Move } from "../../domain/move.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { type Budgets, nextStarts } from "../next-starts.ts";

/** Begins moves whose turn it is. */
export interface Starts {
  /** Whoever looks may begin one: several that look at once begin each once, and a few too many at worst. Returns all that were live before. */
  begin(signal: AbortSignal): Promise<readonly Move[]>;
}

const LIVE_LIMIT = 10_000;
const NO_CLUSTERS: ReadonlyMap<UnitId, readonly string[]> = new Map();
const unitsOf = (moves: readonly Move[]): readonly UnitId[] => moves.map(({ unitId }) => unitId).sort();

export interface StartsDeps {
  readonly store: Pick<Store, "moves">;
  readonly budgets: Budgets;
  /** A move has been begun here. */
  readonly onBegun: (id: MoveId) => void;
  readonly log: Log;
}

export function createStarts({ store, budgets, onBegun, log }: StartsDeps): Starts {
  return {
    async begin(signal) {
      const live = await store.moves.list({ isLive: true }, LIVE_LIMIT, signal);
      const startsBeside = (clusters: ReadonlyMap<UnitId, readonly string[]>) => nextStarts(live, { budgets, clusters });
      // Which clusters units deploy to only keeps moves from beginning.
      if (startsBeside(NO_CLUSTERS).length === 0) return live;
      for (const { id } of startsBeside(await store.moves.listClusters(unitsOf(live), signal))) {
        const outcome = await store.moves.begin(id, signal);
        log.info({ move: id, outcome }, "Beginning a move whose turn it is");
        if (outcome === "begun") onBegun(id);
      }
      return live;
    },
  };
}
