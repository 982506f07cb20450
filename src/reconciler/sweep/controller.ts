import type { Clock } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import type { SyncRunStore } from "../../store/sync-run/port.ts";
import type { Intake } from "../intake/controller.ts";
import type { LeftoverSweep } from "../leftovers/controller.ts";
import type { Queues } from "../queues/controller.ts";
import type { Host } from "../seats/controller.ts";
import type { StrayKeeper } from "../strays/controller.ts";
import { createRounds } from "./rounds.ts";

/** Finds what no event told: rows that lag, objects that differ from what was written, and those nobody wants. */
export interface SweepController {
  sweep(host: Host, signal: AbortSignal): Promise<void>;
  /** Makes the next sweep of every instance a thorough one. */
  distrust(): void;
  /** Makes the next one of this instance thorough, but compares its units no sooner for it: watches go on where they were. */
  revisit(id: InstanceId): void;
}

export interface SweepDeps {
  readonly shards: ShardStore;
  readonly syncRuns: Pick<SyncRunStore, "listBusy">;
  readonly strays: StrayKeeper;
  readonly leftovers: LeftoverSweep;
  readonly intake: Pick<Intake, "take">;
  readonly queues: Pick<Queues, "requestUnit" | "reviewUnit" | "requestSync">;
  readonly clock: Clock;
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
  const { shards, clock, strays } = deps;
  const thorough = createRounds(clock, THOROUGH_EVERY_MS);
  const reviews = createRounds(clock, REVIEW_EVERY_MS);
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

  return {
    distrust: () => [thorough, reviews].forEach((each) => each.distrust()),
    revisit: thorough.distrust,
    async sweep(host, signal) {
      const { id } = host.instance;
      const lagging = await shards.listLagging(id, LAGGING_LIMIT, signal);
      lagging.units.forEach(deps.queues.requestUnit);
      deps.intake.take(lagging.applications);
      for (const busy of await deps.syncRuns.listBusy(id, LAGGING_LIMIT, signal)) deps.queues.requestSync(busy);
      const [isThorough, hadStrays] = [thorough.isDue(id), strays.hasSome(id)];
      if (isThorough || hadStrays) await strays.compare(host, signal);
      // What Applications of a unit need that is not here is let be while they stand, and goes after the last of them.
      const isFreed = hadStrays && !strays.hasSome(id);
      if (!isThorough && !isFreed) return;
      await review(host, signal);
      thorough.did(id);
    },
  };
}
