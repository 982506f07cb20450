import type { Clock, Millis } from "../../domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId } from "../../domain/ids.ts";
import { planRelease } from "../../shard/plan-application.ts";
import { whyRevisit } from "../../shard/revisit.ts";
import type { Stray } from "../../shard/strays.ts";
import { findStrays, judgeStrays } from "../../shard/strays.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Carrier } from "../object/controller.ts";
import type { Host } from "../seats/controller.ts";

/** Finds what no event told: rows that lag, objects that differ from what was written, and Applications nobody wants. */
export interface SweepController {
  sweep(host: Host, signal: AbortSignal): Promise<void>;
  /** Makes the next sweep of every instance a thorough one. */
  distrust(): void;
}

export interface SweepDeps {
  readonly shards: ShardStore;
  readonly carrier: Carrier;
  readonly requestApplications: (ids: readonly ApplicationId[]) => void;
  readonly requestUnits: (ids: readonly UnitId[]) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Rows taken up by one sweep; more than any instance holds, so that a start from nothing is one sweep. */
const LAGGING_LIMIT = 20_000;
/** The rows of everything an instance holds are read this often; in between only the lagging ones are. */
const THOROUGH_EVERY_MS = 5 * 60_000;

export function createSweepController(deps: SweepDeps): SweepController {
  const { shards, clock, log } = deps;
  const thoroughAt = new Map<InstanceId, Millis>();
  const strays = new Map<InstanceId, readonly Stray[]>();
  deps.metrics
    .gauge("argosy_reconciler_stray_applications", "Applications of ours that do not belong where they stand.", ["reason"])
    .collect(() =>
      (["no-row", "owned-elsewhere"] as const).map((reason) => ({
        value: [...strays.values()].flat().filter((stray) => stray.reason === reason).length,
        labels: { reason },
      })),
    );

  const compare = async ({ instance, engine }: Host, signal: AbortSignal): Promise<void> => {
    const observed = engine.applications.list(instance.namespace);
    const rows = await shards.listApplications(instance.id, signal);
    const belonging = new Set(rows.map((row) => row.applicationId));
    const unknown = findStrays(observed, belonging).map((stray) => stray.id);
    const existing = new Set(
      unknown.length === 0 ? [] : (await shards.readApplications([...new Set(unknown)], signal)).map((row) => row.application.id),
    );
    const before = new Set((strays.get(instance.id) ?? []).map((stray) => stray.observed.uid));
    const found = judgeStrays(observed, { belonging, existing }, before);
    strays.set(instance.id, found);
    deps.requestApplications(
      rows
        .filter((row) => whyRevisit(row, engine.applications.get({ namespace: instance.namespace, name: row.argoName })) !== undefined)
        .map((row) => row.applicationId),
    );
    for (const stray of found) await dispose({ instance, engine }, stray, signal);
  };

  const dispose = async ({ instance, engine }: Host, stray: Stray, signal: AbortSignal): Promise<void> => {
    const { at, uid } = stray.observed;
    log.warn(
      { instance: instance.name, at, uid, epoch: stray.observed.epoch, reason: stray.reason, isRemovable: stray.isRemovable },
      "Finding an Application that does not belong here",
    );
    if (!stray.isRemovable) return;
    // Only this very object: another of its name may be wanted by now.
    const plan = (observed: typeof stray.observed | undefined) => planRelease(observed?.uid === uid ? observed : undefined);
    await deps.carrier.carryOut({ objects: engine.applications, at, plan, name: "stray" }, signal);
  };

  return {
    distrust: () => thoroughAt.clear(),
    async sweep(host, signal) {
      const { id } = host.instance;
      const lagging = await shards.listLagging(id, LAGGING_LIMIT, signal);
      deps.requestUnits(lagging.units);
      deps.requestApplications(lagging.applications);
      const last = thoroughAt.get(id);
      const hasStrays = (strays.get(id)?.length ?? 0) > 0;
      if (last !== undefined && clock.now() - last < THOROUGH_EVERY_MS && !hasStrays) return;
      await compare(host, signal);
      thoroughAt.set(id, clock.now());
    },
  };
}
