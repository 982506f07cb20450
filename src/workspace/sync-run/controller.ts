import type { Change } from "../../domain/change.ts";
import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import { createPartitionedQueue } from "../../runtime/resource-controller/partitioned-queue.ts";
import { createResourceController, type ResourceController } from "../../runtime/resource-controller/resource-controller.ts";
import { createSweeps } from "../../runtime/resource-controller/sweeps.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { namespaceOf, resourceKey } from "../keys.ts";
import type { ResourceAt, ResourceChange, UserResources } from "../port.ts";
import { createPolicySource } from "../read-policy.ts";
import { isAboutPolicy } from "../workspace-policy.ts";
import { deploymentNameOf } from "./parse-run.ts";
import type { RunResources } from "./port.ts";
import { createRunWork } from "./reconcile-run.ts";
import { createRunIndex } from "./run-index.ts";
import { sweepRuns } from "./sweep-runs.ts";

export interface SyncRunControllerDeps {
  readonly store: Pick<Store, "intents" | "syncRuns" | "fleet" | "changes">;
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

/** Runs under way at once: each writes one status and a few rows. */
const CONCURRENCY = 32;
const SWEEP_EVERY_MS = 60_000;

/** The controller of GitOpsDeploymentSyncRuns: records the syncs that users ask for, and says how they went. Key: `cluster|namespace|name`. */
export function createSyncRunController(deps: SyncRunControllerDeps): ResourceController {
  const { store, runs, resources, apiCluster, partition } = deps;
  const { syncRuns } = store;
  const index = createRunIndex();
  const policy = createPolicySource(store.fleet, { intents: store.intents, apiCluster, namespaceOf: resources.namespace });
  const keyOf = (at: ResourceAt): string => resourceKey(apiCluster, at);

  const queue = createPartitionedQueue({
    ...{ ...deps, name: "sync-runs", concurrency: CONCURRENCY, groupOf: namespaceOf },
    work: createRunWork({ ...deps, syncRuns, index, policy: policy.current }),
  });
  const sweeps = createSweeps({
    ...{ ...deps, name: "sync-run-upkeep", first: ["policy", "rows"], next: [] },
    sweeps: { policy: { everyMs: SWEEP_EVERY_MS, run: readPolicy }, rows: { everyMs: SWEEP_EVERY_MS, run: compareRows } },
  });

  async function readPolicy(signal: AbortSignal): Promise<void> {
    const change = await policy.refresh(signal);
    // Runs that wait for the old quota have no row yet.
    if (change.of === "everything") sweeps.add("rows");
    else for (const name of change.names) queue.add(waitingIn(name).map(keyOf));
  }

  async function compareRows(signal: AbortSignal): Promise<void> {
    queue.add(await sweepRuns({ ...deps, syncRuns, index }, signal));
  }

  const onRun = (at: ResourceAt, uids: readonly string[]): void => {
    for (const uid of uids) index.saw(keyOf(at), uid);
    queue.add([keyOf(at)]);
  };
  const waitingIn = (namespace: string) => runs.list(namespace).filter((run) => !index.isFinished(run.uid));
  const onResource = (change: ResourceChange): void => {
    const waiting = waitingIn(change.kind === "namespace" ? change.name : change.at.namespace);
    const concerned = change.kind === "namespace" ? waiting : waiting.filter(({ spec }) => deploymentNameOf(spec) === change.at.name);
    queue.add(concerned.map(keyOf));
  };
  const onChange = (change: Change): void => {
    const { kind, id } = change;
    if (isAboutPolicy(change)) sweeps.add("policy");
    if (kind === "application") queue.add(index.keysOf(id as ApplicationId));
    const key = kind === "sync-run" ? index.keyOf(id) : undefined;
    if (key !== undefined) queue.add([key]);
  };

  const onMissedChanges = (): void => {
    for (const sweep of ["policy", "rows"] as const) sweeps.add(sweep);
  };

  return createResourceController({
    ...{ name: "sync-runs", watches: [runs], otherWatches: [resources], partition, sweeps, loops: [queue] },
    subscribe: () => [
      runs.subscribe(onRun),
      resources.subscribe(onResource),
      store.changes.subscribe((changes) => (changes === "missed" ? onMissedChanges() : changes.forEach(onChange))),
    ],
    takeOver: () => sweeps.add("rows"),
  });
}
