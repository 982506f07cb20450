import type { ApplicationId } from "../../domain/ids.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue, type KeyedQueue, type WorkResult } from "../../runtime/keyed-queue.ts";
import type { FleetStore } from "../../store/fleet/port.ts";
import type { IntentStore } from "../../store/intent/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { admitsTheSame, closedDoor, type DoorPolicy, doorPolicy } from "../door-policy.ts";
import { planSweep, wishOf } from "../intent/plan-sweep.ts";
import { deploymentKey } from "../observed.ts";
import type { UserResources } from "../port.ts";
import type { RowIndex } from "../row-index.ts";

export interface UpkeepDeps {
  readonly apiCluster: string;
  readonly intents: IntentStore;
  readonly fleet: FleetStore;
  readonly resources: UserResources;
  readonly rows: RowIndex;
  readonly partition: Partition;
  /** Resources to look at again. */
  readonly review: (keys: readonly string[]) => void;
  /** Applications the user may have to hear of. */
  readonly tell: (applicationId: ApplicationId, key: string) => void;
  /** Called once when policy and rows are known: nothing may be decided before. */
  readonly onReady: () => void;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

export type UpkeepTask = "policy" | "rows" | "unpublished" | "unresolved";

export interface Upkeep {
  readonly queue: KeyedQueue;
  add(task: UpkeepTask): void;
  policy(): DoorPolicy;
  /** Applications the store says nobody has told their user about. */
  readonly unpublished: Set<ApplicationId>;
  /** Tells of an application; if no resource is known for it, some other process has recorded it and it is looked up first. */
  announce(applicationId: ApplicationId): void;
}

/** How often each comparison is made when nothing says that something changed, in ms. */
const EVERY_MS = { policy: 60_000, rows: 60_000, unpublished: 15_000, unresolved: undefined } as const satisfies Readonly<Record<UpkeepTask, number | undefined>>;
const PAGE = 500;

/** Everything that finds out what events failed to tell. Keys: the tasks. */
export function createUpkeep(deps: UpkeepDeps): Upkeep {
  const { apiCluster, intents, fleet, resources, rows, partition, review, tell } = deps;
  const unpublished = new Set<ApplicationId>();
  const unresolved = new Set<ApplicationId>();
  let policy = closedDoor;
  let stage: "policy" | "rows" | "ready" = "policy";

  async function readPolicy(signal: AbortSignal): Promise<void> {
    const [stored, instances] = [await fleet.readFleet(signal), await fleet.listInstances(signal)];
    const next = stored === undefined ? closedDoor : doorPolicy(stored.spec, instances);
    const isNews = !admitsTheSame(policy, next);
    policy = next;
    if (stage === "policy") stage = "rows";
    if (isNews) review(resources.deployments().map((resource) => deploymentKey(apiCluster, resource)));
  }

  async function compareRows(signal: AbortSignal): Promise<void> {
    if (stage === "policy") return;
    const known = await intents.listKnown(apiCluster, signal);
    const present = resources.deployments();
    for (const row of known) rows.recorded(deploymentKey(apiCluster, row), row);
    const plan = planSweep({ cluster: apiCluster, rows: known, resources: present, isMine: partition.isMine, isRecorded: (resource) => rows.hasWish(resource.uid, wishOf(resource)) });
    const uids = new Set(present.map(({ uid }) => uid));
    rows.keepOnly(new Map(known.map((row) => [row.applicationId, row.uid])), (_key, uid) => uids.has(uid));
    const gone: string[] = [];
    for (const row of plan.suspects) {
      if ((await resources.readUid(row, signal)) === row.uid) continue;
      rows.saw(deploymentKey(apiCluster, row), row.uid);
      gone.push(deploymentKey(apiCluster, row));
    }
    review([...plan.keys, ...gone]);
    if (stage === "rows") deps.onReady();
    stage = "ready";
  }

  async function findUnpublished(signal: AbortSignal): Promise<void> {
    const listed = await intents.listUnpublished(apiCluster, PAGE, signal);
    unpublished.clear();
    for (const id of listed) unpublished.add(id);
    for (const id of listed) announce(id);
  }

  async function resolve(signal: AbortSignal): Promise<void> {
    const ids = [...unresolved].slice(0, PAGE);
    for (const { application, workspace } of await intents.readByIds(ids, signal)) {
      const key = deploymentKey(workspace.apiCluster, { namespace: workspace.namespace, name: application.name });
      rows.recorded(key, { uid: application.uid, applicationId: application.id });
      if (workspace.apiCluster === apiCluster) tell(application.id, key);
    }
    for (const id of ids) unresolved.delete(id);
    if (unresolved.size > 0) queue.add("unresolved");
  }

  function announce(id: ApplicationId): void {
    const key = rows.keyOf(id);
    if (key !== undefined) return tell(id, key);
    unresolved.add(id);
    queue.add("unresolved");
  }

  const run: Readonly<Record<UpkeepTask, (signal: AbortSignal) => Promise<void>>> = { policy: readPolicy, rows: compareRows, unpublished: findUnpublished, unresolved: resolve };

  async function work(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const task = key as UpkeepTask;
    const before = stage;
    await run[task](signal);
    if (before === "policy" && stage === "rows") queue.add("rows");
    const everyMs = EVERY_MS[task];
    return everyMs === undefined ? undefined : { requeueAfterMs: everyMs };
  }

  const queue = createKeyedQueue({ ...deps, name: "workspace-upkeep", concurrency: 4, work });
  return { queue, add: (task) => queue.add(task), policy: () => policy, unpublished, announce };
}
