import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Partition } from "../domain/partition.ts";
import type { ObjectChange, ObservedObject } from "../shard/managed-object.ts";
import { differsInContent, holderOf, unitOf } from "../shard/parse-application.ts";
import type { Log } from "../telemetry/log.ts";
import type { Pacing } from "./applications/pace-applications.ts";
import type { Hosts } from "./find-hosts.ts";
import type { InstanceSweep } from "./instances/sweep-instance.ts";
import { placeKey, type Requests, routeApplication, routeObject, statusKey } from "./keys.ts";
import type { ApiCluster, EngineShard, Engines, ManagedObjects } from "./port.ts";

/**
 * Watches the content of this process's instances, and queues the keys that a change there concerns. It takes nothing else from a change. The API
 * cluster is watched by `followApiCluster`.
 */
export interface ShardWatch {
  /** The content of our instances, by `placeKey`. */
  readonly watched: ReadonlyMap<string, EngineShard>;
  /**
   * Reads which instances this process works on, watches their content and that of no others, queues each instance, and asks for the rows of all of
   * them that lag. Instances whose engine cluster cannot be reached are left out; the next call tries them again.
   */
  observeFleet(signal: AbortSignal): Promise<void>;
  /** Queues the status of every Application that is watched of these instances. */
  recheckStatuses(isConcerned: (instance: string) => boolean): void;
  /** Ends the subscriptions to instances' content. */
  stop(): void;
}

