import type { Change } from "../domain/change.ts";
import type { Clock } from "../domain/clock.ts";
import type { ApplicationId, Ids } from "../domain/ids.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createIntentController } from "./intent/controller.ts";
import { deploymentKey, parseKey } from "./observed.ts";
import type { ResourceChange, UserResources } from "./port.ts";
import { createRowIndex } from "./row-index.ts";
import { createStatusController } from "./status/controller.ts";
import { createUpkeep } from "./upkeep/controller.ts";

export interface WorkspaceDoorDeps {
  readonly store: Pick<Store, "intents" | "fleet" | "changes">;
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

/**
 * How long an instance is given to answer a new wish before its user is told that it is being worked on, in ms. Argo CD
 * reports a first status within half a second: most users are told once, with what they want to know.
 */
const FIRST_STATUS_MS = 700;

/** The users' door of one API cluster: their resources in, their conditions out. */
export function createWorkspaceDoor(deps: WorkspaceDoorDeps): WorkspaceDoor {
  const { store, resources, apiCluster, partition } = deps;
  const rows = createRowIndex();
  const abort = new AbortController();
  const endings: (() => void)[] = [];

  const groupOf = (key: string): string | undefined => {
    const { namespace } = parseKey(key);
    return partition.isMine(namespace) ? namespace : undefined;
  };
  const review = (keys: readonly string[]): void => {
    for (const key of keys) {
      const group = groupOf(key);
      if (group !== undefined) intents.add(key, { group });
    }
  };
  const tell = (key: string, when: "now" | "soon"): void => {
    const group = groupOf(key);
    if (group !== undefined) statuses.add(key, { group, afterMs: when === "now" ? 0 : FIRST_STATUS_MS });
  };
  /** The row of a deployment changed, or has gone: that is what a resource held by its finalizer waits for. */
  const onRow = (key: string, when: "now" | "soon"): void => {
    if (resources.deployment(parseKey(key))?.isDeleting === true) review([key]);
    tell(key, when);
  };

  const upkeep = createUpkeep({
    ...deps,
    intents: store.intents,
    fleet: store.fleet,
    rows,
    review,
    tell: (_applicationId: ApplicationId, key) => onRow(key, "now"),
    onReady() {
      intents.start();
      statuses.start();
      upkeep.add("unpublished");
    },
  });
  const intents = createIntentController({ ...deps, intents: store.intents, rows, policy: upkeep.policy, tell });
  const statuses = createStatusController({ ...deps, intents: store.intents, rows, policy: upkeep.policy, unpublished: upkeep.unpublished });

  const onResource = (change: ResourceChange): void => {
    if (change.kind === "namespace") return review(resources.deployments(change.name).map((resource) => deploymentKey(apiCluster, resource)));
    const key = deploymentKey(apiCluster, change.at);
    for (const uid of change.uids) rows.saw(key, uid);
    review([key]);
    // One that goes may make room for one that the quota kept out.
    if (resources.deployment(change.at) === undefined) review(resources.deployments(change.at.namespace).filter(({ uid }) => !rows.hasRow(uid)).map((resource) => deploymentKey(apiCluster, resource)));
  };

  const onChanges = (changes: readonly Change[] | "missed"): void => {
    if (changes === "missed") return (["policy", "rows", "unpublished"] as const).forEach(upkeep.add);
    for (const { kind, id } of changes) onChange(kind, id as ApplicationId);
  };
  const onChange = (kind: Change["kind"], id: ApplicationId): void => {
    if (kind === "fleet" || kind === "pool" || kind === "instance") return upkeep.add("policy");
    if (kind !== "status" && kind !== "application") return;
    const key = rows.keyOf(id);
    if (key === undefined) upkeep.announce(id);
    // What an application should be is no news to its user; where it went, or that it could not, may wait for the first status.
    else onRow(key, kind === "status" ? "now" : "soon");
  };

  return {
    start(signal) {
      const either = AbortSignal.any([signal, abort.signal]);
      endings.push(resources.subscribe(onResource), store.changes.subscribe(onChanges), partition.onChange(() => upkeep.add("rows")));
      resources.start(either);
      upkeep.add("policy");
      // Rejects only when it is stopped before everything was listed.
      resources.synced(either).then(upkeep.queue.start, () => {});
    },
    async stop() {
      for (const end of endings.splice(0)) end();
      await Promise.all([upkeep.queue.stop(), intents.stop(), statuses.stop()]);
      abort.abort(new Error("the users' door closes"));
      await resources.stopped();
    },
  };
}
