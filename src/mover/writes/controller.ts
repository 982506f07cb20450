import { DefectError, GoneError, RefusedError, StaleError } from "../../domain/errors.ts";
import type { Grounds } from "../../reconciler/port.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { refusalText } from "../decisions.ts";
import type { View } from "../look/controller.ts";
import type { ManagedCluster } from "../port.ts";
import type { Probe } from "../probe/controller.ts";
import { tamperingOf } from "../tampering.ts";
import type { SidedWrite } from "../verdict.ts";

export interface WritesDeps {
  readonly moves: Pick<Store["moves"], "note">;
  readonly managed: Pick<ManagedCluster, "create" | "patch" | "delete">;
  readonly probe: Pick<Probe, "forget">;
  readonly grounds: Pick<Grounds, "tellRepair">;
  readonly log: Log;
}

/** Carries conditional writes out, together. What has changed meanwhile is left for the next look; each write is tried, whatever becomes of the others. */
export type Writes = (view: View, writes: readonly SidedWrite[], signal: AbortSignal) => Promise<void>;

export function createWrites({ moves, managed, probe, grounds, log }: WritesDeps): Writes {
  /** How long refusals were seen says nothing of another register. */
  const minding = ({ move, seat, world }: View, { write }: SidedWrite): void => {
    probe.forget(move.id);
    const tampering = tamperingOf(world.register, write);
    if (tampering !== undefined) grounds.tellRepair(seat, tampering);
  };
  const put = async (view: View, sided: SidedWrite, signal: AbortSignal): Promise<void> => {
    const { sourceSights, targetSights, move } = view;
    const { side, write } = sided;
    const objects = { source: sourceSights, target: targetSights, register: managed }[side];
    if (objects === undefined)
      throw new DefectError("writing to an instance that nobody goes to", { code: "mover.away", context: { move: move.id } });
    log.debug({ move: move.id, phase: move.phase, side, step: write.kind }, "Writing for a move");
    if (side === "register") minding(view, sided);
    if (write.kind === "create") return objects.create(write.manifest, signal);
    if (write.kind === "change") return objects.patch(write.at, write.patch, signal);
    return objects.delete(write.at, write.preconditions, signal);
  };
  return async (view, writes, signal) => {
    const ends = await Promise.allSettled(writes.map((each) => put(view, each, signal)));
    const grave = ends.flatMap((end, index) => graveOf(end, writes[index]) ?? [])[0];
    // What an API server will not have it will not have the next time: whoever looks at the move reads why it does not go on.
    if (grave instanceof RefusedError) await moves.note(view.move.id, view.move.phase, refusalText(grave), signal);
    if (grave !== undefined) throw grave;
  };
}

/** What has changed meanwhile is looked at again at once; where there is nothing to make something in, looking at once tells nothing new. */
function graveOf(end: PromiseSettledResult<void>, written: SidedWrite | undefined): Error | undefined {
  if (end.status === "fulfilled") return undefined;
  const error = end.reason as Error;
  const isOvertaken = error instanceof StaleError || (error instanceof GoneError && written?.write.kind !== "create");
  return isOvertaken ? undefined : error;
}
