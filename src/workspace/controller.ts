import type { Change } from "../domain/change.ts";
import type { Clock } from "../domain/clock.ts";
import type { ApplicationId, Ids } from "../domain/ids.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import type { ObservedDeployment } from "../domain/user-resource.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type Announcer, createAnnouncer } from "./announce/controller.ts";
import { createIntentController } from "./intent/controller.ts";
import { deploymentKey } from "./keys.ts";
import type { ResourceChange, UserResources } from "./port.ts";
import { createRouting, type Routing } from "./routing/controller.ts";
import { createRowIndex, type RowIndex } from "./row-index.ts";
import { createStatusController } from "./status/controller.ts";
import { createUpkeep, UPKEEP_TASKS, type Upkeep } from "./upkeep/controller.ts";
import { isAboutFleet } from "./workspace-policy.ts";

export interface WorkspaceDoorDeps {
  readonly store: Pick<Store, "intents" | "decisions" | "fleet" | "changes">;
  readonly resources: UserResources;
  /** Name of the cluster the resources are of. */
  readonly apiCluster: string;
  /** This process's share of the namespaces. */
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface WorkspaceDoor {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
}

/** The users' door of one API cluster: their resources in, their conditions out. */
export function createWorkspaceDoor(deps: WorkspaceDoorDeps): WorkspaceDoor {
  const { store, resources, apiCluster, partition } = deps;
  const rows = createRowIndex();
  const common = { ...deps, intents: store.intents, decisions: store.decisions, rows };
  const abort = new AbortController();
  const endings: (() => void)[] = [];

  const { review, tell, onRow } = createRouting({ resources, partition, clock: deps.clock, queues: () => ({ intents, statuses }) });
  const announcer = createAnnouncer({ ...common, onRow });
  const upkeep = createUpkeep({
    ...common,
    fleet: store.fleet,
    review,
    announce: announcer.add,
    onReady() {
      for (const queue of [intents, statuses, announcer]) queue.start();
      upkeep.add("unpublished");
    },
  });
  const intents = createIntentController({ ...common, policy: upkeep.policy, tell });
  const statuses = createStatusController({ ...common, policy: upkeep.policy, unpublished: upkeep.unpublished });

  const onResource = listenToResources({ resources, apiCluster, rows, upkeep, review });
  const onChanges = listenToChanges(announcer, upkeep);

  return {
    start(signal) {
      const either = AbortSignal.any([signal, abort.signal]);
      endings.push(
        resources.subscribe(onResource),
        store.changes.subscribe(onChanges),
        partition.onChange(() => upkeep.add("rows")),
      );
      resources.start(either);
      // Rejects only when it is stopped before everything was listed.
      resources.synced(either).then(
        () => upkeep.start(either),
        () => {},
      );
    },
    async stop() {
      for (const end of endings.splice(0)) end();
      await Promise.all([upkeep.stop(), announcer.stop(), intents.stop(), statuses.stop()]);
      abort.abort(new Error("the users' door closes"));
      await resources.stopped();
    },
  };
}

type ResourceEvents = Pick<Routing, "review"> &
  Pick<WorkspaceDoorDeps, "resources" | "apiCluster"> & { readonly rows: RowIndex; readonly upkeep: Upkeep };

function listenToResources({ resources, apiCluster, rows, upkeep, review }: ResourceEvents): (change: ResourceChange) => void {
  const keysOf = (found: readonly ObservedDeployment[]): readonly string[] => found.map((resource) => deploymentKey(apiCluster, resource));
  return (change) => {
    if (change.kind === "namespace") {
      if (resources.namespace(change.name) === undefined) upkeep.add("workspaces");
      return review(keysOf(resources.deployments(change.name)));
    }
    const key = deploymentKey(apiCluster, change.at);
    for (const uid of change.uids) rows.saw(key, uid);
    review([key]);
    if (resources.deployment(change.at) !== undefined) return;
    // One that goes may make room for one that the quota kept out.
    const left = resources.deployments(change.at.namespace);
    if (left.length >= upkeep.policy().deployments) review(keysOf(left.filter(({ uid }) => !rows.hasRow(uid))));
  };
}

function listenToChanges(announcer: Announcer, upkeep: Upkeep): (changes: readonly Change[] | "missed") => void {
  const onChange = (change: Change): void => {
    const { kind, id } = change;
    if (isAboutFleet(change)) upkeep.add("policy");
    if (kind === "status") announcer.add(id as ApplicationId, "now");
    // What an application should be, and where it went, is no news to its user that cannot wait for the first status.
    if (kind === "application") announcer.add(id as ApplicationId, "soon");
  };
  return (changes) => (changes === "missed" ? UPKEEP_TASKS.forEach(upkeep.add) : changes.forEach(onChange));
}
