import type { Change } from "../domain/change.ts";
import type { Clock } from "../domain/clock.ts";
import type { Ids, InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { SYSTEM_NAMESPACE } from "../domain/names.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../runtime/keyed-queue.ts";
import { every } from "../runtime/timer/every.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { countStates } from "./count-states.ts";
import { createInstanceController } from "./instance/controller.ts";
import { createObjectWriter } from "./objects/controller.ts";
import { createPoolController } from "./pool/controller.ts";
import type { CrdSource, EngineClusters, SecretMaker } from "./port.ts";
import { createSecretKeeper } from "./secrets/controller.ts";

export interface ProvisionerDeps {
  readonly store: Pick<Store, "fleet" | "credentials" | "changes">;
  readonly clusters: EngineClusters;
  readonly crds: CrdSource;
  readonly secrets: SecretMaker;
  /** By instance id, and by `pool/<name>`. */
  readonly partition: Partition;
  /** Namespace from which instances' metrics may be read. */
  readonly systemNamespace?: string;
  /** Instances that are written at once; default 4. */
  readonly concurrency?: number;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Makes the instances that fleet.yaml asks for, keeps them as they should be, and lets the empty surplus go. */
export interface Provisioner {
  /** Returns at once; ends when `signal` aborts or `stop` is called. */
  start(signal: AbortSignal): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
  /** Resolves when nothing waits for its turn and nothing runs. */
  idle(): Promise<void>;
}

/** How often everything is looked at without an event, so that a lost one costs no more. */
const RESYNC_MS = 60_000;
const FLEET_KEY = "fleet";
const POOL_PREFIX = "pool/";

export function createProvisioner(deps: ProvisionerDeps): Provisioner {
  const { store, clusters, partition, clock, log } = deps;
  const { fleet } = store;
  const secrets = createSecretKeeper({ credentials: store.credentials, maker: deps.secrets, clock });
  const writer = createObjectWriter({ crds: deps.crds, secrets, log });
  const pools = createPoolController({ fleet, clock, ids: deps.ids, log });
  const instances = createInstanceController({
    fleet,
    clusters,
    writer,
    secrets,
    systemNamespace: deps.systemNamespace ?? SYSTEM_NAMESPACE,
    clock,
    log,
  });
  const ending = new AbortController();
  const ends: (() => void)[] = [];
  let known: readonly Instance[] = [];

  const sweep = async (signal: AbortSignal): Promise<void> => {
    const { spec, pruned = [] } = (await fleet.readFleet(signal)) ?? {};
    for (const name of [...(spec?.pools ?? []).map((pool) => pool.name), ...pruned]) plans.add(POOL_PREFIX + name);
    known = await fleet.listInstances(signal);
    for (const instance of known) if (instance.state !== "RETIRED") requestInstance(instance.id);
  };
  const plan = async (key: string, signal: AbortSignal): Promise<WorkResult | void> => {
    if (key === FLEET_KEY) return sweep(signal);
    return partition.isMine(key) ? pools.reconcile(key.slice(POOL_PREFIX.length), signal) : undefined;
  };
  const toolkit = { clock, log, metrics: deps.metrics };
  const plans = createKeyedQueue({ ...toolkit, name: "pools", concurrency: 1, work: plan, rng: deps.rng.fork("pools") });
  const lives = createKeyedQueue({
    ...{ ...toolkit, name: "instance-lives", concurrency: deps.concurrency ?? 4, rng: deps.rng.fork("instance-lives") },
    work: async (id, signal) => (partition.isMine(id) ? instances.reconcile(id as InstanceId, signal) : undefined),
  });
  const requestInstance = (id: InstanceId): void => lives.add(id);
  const requestAll = (): void => plans.add(FLEET_KEY);

  const onHints = (hints: readonly Change[] | "missed"): void => {
    if (hints === "missed" || hints.some((hint) => hint.kind === "fleet" || hint.kind === "pool")) requestAll();
    if (hints !== "missed") for (const hint of hints) if (hint.kind === "instance") requestInstance(hint.id as InstanceId);
  };
  const gauge = deps.metrics.gauge("argosy_instances", "Instances by pool and state, retired ones left out.", ["pool", "state"]);
  gauge.collect(() => countStates(known).map(({ pool, state, instances: value }) => ({ value, labels: { pool, state } })));

  const stop = async (): Promise<void> => {
    ending.abort(new Error("the provisioner stops"));
    for (const end of ends.splice(0)) end();
    await Promise.all([plans.stop(), lives.stop()]);
  };
  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      ends.push(store.changes.subscribe(onHints), partition.onChange(requestAll), clusters.subscribe(requestInstance));
      plans.start();
      lives.start();
      requestAll();
      every({ clock, rng: deps.rng.fork("provisioner-resync"), log, ms: RESYNC_MS, run: requestAll }, ending.signal);
    },
    stop,
    async idle() {
      await plans.idle();
      await lives.idle();
    },
  };
}
