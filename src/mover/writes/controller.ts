import { GoneError, StaleError } from "../../domain/errors.ts";
import type { Log } from "../../telemetry/log.ts";
import type { View } from "../look/controller.ts";
import type { ManagedCluster } from "../port.ts";
import type { Probe } from "../probe/controller.ts";
import type { SidedWrite } from "../verdict.ts";

export interface WritesDeps {
  readonly managed: Pick<ManagedCluster, "create" | "patch">;
  readonly probe: Pick<Probe, "forget">;
  readonly log: Log;
}

/** Carries conditional writes out, together. What has changed meanwhile is left for the next look; each write is tried, whatever becomes of the others. */
export type Writes = (view: View, writes: readonly SidedWrite[], signal: AbortSignal) => Promise<void>;

export function createWrites({ managed, probe, log }: WritesDeps): Writes {
  const put = async ({ sourceSights, targetSights, move }: View, { side, write }: SidedWrite, signal: AbortSignal): Promise<void> => {
    const objects = { source: sourceSights, target: targetSights, register: managed }[side];
    log.debug({ move: move.id, phase: move.phase, side, step: write.kind }, "Writing for a move");
    if (side === "register") probe.forget(move.id);
    if (write.kind === "create") return objects.create(write.manifest, signal);
    if (write.kind === "change") return objects.patch(write.at, write.patch, signal);
    const sights = side === "source" ? sourceSights : targetSights;
    return sights.delete(write.at, write.preconditions, signal);
  };
  return async (view, writes, signal) => {
    const ends = await Promise.allSettled(writes.map((each) => put(view, each, signal)));
    const failed = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as Error] : []));
    const grave = failed.find((error) => !(error instanceof StaleError || error instanceof GoneError));
    if (grave !== undefined) throw grave;
  };
}
