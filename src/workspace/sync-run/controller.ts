import type { Change } from "../../domain/change.ts";
import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue, type KeyedQueue } from "../../runtime/keyed-queue.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { isAboutFleet } from "../door-policy.ts";
import { deploymentKey, shareOf } from "../keys.ts";
import type { ResourceChange, UserResources } from "../port.ts";
import { deploymentNameOf } from "./parse-run.ts";
import type { RunResources } from "./port.ts";
import { createRunRows } from "./rows/controller.ts";
import { createRunController } from "./run/controller.ts";
import { createRunIndex } from "./run-index.ts";
import { createRunPace } from "./run-pace.ts";
import { createRunUpkeep } from "./upkeep/controller.ts";

export interface SyncRunDoorDeps {
  readonly store: Pick<Store, "syncRuns" | "fleet" | "changes">;
  readonly runs: RunResources;
  /** Deployments and namespaces of the same cluster; whoever made them starts and stops them. */
  readonly resources: Pick<UserResources, "deployment" | "namespace" | "subscribe" | "synced">;
  readonly apiCluster: string;
  /** This process's share of the namespaces. */
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface SyncRunDoor {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
}

/** Runs under way at once: each writes one status and a few rows. */
const CONCURRENCY = 32;

/** The users' door for GitOpsDeploymentSyncRuns: their wishes in, how it went out. */
export function createSyncRunDoor(deps: SyncRunDoorDeps): SyncRunDoor {
  const { store, runs, resources, apiCluster, partition } = deps;
  const { syncRuns, fleet } = store;
  const index = createRunIndex();
  const abort = new AbortController();
  const endings: (() => void)[] = [];

  const review = (keys: readonly string[]): void => {
    for (const { key, group } of shareOf(keys, partition)) queue.add(key, { group });
  };
  const upkeep = createRunUpkeep({ ...deps, syncRuns, fleet, index, review, onReady: () => queue.start() });
  const work = createRunController({
    ...{ ...deps, syncRuns, index },
    rows: createRunRows(syncRuns),
    pace: createRunPace(),
    policy: upkeep.policy,
  });
  const queue: KeyedQueue = createKeyedQueue({ ...deps, name: "sync-runs", concurrency: CONCURRENCY, work });

  const onResource = (change: ResourceChange): void => {
    const namespace = change.kind === "namespace" ? change.name : change.at.namespace;
    const waiting = runs.list(namespace).filter((run) => !index.isFinished(run.uid));
    const concerned = change.kind === "namespace" ? waiting : waiting.filter(({ spec }) => deploymentNameOf(spec) === change.at.name);
    review(concerned.map((run) => deploymentKey(apiCluster, run)));
  };
  const onChange = (change: Change): void => {
    const { kind, id } = change;
    if (isAboutFleet(change)) upkeep.add("policy");
    if (kind === "application") review(index.keysOf(id as ApplicationId));
    const key = kind === "sync-run" ? index.keyOf(id) : undefined;
    if (key !== undefined) review([key]);
  };

  return {
    start(signal) {
      const either = AbortSignal.any([signal, abort.signal]);
      endings.push(
        runs.subscribe((at, uids) => {
          const key = deploymentKey(apiCluster, at);
          for (const uid of uids) index.saw(key, uid);
          review([key]);
        }),
        resources.subscribe(onResource),
        store.changes.subscribe((changes) => (changes === "missed" ? upkeep.add("rows") : changes.forEach(onChange))),
        partition.onChange(() => upkeep.add("rows")),
      );
      runs.start(either);
      // Rejects only when it is stopped before everything was listed.
      Promise.all([runs.synced(either), resources.synced(either)]).then(
        () => upkeep.start(either),
        () => {},
      );
    },
    async stop() {
      for (const end of endings.splice(0)) end();
      await Promise.all([upkeep.stop(), queue.stop()]);
      abort.abort(new Error("the door for sync runs closes"));
      await runs.stopped();
    },
  };
}
