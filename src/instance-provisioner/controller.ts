import type { Change } from "../domain/change.ts";
import type { Clock } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { SYSTEM_NAMESPACE } from "../domain/names.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import { createKeyedQueue } from "../runtime/keyed-queue.ts";
import { createResourceController, type ResourceController } from "../runtime/resource-controller/resource-controller.ts";
import { createSweeps } from "../runtime/resource-controller/sweeps.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createAtRest } from "./keep-at-rest.ts";
import { createSecretKeeper } from "./keep-secrets.ts";
import { countStates } from "./life-cycle.ts";
import type { FilterParameters } from "./manifests/parameters.ts";
import type { CrdSource, EngineClusters, SecretMaker } from "./port.ts";
import { createReconcileInstance } from "./reconcile-instance.ts";
import { createReconcilePool } from "./reconcile-pool.ts";
import { createInstanceObjectWriter } from "./write-objects.ts";

export interface ProvisionerDeps {
  readonly store: Pick<Store, "fleet" | "loads" | "credentials" | "changes">;
  readonly clusters: EngineClusters;
  readonly crds: CrdSource;
  readonly secrets: SecretMaker;
  /** Keys are instance ids, and `pool/<name>`. */
  readonly partition: Partition;
  /** Namespace whose pods may read the metrics of instances. */
  readonly systemNamespace?: string;
  /** What the filters of instances with filtered entries are run from; absent: there can be no such instance. */
  readonly filter?: FilterParameters | undefined;
  /** How many instances are reconciled at once; default 4. */
  readonly concurrency?: number;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** How often everything that is not at rest is reconciled without an event, in ms: a lost notification of a row costs no more than that. */
const SWEEP_EVERY_MS = 60_000;

/**
 * The controller of instances. It creates those that fleet.yaml asks for, keeps them as declared, and retires empty
 * surplus. It has two queues. Names of pools: each gets as many rows as it should have. Ids of instances: each is
 * brought one step further. A sweep adds all keys of both, but for instances that were found as declared and have not changed.
 */
export function createProvisioner(deps: ProvisionerDeps): ResourceController {
  const { store, clusters, partition, rng, metrics } = deps;
  const { fleet } = store;
  const secrets = createSecretKeeper({ ...deps, credentials: store.credentials, maker: deps.secrets });
  const writer = createInstanceObjectWriter({ ...deps, secrets });
  const reconcilePool = createReconcilePool({ ...deps, fleet, loads: store.loads });
  const { systemNamespace = SYSTEM_NAMESPACE, concurrency = 4 } = deps;
  const atRest = createAtRest({ ...deps, rng: rng.fork("at-rest") });
  const reconcileInstance = createReconcileInstance({ ...deps, fleet, writer, secrets, systemNamespace, atRest });
  let known: readonly Instance[] = [];
  const gauge = metrics.gauge("argosy_instances", "Instances by pool and state, retired ones left out.", ["pool", "state"]);
  gauge.collect(() => countStates(known).map(({ pool, state, instances }) => ({ value: instances, labels: { pool, state } })));

  // Ownership of a key is checked when its turn comes: a key that is requeued may have become another process's meanwhile.
  const pools = createKeyedQueue({
    ...deps,
    name: "pools",
    concurrency: 1,
    rng: rng.fork("pools"),
    work: async (name, signal) => (partition.isMine(`pool/${name}`) ? reconcilePool(name, signal) : undefined),
  });
  const instances = createKeyedQueue({
    ...deps,
    name: "instance-lives",
    concurrency,
    rng: rng.fork("instance-lives"),
    work: async (id, signal) => (partition.isMine(id) ? reconcileInstance(id as InstanceId, signal) : undefined),
  });
  const sweeps = createSweeps({
    ...deps,
    name: "provisioner-upkeep",
    rng: rng.fork("provisioner-resync"),
    first: [],
    next: ["fleet"],
    sweeps: { fleet: { everyMs: SWEEP_EVERY_MS, run: addAll } },
  });

  async function addAll(signal: AbortSignal): Promise<void> {
    const { spec, revision, pruned = [] } = (await fleet.readFleet(signal)) ?? {};
    for (const name of [...(spec?.pools ?? []).map((pool) => pool.name), ...pruned]) pools.add(name);
    known = await fleet.listInstances(signal);
    for (const instance of known) {
      // Whoever has it meanwhile may change it: it is reconciled once more when it is this process's again.
      if (!partition.isMine(instance.id)) atRest.forget(instance.id);
      else if (instance.state !== "RETIRED" && !(await atRest.isStill(instance, revision))) instances.add(instance.id);
    }
  }
  const onChanges = (changes: readonly Change[] | "missed"): void => {
    if (changes === "missed") return sweeps.add("fleet");
    for (const { kind, id } of changes) {
      if (kind === "fleet" || kind === "pool") sweeps.add("fleet");
      if (kind === "instance") instances.add(id);
    }
  };

  return createResourceController({
    name: "instances",
    watches: [],
    otherWatches: [],
    partition,
    sweeps,
    loops: [pools, instances],
    subscribe: () => [store.changes.subscribe(onChanges), clusters.subscribe((id) => instances.add(id))],
    takeOver: () => sweeps.add("fleet"),
  });
}
