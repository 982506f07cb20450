import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId } from "../../domain/ids.ts";
import { applicationOf, unitOf } from "../../shard/parse-application.ts";
import { whyRevisit } from "../../shard/revisit.ts";
import type { RowsOfStrays, Stray } from "../../shard/strays.ts";
import { findStrays, judgeStrays, planStrayEnd } from "../../shard/strays.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { createApplicationWishes } from "../application/wishes.ts";
import type { Intake } from "../intake/controller.ts";
import type { Carrier } from "../object/controller.ts";
import type { Host } from "../seats/controller.ts";

/** Compares the Applications of an instance with their rows, and ends those that nobody wants there. */
export interface StrayKeeper {
  compare(host: Host, signal: AbortSignal): Promise<void>;
  /** Whether the last look found some: what is to be done with them takes a second one. */
  hasSome(id: InstanceId): boolean;
}

export interface StrayDeps {
  readonly shards: Pick<ShardStore, "listApplications" | "readApplications" | "listEnded">;
  readonly carrier: Carrier;
  readonly intake: Pick<Intake, "take">;
  /** Asks for the unit's objects: an Application cannot go without its project, which goes where none is left. */
  readonly requestUnit: (id: UnitId) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export function createStrayKeeper({ shards, carrier, intake, requestUnit, clock, log, metrics }: StrayDeps): StrayKeeper {
  const strays = new Map<InstanceId, readonly Stray[]>();
  const wishes = createApplicationWishes(clock);
  metrics
    .gauge("argosy_reconciler_stray_applications", "Applications of ours that do not belong where they stand.", ["reason"])
    .collect(() =>
      (["no-row", "owned-elsewhere"] as const).map((reason) => ({
        value: [...strays.values()].flat().filter((stray) => stray.reason === reason).length,
        labels: { reason },
      })),
    );

  const look = async (
    id: InstanceId,
    unknown: readonly ApplicationId[],
    signal: AbortSignal,
  ): Promise<Omit<RowsOfStrays, "instance" | "belonging">> => {
    const rows = unknown.length === 0 ? [] : await shards.readApplications(unknown, signal);
    const existing = new Map(rows.map((row) => [row.application.id, row.unit]));
    const gone = unknown.filter((each) => !existing.has(each));
    const ended = gone.length === 0 ? [] : await shards.listEnded(id, gone, signal);
    return { existing, ended: new Map(ended.map((each) => [each.applicationId, each])) };
  };

  const dispose = async ({ instance, engine }: Host, stray: Stray, signal: AbortSignal): Promise<void> => {
    const { reason, deletion, isRemovable } = stray;
    const { at, uid, epoch } = stray.observed;
    log.warn(
      { instance: instance.name, at, uid, epoch, reason, isRemovable, deletion },
      "Finding an Application that does not belong here",
    );
    if (!isRemovable) return;
    const unitId = unitOf(stray.observed);
    if (unitId !== undefined) requestUnit(unitId);
    const id = applicationOf(stray.observed) as ApplicationId;
    const wish = wishes.of({ id, deletion, deletedAt: clock.now() });
    const plan = (now: typeof stray.observed | undefined) => planStrayEnd(stray, wish, now);
    const end = await carrier.carryOut({ objects: engine.applications, at, plan, name: "stray" }, signal);
    if (end.kind !== "await-rest") wishes.forget(id);
  };

  return {
    async compare(host, signal) {
      const { instance, engine } = host;
      const observed = engine.applications.list(instance.namespace);
      const rows = await shards.listApplications(instance.id, signal);
      const belonging = new Set(rows.map((row) => row.applicationId));
      const unknown = findStrays(observed, belonging).map((stray) => stray.id);
      const { existing, ended } = await look(instance.id, [...new Set(unknown)], signal);
      const before = new Set((strays.get(instance.id) ?? []).map((stray) => stray.observed.uid));
      const found = judgeStrays(observed, { instance: instance.id, belonging, existing, ended }, before);
      strays.set(instance.id, found);
      intake.take(
        rows
          .filter((row) => whyRevisit(row, engine.applications.get({ namespace: instance.namespace, name: row.argoName })) !== undefined)
          .map((row) => row.applicationId),
      );
      for (const stray of found) await dispose(host, stray, signal);
    },
    hasSome: (id) => (strays.get(id)?.length ?? 0) > 0,
  };
}
