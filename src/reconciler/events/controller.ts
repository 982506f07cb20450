import type { Partition } from "../../domain/partition.ts";
import type { ObjectChange, ObservedObject } from "../../shard/managed-object.ts";
import { differsInContent, holderOf } from "../../shard/parse-application.ts";
import type { ObservedToken } from "../../shard/parse-rights.ts";
import type { ApiCluster, EngineShard, ManagedObjects } from "../port.ts";
import type { Queues } from "../queues/controller.ts";
import { routeApplication, routeObject } from "../route.ts";
import { statusKey } from "../status/controller.ts";

/** Turns what the watches see into keys; nothing is decided here but whom it concerns. */
export interface Events {
  /** Each returns the end of the subscription. */
  followEngine(engine: EngineShard): () => void;
  followApiCluster(apiCluster: ApiCluster): () => void;
}

export interface EventsDeps {
  /** Where keys go. */
  readonly requests: Pick<Queues, "requestApplication" | "requestUnit" | "requestInstance" | "requestStatus" | "requestSync">;
  readonly partition: Partition;
}

export function createEvents({ requests, partition }: EventsDeps): Events {
  /** What belongs to no instance is everybody's. */
  const isMine = (change: ObjectChange<ObservedObject>): boolean => {
    const holder = holderOf(change.kind === "delete" ? change.before : change.now);
    return holder === undefined || partition.isMine(holder);
  };
  /** Until everything is listed each object is news, and the sweep that follows the listing covers them at less cost. */
  const follow = <T extends ObservedObject>(
    objects: ManagedObjects<T>,
    isSynced: () => boolean,
    isNews: (before: T | undefined, now: T) => boolean = differsInContent,
  ): (() => void) =>
    objects.subscribe((change) => {
      if (!isMine(change) || !isSynced() || (change.kind === "upsert" && !isNews(change.before, change.now))) return;
      const route = routeObject(change);
      route.units.forEach(requests.requestUnit);
      route.instances.forEach(requests.requestInstance);
    });

  const followApplications = (engine: EngineShard): (() => void) =>
    engine.applications.subscribe((change) => {
      if (!isMine(change)) return;
      const route = routeApplication(change);
      if (engine.isSynced()) route.applications.forEach(({ id, unit }) => requests.requestApplication(id, unit));
      route.syncs.forEach(({ id, unit }) => requests.requestSync(id, unit));
      if (route.isReport) requests.requestStatus(statusKey(engine.cluster, change.at), route.applications[0]?.unit);
    });

  return {
    followEngine(engine) {
      const ends = [
        followApplications(engine),
        ...[engine.projects, engine.entries, engine.repositories].map((objects) => follow(objects, engine.isSynced)),
      ];
      return () => ends.forEach((end) => end());
    },
    followApiCluster({ accounts, bindings, roles, readers, tokens, isSynced }) {
      const ends = [
        follow(accounts, isSynced),
        follow(bindings, isSynced),
        follow(roles, isSynced),
        follow(readers, isSynced),
        follow(tokens, isSynced, isNewToken),
      ];
      return () => ends.forEach((end) => end());
    },
  };
}

function isNewToken(before: ObservedToken | undefined, now: ObservedToken): boolean {
  return before?.token !== now.token || differsInContent(before, now);
}
