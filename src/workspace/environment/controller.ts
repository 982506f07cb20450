import type { Clock } from "../../domain/clock.ts";
import type { Ids, WorkspaceId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../../runtime/keyed-queue.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { deploymentKey, parseKey, shareOf } from "../keys.ts";
import type { ResourceAt, UserResources, UserSecrets, WatchedResources } from "../port.ts";
import { createEnvironmentAccess } from "./access/controller.ts";
import { createAccountController } from "./account/controller.ts";
import { createAttention } from "./attention/controller.ts";
import { createAwaitedOwners } from "./awaited-owners.ts";
import { createEnds, type EndsDeps } from "./ends/controller.ts";
import { secretNameOf } from "./parse-environment.ts";
import type { ClusterAccounts, ClusterProbe } from "./port.ts";
import { createAccountRemoval } from "./removal/controller.ts";
import { createEnvironmentUpkeep } from "./upkeep/controller.ts";
import { createVisitPace } from "./visit-pace.ts";

export interface EnvironmentDoorDeps {
  readonly store: Pick<Store, "environments" | "credentials" | "placements" | "fleet" | "changes">;
  readonly resources: WatchedResources;
  readonly secrets: UserSecrets;
  readonly namespaces: Pick<UserResources, "namespace" | "readNamespaceUid" | "synced">;
  readonly probe: ClusterProbe;
  readonly accounts: ClusterAccounts;
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

/** Clusters visited at once, and how many of them may be one workspace's. Each visit may take its whole deadline. */
const AT_ONCE = 16;
const AT_ONCE_OF_WORKSPACE = 4;

/** The door for environments: tries their credentials, records what works, and tells their users. */
export function createEnvironmentDoor(deps: EnvironmentDoorDeps): { start(signal: AbortSignal): void; stop(): Promise<void> } {
  const { store, resources, secrets, namespaces, apiCluster, partition } = deps;
  const { environments } = store;
  const abort = new AbortController();
  const endings: (() => void)[] = [];
  const awaited = createAwaitedOwners();
  const pace = createVisitPace();
  const parts = { ...deps, pace, environments, credentials: store.credentials, placements: store.placements };
  const accounts = createAccountController(parts);
  const removal = createAccountRemoval(parts);
  const removeAccount: EndsDeps["removeAccount"] = async (environment, signal) => {
    const policy = upkeep.policy();
    return policy !== undefined && removal.remove(environment, { egress: policy.egress }, signal);
  };
  const isNamespaceGoing = (name: string): boolean => namespaces.namespace(name)?.isDeleting ?? true;
  const ends = createEnds({ environments, resources, isNamespaceGoing, removeAccount, pace });
  const awaitOwner = (at: ResourceAt, workspaceId: WorkspaceId): void => awaited.await(deploymentKey(apiCluster, at), workspaceId);
  const attend = createAttention({ ...parts, access: createEnvironmentAccess({ ...parts, accounts, removal }), awaitOwner });
  const review = (keys: readonly string[]): void => {
    for (const { key, group } of shareOf(keys, partition)) queue.add(key, { group });
  };
  const upkeep = createEnvironmentUpkeep({ ...parts, fleet: store.fleet, ends, awaited, review });

  async function work(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const at = parseKey(key);
    if (!partition.isMine(at.namespace)) return;
    const resource = resources.get(at);
    const endsAgainMs = await ends.settle(key, resource, signal);
    const policy = upkeep.policy();
    if (resource !== undefined) ends.saw(key, resource.uid);
    const attended = resource === undefined || policy === undefined ? undefined : await attend(resource, policy, signal);
    return endsAgainMs === undefined ? attended : { requeueAfterMs: endsAgainMs };
  }

  const queue = createKeyedQueue({ ...deps, name: "environments", concurrency: AT_ONCE, atOncePerGroup: AT_ONCE_OF_WORKSPACE, work });
  const onResource = (at: ResourceAt, uids: readonly string[]): void => {
    const key = deploymentKey(apiCluster, at);
    for (const uid of uids) ends.saw(key, uid);
    review([key]);
  };
  const namersOf = ({ namespace, name }: ResourceAt) => resources.list(namespace).filter(({ spec }) => secretNameOf(spec) === name);
  const isNamed = (at: ResourceAt): boolean => partition.isMine(at.namespace) && namersOf(at).length > 0;

  return {
    start(signal) {
      const either = AbortSignal.any([signal, abort.signal]);
      endings.push(
        resources.subscribe(onResource),
        secrets.subscribe((at) => review(namersOf(at).map((each) => deploymentKey(apiCluster, each))), isNamed),
        store.changes.subscribe(upkeep.onChanges),
        partition.onChange(() => [upkeep.add("rows"), upkeep.reviewAll()]),
      );
      resources.start(either);
      const known = Promise.all([resources.synced(either), secrets.synced(either), namespaces.synced(either)]);
      // Rejects only when it is stopped before everything was listed.
      known.then(
        () => [upkeep.start(either), queue.start()],
        () => {},
      );
    },
    async stop() {
      for (const end of endings.splice(0)) end();
      await Promise.all([upkeep.stop(), queue.stop()]);
      abort.abort(new Error("the environments' door closes"));
      await resources.stopped();
    },
  };
}