export interface ShardWatchDeps {
  readonly hosts: Pick<Hosts, "refresh" | "mine" | "filled">;
  readonly engines: Engines;
  readonly apiCluster: Pick<ApiCluster, "isSynced">;
  readonly sweep: Pick<InstanceSweep, "revisit" | "requestLagging">;
  readonly pacing: Pick<Pacing, "forget">;
  readonly requests: Requests;
  /** Aborts when the reconciler stops. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

interface Followed {
  readonly id: InstanceId;
  readonly shard: EngineShard;
  readonly ends: readonly (() => void)[];
}

/** Creates the watch of one reconciler. It watches nothing before the first `observeFleet`. */
export function createShardWatch(deps: ShardWatchDeps): ShardWatch {
  const { hosts, requests, log } = deps;
  const watched = new Map<string, EngineShard>();
  const followed = new Map<string, Followed>();

  /** In the background: most were recorded, by this process or by the one whose instance this was. */
  const recheck = (shard: EngineShard): void =>
    shard.applications.list().forEach((seen) => requests.reviewStatus(statusKey(shard.cluster, seen.at), unitOf(seen)));

  /**
   * Sweeps an instance whose engine cluster answers again. Units may have been failed over from there meanwhile: the orphans they left are removed
   * now and not with the next regular sweep.
   */
  const revisit = (id: InstanceId): void => {
    deps.sweep.revisit(id);
    requests.requestInstance(id);
  };

  const leave = (key: string): void => {
    const former = followed.get(key);
    if (former === undefined) return;
    followed.delete(key);
    watched.delete(key);
    for (const end of former.ends) end();
    deps.pacing.forget(former.id);
  };

  /** `isAnew`: after another watch of the same content, and what changed between the two was not reported. */
  const follow = (key: string, { id, shard, isAnew }: Pick<Followed, "id" | "shard"> & { readonly isAnew: boolean }): void => {
    watched.set(key, shard);
    followed.set(key, { id, shard, ends: [followShard(deps, shard), shard.onReturn(() => revisit(id))] });
    // Changes of the first list may have been reported before this subscription. The wait fails only when the watch or the reconciler stops.
    void shard.synced(deps.signal).then(
      () => {
        if (watched.get(key) !== shard) return;
        recheck(shard);
        if (isAnew) revisit(id);
      },
      () => undefined,
    );
  };

  /** Watches the content of the instance. Returns whether its engine cluster could be reached. */
  const watch = async (instance: Instance): Promise<boolean> => {
    const key = placeKey(instance);
    const shard = await deps.engines.get(instance);
    if (shard === undefined) return false;
    const former = followed.get(key);
    if (former?.shard === shard) return true;
    leave(key);
    follow(key, { id: instance.id, shard, isAnew: former !== undefined });
    return true;
  };

  /** Whether it is known what stands on the instance; the first sweep of one that was not listed until now asks for its rows. */
  const isListed = (instance: Instance): boolean => deps.apiCluster.isSynced() && watched.get(placeKey(instance))?.isSynced() === true;

  return {
    watched,
    async observeFleet(signal) {
      await hosts.refresh(signal);
      const filled = hosts.filled();
      deps.engines.retain(filled);
      const kept = new Set(filled.map(placeKey));
      for (const key of [...followed.keys()].filter((key) => !kept.has(key))) leave(key);
      const away = new Set<string>();
      for (const instance of filled) if (!(await watch(instance))) away.add(instance.engineCluster);
      for (const cluster of away) log.warn({ cluster }, "Leaving out the instances of an engine cluster that cannot be reached");
      for (const instance of hosts.mine()) requests.requestInstance(instance.id);
      const listed = filled.filter(isListed).map(({ id }) => id);
      if (listed.length > 0) await deps.sweep.requestLagging(listed, signal);
    },
    recheckStatuses: (isConcerned) => followed.forEach(({ id, shard }) => isConcerned(id) && recheck(shard)),
    stop: () => [...followed.keys()].forEach(leave),
  };
}

interface FollowDeps {
  readonly requests: Requests;
  readonly partition: Partition;
}

/**
 * Queues the units and instances concerned when objects on the API cluster change that give instances their rights there:
 * accounts, RoleBindings, roles and ClusterRoleBindings (`readers`). Returns a function that ends this.
 */
export function followApiCluster({ requests, partition }: FollowDeps, apiCluster: ApiCluster): () => void {
  const { accounts, bindings, roles, readers, isSynced } = apiCluster;
  const isOurs = (change: ObjectChange<ObservedObject>): boolean => isMine(partition, change);
  const ends = [
    followObjects(requests, accounts, { isSynced, isOurs }),
    followObjects(requests, bindings, { isSynced, isOurs }),
    followObjects(requests, roles, { isSynced, isOurs }),
    followObjects(requests, readers, { isSynced, isOurs }),
  ];
  return () => ends.forEach((end) => end());
}

/** What stands in an instance's namespace is its process's to see to, whatever its labels say. */
function followShard({ requests }: Pick<FollowDeps, "requests">, shard: EngineShard): () => void {
  const ends = [
    followApplications(requests, shard),
    ...[shard.projects, shard.entries, shard.repositories].map((objects) => followObjects(requests, objects, shard)),
  ];
  return () => ends.forEach((end) => end());
}

/**
 * Queues what a changed Application concerns. Until everything is listed, syncs and statuses are queued but applications are
 * not; `followObjects` says why.
 */
function followApplications(requests: Requests, shard: EngineShard): () => void {
  return shard.applications.subscribe((change) => {
    const route = routeApplication(change);
    if (shard.isSynced()) route.applications.forEach(({ id, unit }) => requests.requestApplication(id, unit));
    route.syncs.forEach(({ id, unit }) => requests.requestSync(id, unit));
    if (route.isReport) requests.requestStatus(statusKey(shard.cluster, change.at), route.unit);
  });
}

/**
 * Queues the units or instances that a changed object concerns. Until everything is listed, changes are ignored. The first
 * list would report every object as a change, and the sweep after it compares all of them at less cost.
 */
function followObjects<T extends ObservedObject>(
  requests: Requests,
  objects: ManagedObjects<T>,
  { isSynced, isOurs }: { readonly isSynced: () => boolean; readonly isOurs?: (change: ObjectChange<T>) => boolean },
): () => void {
  return objects.subscribe((change) => {
    if (isOurs?.(change) === false || !isSynced() || (change.kind === "upsert" && !differsInContent(change.before, change.now))) return;
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
