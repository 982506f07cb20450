import type { Partition } from "../domain/partition.ts";
import type { ObjectChange, ObservedObject } from "../shard/managed-object.ts";
import { differsInContent, holderOf, unitOf } from "../shard/parse-application.ts";
import type { Log } from "../telemetry/log.ts";
import type { Hosts } from "./find-hosts.ts";
import type { InstanceSweep } from "./instances/sweep-instance.ts";
import { type Requests, routeApplication, routeObject, statusKey } from "./keys.ts";
import type { ApiCluster, EngineShard, Engines, ManagedObjects } from "./port.ts";

/**
 * Watches the engine clusters of this process's instances, and queues the keys that a change there concerns. It takes
 * nothing else from a change. The API cluster is watched by `followApiCluster`.
 */
export interface ClusterWatch {
  /** Watched engine clusters, by name. A cluster stays here when the last of our instances has left it. */
  readonly watched: ReadonlyMap<string, EngineShard>;
  /**
   * Reads which instances this process works on, watches their engine clusters, and queues each instance. A cluster
   * that cannot be reached is left out; the next call tries it again.
   */
  observeFleet(signal: AbortSignal): Promise<void>;
  /** Queues the status of every Application of these instances on the watched clusters. */
  recheckStatuses(isConcerned: (instance: string) => boolean): void;
  /** Ends the subscriptions to the engine clusters. */
  stop(): void;
}

export interface ClusterWatchDeps {
  readonly hosts: Hosts;
  readonly engines: Engines;
  readonly sweep: Pick<InstanceSweep, "revisit">;
  readonly requests: Requests;
  readonly partition: Partition;
  /** Aborts when the reconciler stops. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Creates the watch of one reconciler. It watches no cluster before the first `observeFleet`. */
export function createClusterWatch(deps: ClusterWatchDeps): ClusterWatch {
  const { hosts, requests, log } = deps;
  const watched = new Map<string, EngineShard>();
  const ends: (() => void)[] = [];

  /** In the background: most were recorded, by this process or by the one whose instances these were. */
  const recheck = (engine: EngineShard, isConcerned: (instance: string) => boolean): void => {
    const standing = engine.applications.list();
    const concerned = new Set([...new Set(standing.map(holderOf))].filter((holder) => holder !== undefined && isConcerned(holder)));
    for (const seen of standing) {
      if (concerned.has(holderOf(seen))) requests.reviewStatus(statusKey(engine.cluster, seen.at), unitOf(seen));
    }
  };

  /**
   * Sweeps the instances of an engine cluster that answers again. Units may have been failed over from there meanwhile:
   * the orphans they left are removed now and not with the next regular sweep.
   */
  const revisit = ({ cluster }: EngineShard): void => {
    for (const { id, engineCluster } of hosts.mine()) {
      if (engineCluster !== cluster) continue;
      deps.sweep.revisit(id);
      requests.requestInstance(id);
    }
  };

  const watch = async (cluster: string): Promise<void> => {
    if (watched.has(cluster)) return;
    const engine = await deps.engines.get(cluster);
    if (engine === undefined) return log.warn({ cluster }, "Leaving out the instances of an engine cluster that cannot be reached");
    watched.set(cluster, engine);
    ends.push(
      followEngine(deps, engine),
      engine.onReturn(() => revisit(engine)),
    );
    // Changes of the first list may have been reported before this subscription. The wait fails only when the reconciler,
    // or the cluster's watch, stops.
    void engine.synced(deps.signal).then(
      () => recheck(engine, deps.partition.isMine),
      () => undefined,
    );
  };

  return {
    watched,
    async observeFleet(signal) {
      await hosts.refresh(signal);
      const mine = hosts.mine();
      for (const cluster of new Set(mine.map((instance) => instance.engineCluster))) await watch(cluster);
      for (const instance of mine) requests.requestInstance(instance.id);
    },
    recheckStatuses: (isConcerned) => watched.forEach((engine) => recheck(engine, isConcerned)),
    stop: () => ends.splice(0).forEach((end) => end()),
  };
}

type FollowDeps = Pick<ClusterWatchDeps, "requests" | "partition">;

/**
 * Queues the units and instances concerned when objects on the API cluster change that give instances their rights there:
 * accounts, RoleBindings, roles and ClusterRoleBindings (`readers`). Returns a function that ends this.
 */
export function followApiCluster(deps: FollowDeps, { accounts, bindings, roles, readers, isSynced }: ApiCluster): () => void {
  const ends = [
    followObjects(deps, accounts, { isSynced }),
    followObjects(deps, bindings, { isSynced }),
    followObjects(deps, roles, { isSynced }),
    followObjects(deps, readers, { isSynced }),
  ];
  return () => ends.forEach((end) => end());
}

function followEngine(deps: FollowDeps, engine: EngineShard): () => void {
  const ends = [
    followApplications(deps, engine),
    ...[engine.projects, engine.entries, engine.repositories].map((objects) => followObjects(deps, objects, engine)),
  ];
  return () => ends.forEach((end) => end());
}

/**
 * Queues what a changed Application concerns. Until everything is listed, syncs and statuses are queued but applications are
 * not; `followObjects` says why.
 */
function followApplications({ requests, partition }: FollowDeps, engine: EngineShard): () => void {
  return engine.applications.subscribe((change) => {
    if (!isMine(partition, change)) return;
    const route = routeApplication(change);
    if (engine.isSynced()) route.applications.forEach(({ id, unit }) => requests.requestApplication(id, unit));
    route.syncs.forEach(({ id, unit }) => requests.requestSync(id, unit));
    if (route.isReport) requests.requestStatus(statusKey(engine.cluster, change.at), route.unit);
  });
}

/**
 * Queues the units or instances that a changed object concerns. Until everything is listed, changes are ignored. The first
 * list would report every object as a change, and the sweep after it compares all of them at less cost.
 */
function followObjects<T extends ObservedObject>(
  { requests, partition }: FollowDeps,
  objects: ManagedObjects<T>,
  { isSynced }: { readonly isSynced: () => boolean },
): () => void {
  return objects.subscribe((change) => {
    if (!isMine(partition, change) || !isSynced() || (change.kind === "upsert" && !differsInContent(change.before, change.now))) return;
    const route = routeObject(change);
    route.units.forEach(requests.requestUnit);
    route.instances.forEach(requests.requestInstance);
  });
}

/** Whether this process handles the change. A change of an object that belongs to no instance is handled by every process. */
function isMine(partition: Partition, change: ObjectChange<ObservedObject>): boolean {
  const holder = holderOf(change.kind === "delete" ? change.before : change.now);
  return holder === undefined || partition.isMine(holder);
}
