import type { TokenLife } from "../../domain/account-token.ts";
import type { Change } from "../../domain/change.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Ids, UnitId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import { createPartitionedQueue } from "../../runtime/resource-controller/partitioned-queue.ts";
import { createResourceController, type ResourceController } from "../../runtime/resource-controller/resource-controller.ts";
import { createSweeps } from "../../runtime/resource-controller/sweeps.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { namespaceOf, resourceKey } from "../keys.ts";
import type { ResourceAt, UserResources, UserSecrets, WatchedResources } from "../port.ts";
import { createPolicySource } from "../read-policy.ts";
import { isAboutPolicy } from "../workspace-policy.ts";
import { secretNameOf } from "./parse-environment.ts";
import type { ClusterAccounts, ClusterProbe } from "./port.ts";
import { createEnvironmentWork } from "./reconcile-environment.ts";
import { createAccountRemoval } from "./remove-account.ts";
import { createAwaitedOwners, createRowSweep, createWithheldSweep, findAwaitedOwners } from "./sweep-environments.ts";
import { createTeardown, type TeardownDeps } from "./tear-down-environment.ts";
import { createVisitPace } from "./visit-pace.ts";

export interface EnvironmentControllerDeps {
  readonly store: Pick<Store, "intents" | "environments" | "credentials" | "placements" | "shards" | "fleet" | "changes">;
  readonly resources: WatchedResources;
  /** Watched by somebody else, who starts and stops it; the namespaces too. */
  readonly secrets: UserSecrets;
  readonly namespaces: Pick<UserResources, "namespace" | "readNamespaceUid" | "synced">;
  readonly probe: ClusterProbe;
  readonly accounts: ClusterAccounts;
  /** Of the tokens by which instances enter users' clusters. */
  readonly tokenLife: TokenLife;
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
const SWEEP_EVERY_MS = 60_000;

/**
 * The controller of GitOpsDeploymentManagedEnvironments: probes their credentials, records those that work, and tells their users.
 * Key: `cluster|namespace|name`.
 */
export function createEnvironmentController(deps: EnvironmentControllerDeps): ResourceController {
  const { store, resources, secrets, namespaces, apiCluster, partition } = deps;
  const { environments, credentials, placements, shards } = store;
  const parts = { ...deps, environments, credentials, placements, shards };
  const policy = createPolicySource(store.fleet, { intents: store.intents, apiCluster, namespaceOf: namespaces.namespace });
  const awaited = createAwaitedOwners();
  const pace = createVisitPace();
  const keyOf = (at: ResourceAt): string => resourceKey(apiCluster, at);

  const removal = createAccountRemoval(parts);
  const removeAccount: TeardownDeps["removeAccount"] = async (environment, signal) => {
    const declared = policy.declared();
    return declared !== undefined && removal.remove(environment, { egress: declared.egress }, signal);
  };
  const isNamespaceGoing = (name: string): boolean => namespaces.namespace(name)?.isDeleting ?? true;
  const teardown = createTeardown({ ...parts, isNamespaceGoing, removeAccount, pace });
  const queue = createPartitionedQueue({
    ...{ ...deps, name: "environments", concurrency: AT_ONCE, atOncePerGroup: AT_ONCE_OF_WORKSPACE, groupOf: namespaceOf },
    work: createEnvironmentWork({ ...parts, removal, teardown, pace, policy: policy.declared, awaitOwner: awaited.await }),
  });
  /** Units that have changed since `owners` was swept. */
  const changedUnits = new Set<UnitId>();
  const findWithheld = createWithheldSweep(parts);
  const rowSweep = createRowSweep({ ...parts, teardown }, queue.add);
  const sweeps = createSweeps({
    ...{ ...deps, name: "environment-upkeep", first: [], next: ["policy", "rows", "owners", "withheld"] },
    sweeps: {
      policy: { everyMs: SWEEP_EVERY_MS, run: readPolicy },
      rows: { everyMs: SWEEP_EVERY_MS, run: rowSweep.run },
      owners: { everyMs: SWEEP_EVERY_MS, run: findOwners },
      withheld: { everyMs: SWEEP_EVERY_MS, run: (signal) => findWithheld(queue.add, signal) },
    },
  });

  const reviewNamespace = (name: string): void => queue.add(resources.list(name).map(keyOf));
  const reviewAll = (): void => queue.add(resources.list().map(keyOf));
  async function readPolicy(signal: AbortSignal): Promise<void> {
    const change = await policy.refresh(signal);
    if (change.of === "everything") reviewAll();
    else change.names.forEach(reviewNamespace);
  }
  async function findOwners(signal: AbortSignal): Promise<void> {
    const units = [...changedUnits];
    changedUnits.clear();
    try {
      await findAwaitedOwners({ ...parts, awaited }, units, queue.add, signal);
    } catch (error) {
      for (const unit of units) changedUnits.add(unit);
      throw error;
    }
  }

  const onResource = (at: ResourceAt, uids: readonly string[]): void => {
    for (const uid of uids) teardown.saw(keyOf(at), uid);
    queue.add([keyOf(at)]);
  };
  const namersOf = ({ namespace, name }: ResourceAt) => resources.list(namespace).filter(({ spec }) => secretNameOf(spec) === name);
  const isNamed = (at: ResourceAt): boolean => partition.isMine(at.namespace) && namersOf(at).length > 0;
  const onMissedChanges = (): void => {
    rowSweep.visitAll();
    for (const sweep of ["policy", "rows", "owners", "withheld"] as const) sweeps.add(sweep);
  };
  const onChange = (change: Change): void => {
    if (isAboutPolicy(change)) sweeps.add("policy");
    if (change.kind !== "unit") return;
    changedUnits.add(change.id as UnitId);
    for (const sweep of ["owners", "withheld"] as const) sweeps.add(sweep);
  };

  return createResourceController({
    ...{ name: "environments", watches: [resources], otherWatches: [secrets, namespaces], partition, sweeps, loops: [queue] },
    subscribe: () => [
      resources.subscribe(onResource),
      secrets.subscribe((at) => queue.add(namersOf(at).map(keyOf)), isNamed),
      store.changes.subscribe((changes) => (changes === "missed" ? onMissedChanges() : changes.forEach(onChange))),
    ],
    takeOver(gained) {
      rowSweep.visitAll();
      sweeps.add("rows");
      queue.takeOver(resources.list().map(keyOf), gained);
    },
  });
}
