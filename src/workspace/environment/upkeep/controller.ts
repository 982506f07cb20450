import type { Change } from "../../../domain/change.ts";
import type { Clock } from "../../../domain/clock.ts";
import type { Partition } from "../../../domain/partition.ts";
import type { Rng } from "../../../domain/rng.ts";
import { createKeyedQueue } from "../../../runtime/keyed-queue.ts";
import { every } from "../../../runtime/timer/every.ts";
import type { EnvironmentStore } from "../../../store/environment/port.ts";
import type { FleetStore } from "../../../store/fleet/port.ts";
import type { PlacementStore } from "../../../store/placement/port.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { deploymentKey } from "../../keys.ts";
import type { UserKindResources } from "../../port.ts";
import { readDeclaredPolicy } from "../../read-policy.ts";
import { admitsTheSame, isAboutFleet, type WorkspacePolicy } from "../../workspace-policy.ts";
import type { createAwaitedOwners } from "../awaited-owners.ts";
import type { Ends } from "../ends/controller.ts";

export interface EnvironmentUpkeepDeps {
  readonly apiCluster: string;
  readonly fleet: FleetStore;
  readonly environments: EnvironmentStore;
  readonly resources: UserKindResources;
  readonly ends: Ends;
  readonly awaited: ReturnType<typeof createAwaitedOwners>;
  readonly placements: Pick<PlacementStore, "readUnitsOf">;
  readonly partition: Partition;
  /** Environments to look at again. */
  readonly review: (keys: readonly string[]) => void;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What is read even when nothing says that something changed, and how often, in ms. */
const EVERY_MS = { policy: 60_000, rows: 60_000, owners: 60_000 } as const;
type Task = keyof typeof EVERY_MS;
const TASKS = Object.keys(EVERY_MS) as readonly Task[];

export interface EnvironmentUpkeep {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  add(task: Task): void;
  onChanges(changes: readonly Change[] | "missed"): void;
  /** Looks at every environment again. */
  reviewAll(): void;
  /** Absent until it was read once, and while no fleet is declared. */
  policy(): WorkspacePolicy | undefined;
}

/** Finds what events failed to tell about environments. */
export function createEnvironmentUpkeep(deps: EnvironmentUpkeepDeps): EnvironmentUpkeep {
  const { apiCluster, fleet, environments, resources, ends, awaited, placements, partition, review } = deps;
  let policy: WorkspacePolicy | undefined;
  const reviewAll = (): void => review(resources.list().map((resource) => deploymentKey(apiCluster, resource)));

  async function readPolicy(signal: AbortSignal): Promise<void> {
    const next = await readDeclaredPolicy(fleet, signal);
    const isNews = (next === undefined) !== (policy === undefined) || (next && policy && !admitsTheSame(next, policy));
    policy = next;
    if (isNews) reviewAll();
  }

  /** Rows whose resource cannot be seen, and those that wait for their end. */
  async function compareRows(signal: AbortSignal): Promise<void> {
    const rows = (await environments.listKnown(apiCluster, signal)).filter(({ namespace }) => partition.isMine(namespace));
    for (const row of rows) ends.saw(deploymentKey(apiCluster, row), row.uid);
    const suspects = rows.filter((row) => row.state === "leaving" || resources.get(row)?.uid !== row.uid);
    review(suspects.map((row) => deploymentKey(apiCluster, row)));
  }

  async function findOwners(signal: AbortSignal): Promise<void> {
    for (const workspaceId of awaited.workspaces()) {
      const units = await placements.readUnitsOf(workspaceId, signal);
      if (units.some(({ owner }) => owner !== undefined)) review(awaited.take(workspaceId));
    }
    const lacking = await environments.listWithoutAccount(apiCluster, signal);
    review(lacking.map((row) => deploymentKey(apiCluster, row)));
  }

  const run: Readonly<Record<Task, (signal: AbortSignal) => Promise<void>>> = { policy: readPolicy, rows: compareRows, owners: findOwners };
  const queue = createKeyedQueue({
    ...deps,
    name: "environment-upkeep",
    concurrency: TASKS.length,
    work: (task, signal) => run[task as Task](signal),
  });
  return {
    start(signal) {
      for (const task of TASKS) {
        every({ ...deps, ms: EVERY_MS[task], run: () => queue.add(task) }, signal);
        queue.add(task);
      }
      queue.start();
    },
    stop: queue.stop,
    add: (task) => queue.add(task),
    onChanges(changes) {
      if (changes === "missed" || changes.some(isAboutFleet)) queue.add("policy");
      if (changes === "missed" || changes.some(({ kind }) => kind === "unit")) queue.add("owners");
    },
    reviewAll,
    policy: () => policy,
  };
}
