import type { UnitId } from "../../domain/ids.ts";
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

export function createStarts({
  store,
  budgets,
  log,
}: {
  readonly store: Pick<Store, "moves">;
  readonly budgets: Budgets;
  readonly log: Log;
}): Starts {
  return {
    async begin(signal) {
      const live = await store.moves.list({ isLive: true }, LIVE_LIMIT, signal);
      const isWaited = live.some(({ phase }) => phase === "WAITING");
      const clusters = isWaited ? await store.moves.listClusters(unitsOf(live), signal) : NO_CLUSTERS;
      for (const { id } of nextStarts(live, { budgets, clusters })) {
        const outcome = await store.moves.begin(id, signal);
        log.info({ move: id, outcome }, "Beginning a move whose turn it is");
      }
      return live;
    },
  };
}
