import { UnavailableError } from "../../domain/errors.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Move } from "../../domain/move.ts";
import { PHASES } from "../../domain/move-phases.ts";
import type { Sight } from "../../shard/parse-sight.ts";
import type { MoveRows } from "../../store/move/port.ts";
import type { SightSource, Sights } from "../port.ts";

/** One of the two instances of a move. */
interface End {
  readonly instance: Instance;
  /** Absent: nobody goes there. */
  readonly sights: Sights | undefined;
}

/** Finds the two instances of a move, and what stands there. */
export interface Ends {
  /** Throws `UnavailableError` where one of them that has to be reached cannot be: the target, and until COMMIT the source of what is no fail-over. */
  find(
    rows: Pick<MoveRows, "move" | "source" | "target">,
  ): Promise<{ readonly source: End; readonly target: End & { readonly sights: Sights } }>;
  listTarget(end: End, unitId: UnitId, signal: AbortSignal): Promise<readonly Sight[]>;
  /** `undefined`: nobody gets there, which is an `UnavailableError` while the move needs something of it. */
  listSource(move: Move, end: End, signal: AbortSignal): Promise<readonly Sight[] | undefined>;
}

export function createEnds(sights: SightSource): Ends {
  const unavailable = (doing: string, instance: InstanceId) =>
    new UnavailableError(doing, { code: "mover.no-instance", context: { instance } });
  const known = (id: InstanceId, instance: Instance | undefined): Instance => {
    if (instance === undefined) throw unavailable("reading an instance of a move", id);
    return instance;
  };
  const reach = async (instance: Instance) => {
    const found = await sights.of(instance.engineCluster);
    if (found === undefined) throw unavailable("reaching an instance of a move", instance.id);
    return { instance, sights: found };
  };
  const list = async ({ instance: { namespace }, sights: from }: End, unitId: UnitId, signal: AbortSignal) =>
    from?.list({ namespace, unitId }, signal);
  /** After COMMIT the source has nothing that the move needs, and one that was given up leaves it to the reconciler. */
  const ifNeeded = <T>({ phase }: Move, reaching: Promise<T>): Promise<T | undefined> =>
    reaching.catch((error: unknown) => {
      if (error instanceof UnavailableError && !PHASES[phase].isRevocable) return undefined;
      throw error;
    });
  const sourceOf = async (move: Move, instance: Instance): Promise<End> =>
    (move.isFailOver ? undefined : await ifNeeded(move, reach(instance))) ?? { instance, sights: undefined };
  return {
    async find({ move, ...rows }) {
      const [left, entered] = [known(move.from, rows.source), known(move.to, rows.target)];
      const [source, target] = await Promise.all([sourceOf(move, left), reach(entered)]);
      return { source, target };
    },
    listTarget: async (end, unitId, signal) => (await list(end, unitId, signal)) ?? [],
    listSource: (move, end, signal) => ifNeeded(move, list(end, move.unitId, signal)),
  };
}
