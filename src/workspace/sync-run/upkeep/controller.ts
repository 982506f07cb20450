import type { Clock } from "../../../domain/clock.ts";
import type { Partition } from "../../../domain/partition.ts";
import type { Rng } from "../../../domain/rng.ts";
import { isFinished } from "../../../domain/sync-run.ts";
import { createKeyedQueue } from "../../../runtime/keyed-queue.ts";
import { every } from "../../../runtime/timer/every.ts";
import type { FleetStore } from "../../../store/fleet/port.ts";
import type { SyncRunStore } from "../../../store/sync-run/port.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { closedDoor, type DoorPolicy } from "../../door-policy.ts";
import { deploymentKey } from "../../keys.ts";
import { readDoorPolicy } from "../../policy/controller.ts";
import { type KnownRunRow, planRunSweep } from "../plan-run-sweep.ts";
import type { RunResources } from "../port.ts";
import type { RunIndex } from "../run-index.ts";

export interface RunUpkeepDeps {
  readonly apiCluster: string;
  readonly syncRuns: Pick<SyncRunStore, "listKnown">;
  readonly fleet: Pick<FleetStore, "readFleet" | "listInstances">;
  readonly runs: RunResources;
  readonly index: RunIndex;
  readonly partition: Partition;
  /** Runs to look at again. */
  readonly review: (keys: readonly string[]) => void;
  /** Called once when policy and rows are known: nothing may be decided before. */
  readonly onReady: () => void;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What is compared even when nothing says that something changed. */
const TASKS = ["policy", "rows"] as const;
type Task = (typeof TASKS)[number];
const EVERY_MS = 60_000;

export interface RunUpkeep {
  /** Everything was listed once: comparing makes sense from now on. */
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  add(task: Task): void;
  policy(): DoorPolicy;
}

/** Finds out what events failed to tell. Keys: the tasks. */
export function createRunUpkeep(deps: RunUpkeepDeps): RunUpkeep {
  const { apiCluster, syncRuns, fleet, runs, index, partition } = deps;
  let policy: DoorPolicy | undefined;
  let isReady = false;

  const readPolicy = async (signal: AbortSignal): Promise<void> => {
    const next = (await readDoorPolicy(fleet, signal)) ?? closedDoor;
    // Runs that wait for the old quota have no row yet.
    const isNews = next.syncsPerMinute !== policy?.syncsPerMinute;
    policy = next;
    if (!isReady || isNews) add("rows");
  };

  /** A row whose resource cannot be seen is only called gone when the API server says so: the watch may be behind. */
  const findGone = async (suspects: readonly KnownRunRow[], signal: AbortSignal): Promise<readonly string[]> => {
    const gone: string[] = [];
    for (const row of suspects) {
      if ((await runs.readUid(row, signal)) === row.uid) continue;
      index.saw(deploymentKey(apiCluster, row), row.uid);
      gone.push(deploymentKey(apiCluster, row));
    }
    return gone;
  };

  const compareRows = async (signal: AbortSignal): Promise<void> => {
    if (policy === undefined) return;
    const rows = await syncRuns.listKnown(apiCluster, signal);
    for (const row of rows) {
      const key = deploymentKey(apiCluster, row);
      if (index.keyOf(row.uid) === undefined) index.recorded(key, { uid: row.uid, isFinished: isFinished(row.phase) });
    }
    const plan = planRunSweep({ cluster: apiCluster, rows, resources: runs.list(), isMine: partition.isMine });
    deps.review([...plan.keys, ...(await findGone(plan.suspects, signal))]);
    if (!isReady) deps.onReady();
    isReady = true;
  };

  const run: Readonly<Record<Task, (signal: AbortSignal) => Promise<void>>> = { policy: readPolicy, rows: compareRows };
  const queue = createKeyedQueue({
    ...deps,
    name: "sync-run-upkeep",
    concurrency: TASKS.length,
    work: (task, signal) => run[task as Task](signal),
  });
  const add = (task: Task): void => queue.add(task);
  return {
    start(signal) {
      for (const task of TASKS) every({ ...deps, ms: EVERY_MS, run: () => add(task) }, signal);
      add("policy");
      queue.start();
    },
    stop: queue.stop,
    add,
    policy: () => policy ?? closedDoor,
  };
}
