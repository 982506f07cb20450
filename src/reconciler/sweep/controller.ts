import type { Clock } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { whyRevisit } from "../../shard/revisit.ts";
import type { Stray } from "../../shard/strays.ts";
import { findStrays, judgeStrays, planStrayEnd } from "../../shard/strays.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import type { SyncRunStore } from "../../store/sync-run/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Intake } from "../intake/controller.ts";
import type { LeftoverSweep } from "../leftovers/controller.ts";
import type { Carrier } from "../object/controller.ts";
import type { Queues } from "../queues/controller.ts";
import type { Host } from "../seats/controller.ts";
import { createRounds } from "./rounds.ts";

/** Finds what no event told: rows that lag, objects that differ from what was written, and those nobody wants. */
export interface SweepController {
  sweep(host: Host, signal: AbortSignal): Promise<void>;
  /** Makes the next sweep of every instance a thorough one. */
  distrust(): void;
}

export interface SweepDeps {
  readonly shards: ShardStore;
  readonly syncRuns: Pick<SyncRunStore, "listBusy">;
  readonly carrier: Carrier;
  readonly leftovers: LeftoverSweep;
  readonly intake: Pick<Intake, "take">;
  readonly queues: Pick<Queues, "requestUnit" | "reviewUnit" | "requestSync">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Rows taken up by one sweep; more than any instance holds, so that a start from nothing is one sweep. */
const LAGGING_LIMIT = 20_000;
/** The rows of everything an instance holds are read this often; in between only the lagging ones are. */
const THOROUGH_EVERY_MS = 5 * 60_000;
/** Each unit is compared this often, and after a start or a lost watch: that reads its row, which a whole fleet's database feels. */
const REVIEW_EVERY_MS = 30 * 60_000;
/** Units of an instance are compared one after the other, this far apart or closer: all at once would be felt by those that change. */
const REVIEW_STEP_MS = 20;

export function createSweepController(deps: SweepDeps): SweepController {
  const { shards, clock, log } = deps;
  const thorough = createRounds(clock, THOROUGH_EVERY_MS);
  const reviews = createRounds(clock, REVIEW_EVERY_MS);
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
    const existing = new Map(
      unknown.length === 0
        ? []
        : (await shards.readApplications([...new Set(unknown)], signal)).map((row) => [row.application.id, row.unit]),
    );
    const before = new Set((strays.get(instance.id) ?? []).map((stray) => stray.observed.uid));
    const found = judgeStrays(observed, { belonging, existing }, before);
    strays.set(instance.id, found);
    deps.intake.take(
      rows
        .filter((row) => whyRevisit(row, engine.applications.get({ namespace: instance.namespace, name: row.argoName })) !== undefined)
        .map((row) => row.applicationId),
    );
    for (const stray of found) await dispose({ instance, engine }, stray, signal);
  };

  /** What events did not tell of a unit's own objects shows when they are compared: that costs a read of rows where all is well. */
  const review = async (host: Host, signal: AbortSignal): Promise<void> => {
    const { id } = host.instance;
    const owned = await shards.listOwned(id, signal);
    await deps.leftovers.sweep(host, owned, signal);
    if (!reviews.isDue(id)) return;
    reviews.did(id);
    const stepMs = Math.min(REVIEW_STEP_MS, THOROUGH_EVERY_MS / owned.length);
    owned.forEach(({ unitId }, index) => deps.queues.reviewUnit(unitId, index * stepMs));
  };

  const dispose = async ({ instance, engine }: Host, stray: Stray, signal: AbortSignal): Promise<void> => {
    const { at, uid } = stray.observed;
    log.warn(
      { instance: instance.name, at, uid, epoch: stray.observed.epoch, reason: stray.reason, isRemovable: stray.isRemovable },
      "Finding an Application that does not belong here",
    );
    if (!stray.isRemovable) return;
    const plan = (now: typeof stray.observed | undefined) => planStrayEnd(stray, now);
    await deps.carrier.carryOut({ objects: engine.applications, at, plan, name: "stray" }, signal);
  };

  return {
    distrust: () => [thorough, reviews].forEach((each) => each.distrust()),
    async sweep(host, signal) {
      const { id } = host.instance;
      const lagging = await shards.listLagging(id, LAGGING_LIMIT, signal);
      lagging.units.forEach(deps.queues.requestUnit);
      deps.intake.take(lagging.applications);
      for (const busy of await deps.syncRuns.listBusy(id, LAGGING_LIMIT, signal)) deps.queues.requestSync(busy);
      const isThorough = thorough.isDue(id);
      const hasStrays = (strays.get(id)?.length ?? 0) > 0;
      if (isThorough || hasStrays) await compare(host, signal);
      if (!isThorough) return;
      await review(host, signal);
      thorough.did(id);
    },
  };
}
