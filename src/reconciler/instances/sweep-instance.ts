import type { Clock } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import type { SyncRunStore } from "../../store/sync-run/port.ts";
import type { Intake } from "../applications/read-applications.ts";
import type { Host } from "../find-hosts.ts";
import type { Requests } from "../keys.ts";
import type { WorkspaceEntries } from "../units/apply-workspace-entry.ts";
import type { Leftovers, Orphans } from "./remove-orphans.ts";

/** Finds what no event said: rows that lag, objects that differ from what was written, and those nobody wants. */
export interface InstanceSweep {
  /**
   * Asks for the rows of these instances that lag: two statements, however many instances they are. `ids`: all that this process has to sweep, so
   * that it knows how often each can have its turn.
   */
  requestLagging(ids: readonly InstanceId[], signal: AbortSignal): Promise<void>;
  /** Whether the next sweep of the instance is a thorough one. */
  isThoroughDue(id: InstanceId): boolean;
  /** Compares what the instance holds with its rows, if that is due or orphans were found. */
  sweep(host: Host, signal: AbortSignal): Promise<void>;
  /** Makes the next sweep of these instances a thorough one that compares their units too. */
  distrust(isConcerned: (id: InstanceId) => boolean): void;
  /** Makes the next one of this instance thorough, but compares its units no sooner for it: watches go on where they were. */
  revisit(id: InstanceId): void;
}

export interface InstanceSweepDeps {
  readonly shards: ShardStore;
  readonly syncRuns: Pick<SyncRunStore, "listBusy">;
  readonly orphans: Orphans;
  readonly leftovers: Leftovers;
  readonly workspaceEntries: Pick<WorkspaceEntries, "removeLeftReaders">;
  readonly takeIn: Intake;
  readonly requests: Pick<Requests, "requestUnit" | "reviewUnit" | "requestSync">;
  readonly clock: Clock;
}

/** Rows taken up at once; more than any instance holds, so that a start from nothing is one thorough sweep of each. */
const LAGGING_LIMIT = 20_000;
/**
 * The rows of everything an instance holds are read this often; in between only the lagging ones of all instances are. With more than 50 instances it takes
 * longer, in ms for each: what a process reads in a minute does not grow with what it has.
 */
const THOROUGH = { everyMs: 5 * 60_000, eachMs: 6_000 };
/**
 * Each unit is compared this often, and after a start or a lost watch: that reads its row, which a whole fleet's database feels. With more than 3,600
 * units it takes longer, in ms for each.
 */
const REVIEW = { everyMs: 30 * 60_000, eachMs: 500 };
/** Units of an instance are compared one after the other, this far apart or closer: all at once would be felt by those that change. */
const REVIEW_STEP_MS = 20;

export function createSweep(deps: InstanceSweepDeps): InstanceSweep {
  const { shards, clock, orphans } = deps;
  /** Units of each instance that this process sweeps, as far as they were counted. */
  const sizes = new Map<InstanceId, number>();
  const thorough = createRounds(clock, () => Math.max(THOROUGH.everyMs, THOROUGH.eachMs * sizes.size));
  const reviews = createRounds(clock, () =>
    Math.max(REVIEW.everyMs, REVIEW.eachMs * [...sizes.values()].reduce((sum, size) => sum + size, 0)),
  );
  /** Asks for units, so that their own objects are compared. That costs a read of their rows even where all is well. */
  const review = async (host: Host, signal: AbortSignal): Promise<void> => {
    const { id } = host.instance;
    const owned = await shards.listOwned(id, signal);
    sizes.set(id, owned.length);
    await deps.leftovers.remove(host, owned, signal);
    await deps.workspaceEntries.removeLeftReaders(host, signal);
    if (!reviews.isDue(id)) return;
    reviews.did(id);
    const stepMs = Math.min(REVIEW_STEP_MS, THOROUGH.everyMs / owned.length);
    owned.forEach(({ unitId }, index) => deps.requests.reviewUnit(unitId, index * stepMs));
  };

  const requestRows = async (ids: readonly InstanceId[], signal: AbortSignal): Promise<void> => {
    const lagging = await shards.listLagging(ids, LAGGING_LIMIT, signal);
    lagging.units.forEach(deps.requests.requestUnit);
    deps.takeIn(lagging.applications);
    for (const busy of await deps.syncRuns.listBusy(ids, LAGGING_LIMIT, signal)) deps.requests.requestSync(busy);
  };

  return {
    async requestLagging(ids, signal) {
      const ours = new Set(ids);
      for (const id of sizes.keys()) if (!ours.has(id)) sizes.delete(id);
      for (const id of ids) sizes.set(id, sizes.get(id) ?? 0);
      await requestRows(ids, signal);
    },
    isThoroughDue: thorough.isDue,
    distrust: (isConcerned) => [thorough, reviews].forEach((each) => each.distrust(isConcerned)),
    revisit: (id) => thorough.distrust((each) => each === id),
    async sweep(host, signal) {
      const { id } = host.instance;
      const [isThorough, hadOrphans] = [thorough.isDue(id), orphans.hasSome(id)];
      if (isThorough) await requestRows([id], signal);
      if (isThorough || hadOrphans) await orphans.remove(host, signal);
      // A unit that is not here any more keeps its prerequisites while Applications of it stand, and loses them after the last one.
      const isFreed = hadOrphans && !orphans.hasSome(id);
      if (!isThorough && !isFreed) return;
      await review(host, signal);
      thorough.did(id);
    },
  };
}

/** When each instance's turn came last: on the monotonic clock, for one that is set back must not put anything off. */
interface Rounds {
  isDue(id: InstanceId): boolean;
  did(id: InstanceId): void;
  /** Makes these instances due. One whose turn never came is due anyway. */
  distrust(isConcerned: (id: InstanceId) => boolean): void;
}

function createRounds(clock: Clock, everyMs: () => number): Rounds {
  const didAt = new Map<InstanceId, number>();
  return {
    isDue: (id) => clock.monotonicMs() - (didAt.get(id) ?? Number.NEGATIVE_INFINITY) >= everyMs(),
    did: (id) => void didAt.set(id, clock.monotonicMs()),
    distrust: (isConcerned) => [...didAt.keys()].filter(isConcerned).forEach((id) => didAt.delete(id)),
  };
}
