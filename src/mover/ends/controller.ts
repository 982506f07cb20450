import { UnavailableError } from "../../domain/errors.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
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
  /** Throws `UnavailableError` where one of them that has to be reached cannot be. */
  find(
    rows: Pick<MoveRows, "move" | "source" | "target">,
  ): Promise<{ readonly source: End; readonly target: End & { readonly sights: Sights } }>;
  list(end: End, unitId: UnitId, signal: AbortSignal): Promise<readonly Sight[]>;
  /** The same of a source that may be away: then nothing of it is known, and a move that is given up needs nothing of it. */
  listIfReached(end: End, unitId: UnitId, signal: AbortSignal): Promise<readonly Sight[]>;
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
  const list: Ends["list"] = async ({ instance: { namespace }, sights: from }, unitId, signal) =>
    from === undefined ? [] : from.list({ namespace, unitId }, signal);
  return {
    async find({ move, ...rows }) {
      const [left, entered] = [known(move.from, rows.source), known(move.to, rows.target)];
      const [source, target] = await Promise.all([move.isFailOver ? { instance: left, sights: undefined } : reach(left), reach(entered)]);
      return { source, target };
    },
    list,
    listIfReached: (end, unitId, signal) =>
      list(end, unitId, signal).catch((error: unknown) => {
        if (error instanceof UnavailableError) return [];
        throw error;
      }),
  };
}
