import { UnavailableError } from "../../domain/errors.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Move } from "../../domain/move.ts";
import type { Sight } from "../../shard/parse-sight.ts";
import type { Store } from "../../store/port.ts";
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
  find(move: Move, signal: AbortSignal): Promise<{ readonly source: End; readonly target: End & { readonly sights: Sights } }>;
  list(end: End, unitId: UnitId, signal: AbortSignal): Promise<readonly Sight[]>;
  /** The same of a source that may be away: then nothing of it is known, and a move that is given up needs nothing of it. */
  listIfReached(end: End, unitId: UnitId, signal: AbortSignal): Promise<readonly Sight[]>;
}

export function createEnds({
  fleet,
  sights,
}: {
  readonly fleet: Pick<Store["fleet"], "readInstance">;
  readonly sights: SightSource;
}): Ends {
  const unavailable = (doing: string, instance: InstanceId) =>
    new UnavailableError(doing, { code: "mover.no-instance", context: { instance } });
  const instanceOf = async (id: InstanceId, signal: AbortSignal): Promise<Instance> => {
    const instance = await fleet.readInstance(id, signal);
    if (instance === undefined) throw unavailable("reading an instance of a move", id);
    return instance;
  };
  const reach = async (id: InstanceId, signal: AbortSignal) => {
    const instance = await instanceOf(id, signal);
    const found = await sights.of(instance.engineCluster);
    if (found === undefined) throw unavailable("reaching an instance of a move", id);
    return { instance, sights: found };
  };
  const list: Ends["list"] = async ({ instance: { namespace }, sights: from }, unitId, signal) =>
    from === undefined ? [] : from.list({ namespace, unitId }, signal);
  return {
    async find({ from, to, isFailOver }, signal) {
      const away = async () => ({ instance: await instanceOf(from, signal), sights: undefined });
      const [source, target] = await Promise.all([isFailOver ? away() : reach(from, signal), reach(to, signal)]);
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
