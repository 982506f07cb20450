import type { Partition } from "../domain/partition.ts";
import type { ObjectChange, ObservedObject } from "../shard/managed-object.ts";
import { differsInContent, holderOf } from "../shard/parse-application.ts";
import type { ObservedToken } from "../shard/parse-rights.ts";
import type { Log } from "../telemetry/log.ts";
import type { Hosts } from "./find-hosts.ts";
import type { Sweep } from "./instances/sweep-instance.ts";
import { type Requests, routeApplication, routeObject, statusKey } from "./keys.ts";
import type { ApiCluster, EngineShard, Engines, ManagedObjects } from "./port.ts";

/** Turns what the clusters' watches see into keys. Nothing is decided here but whom a change concerns. */
export interface ClusterWatch {
  /** Engine clusters that are watched, by name. */
  readonly watched: ReadonlyMap<string, EngineShard>;
  /** Reads which instances are ours, watches the clusters they stand in, and asks for each of them. */
  observeFleet(signal: AbortSignal): Promise<void>;
  /** Asks for the status of everything that is watched. */
  recheckStatuses(): void;
  /** Ends what follows the engine clusters. */
  stop(): void;
}

export interface ClusterWatchDeps {
  readonly hosts: Hosts;
  readonly engines: Engines;
  readonly sweep: Pick<Sweep, "revisit">;
  readonly requests: Requests;
  readonly partition: Partition;
  /** Aborts when the reconciler stops. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

export function createClusterWatch(deps: ClusterWatchDeps): ClusterWatch {
  const { hosts, requests, log } = deps;
  const watched = new Map<string, EngineShard>();
  const ends: (() => void)[] = [];

  const recheck = (engine: EngineShard): void => {
    for (const { at } of engine.applications.list()) requests.requestStatus(statusKey(engine.cluster, at));
  };

  /** What a unit left that was failed over meanwhile goes now, and does not wait for the next round. */
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
    // Only stopping ends the wait early.
    void engine.synced(deps.signal).then(
      () => recheck(engine),
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
    recheckStatuses: () => watched.forEach(recheck),
    stop: () => ends.splice(0).forEach((end) => end()),
  };
}

type FollowDeps = Pick<ClusterWatchDeps, "requests" | "partition">;

/** Follows what instances may do on the API cluster. Returned: the end of it. */
export function followApiCluster(deps: FollowDeps, { accounts, bindings, roles, readers, tokens, isSynced }: ApiCluster): () => void {
  const ends = [
    followObjects(deps, accounts, { isSynced }),
    followObjects(deps, bindings, { isSynced }),
    followObjects(deps, roles, { isSynced }),
    followObjects(deps, readers, { isSynced }),
    followObjects(deps, tokens, { isSynced, isNews: isNewToken }),
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

function followApplications({ requests, partition }: FollowDeps, engine: EngineShard): () => void {
  return engine.applications.subscribe((change) => {
    if (!isMine(partition, change)) return;
    const route = routeApplication(change);
    if (engine.isSynced()) route.applications.forEach(({ id, unit }) => requests.requestApplication(id, unit));
    route.syncs.forEach(({ id, unit }) => requests.requestSync(id, unit));
    if (route.isReport) requests.requestStatus(statusKey(engine.cluster, change.at), route.applications[0]?.unit);
  });
}

interface News<T> {
  readonly isSynced: () => boolean;
  /** Whether this change of an object concerns anybody; default: where its content differs. */
  readonly isNews?: (before: T | undefined, now: T) => boolean;
}

/** Changes are left out until everything is listed: each object would be one, and the sweep that follows covers them at less cost. */
function followObjects<T extends ObservedObject>(
  { requests, partition }: FollowDeps,
  objects: ManagedObjects<T>,
  { isSynced, isNews = differsInContent }: News<T>,
): () => void {
  return objects.subscribe((change) => {
    if (!isMine(partition, change) || !isSynced() || (change.kind === "upsert" && !isNews(change.before, change.now))) return;
    const route = routeObject(change);
    route.units.forEach(requests.requestUnit);
    route.instances.forEach(requests.requestInstance);
  });
}

/** What belongs to no instance is everybody's. */
function isMine(partition: Partition, change: ObjectChange<ObservedObject>): boolean {
  const holder = holderOf(change.kind === "delete" ? change.before : change.now);
  return holder === undefined || partition.isMine(holder);
}

function isNewToken(before: ObservedToken | undefined, now: ObservedToken): boolean {
  return before?.token !== now.token || differsInContent(before, now);
}
