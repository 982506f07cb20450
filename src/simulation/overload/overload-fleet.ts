import { type Millis, millis } from "../../domain/clock.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { loadVector } from "../../domain/load.ts";
import type { Partition } from "../../domain/partition.ts";
import { createHealth } from "../../health/controller.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock, settle, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createSampler } from "../../scheduler/load/controller.ts";
import { createPlanRequests } from "../../scheduler/plan-cycle/carry-out-plan.ts";
import { createPlanCycle } from "../../scheduler/plan-cycle/controller.ts";
import { createDrainRequests } from "../../scheduler/plan-cycle/empty-instance.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { createWorld } from "../../store/testing/world.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createCanaryModel } from "./canary-model.ts";
import { createQueueModel, type QueueModel } from "./queue-model.ts";

export interface OverloadFleetOptions {
  readonly instances: number;
  readonly workspaces: number;
  /** Time between two health probes, in ms. */
  readonly periodMs: number;
  /** As `moves.relief` has it. */
  readonly relieves: boolean;
}

/** Instances with workspaces on them, dealt in turn, and the processes of Argosy that watch and relieve them. */
export interface OverloadFleet {
  readonly clock: VirtualClock;
  readonly store: MemoryStore;
  readonly instances: readonly Instance[];
  readonly units: readonly UnitId[];
  readonly models: readonly QueueModel[];
  start(): void;
  /** Probes the health of all instances once, and lets sampler and plan cycle finish what is due. */
  probe(): Promise<void>;
  stop(): Promise<void>;
}

/** As the configuration has it, in ms. */
export const OVERLOAD_MS = 300_000;
const SAMPLE_MS = 120_000;
const DAY_MS = 86_400_000;
/** Capacity of an instance in the one dimension that runs out: two cores. */
const CAPACITY = loadVector((dimension) => (dimension === "milliCpu" ? 2_000 : 1_000_000_000));
const MINE: Partition = { isMine: () => true, onChange: () => () => undefined };
const never = new AbortController().signal;

/** Nothing is deployed, so moves change the rows at once. Whoever follows the rows decides how long real moves would take. */
export async function createOverloadFleet(options: OverloadFleetOptions): Promise<OverloadFleet> {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const { instances, units } = await fill(store, options, millis(clock.now() - 30 * DAY_MS));
  const models = instances.map(() => createQueueModel(millis(clock.now() - DAY_MS), clock.now()));
  const processes = createProcesses({ ...options, store, clock, instances, models });
  return { clock, store, instances, units, models, ...processes };
}

async function fill(store: MemoryStore, { instances: many, workspaces }: OverloadFleetOptions, stateSince: Millis) {
  const world = createWorld(store);
  const instances: Instance[] = [];
  for (let index = 0; index < many; index += 1)
    instances.push(await world.addInstance({ name: `standard-${index + 1}`, capacity: CAPACITY, stateSince }));
  const units: UnitId[] = [];
  for (let index = 0; index < workspaces; index += 1) {
    const { id } = await world.unit((await world.record({ namespace: `team-${index}` })).applicationId);
    await world.place(id, instances[index % many]?.id as InstanceId);
    units.push(id);
  }
  return { instances, units };
}

type Parts = Pick<OverloadFleet, "clock" | "store" | "instances" | "models"> & Omit<OverloadFleetOptions, "instances">;

/** Argosy's own sampler, plan cycle and health over the models. */
function createProcesses({ clock, store, instances, models, periodMs, relieves }: Parts): Pick<OverloadFleet, "start" | "probe" | "stop"> {
  const parts = { store, clock, ids: createCountingIds(), log: silentLog, metrics: noMetrics, partition: MINE };
  const rng = createSeededRng("overload");
  const namespaces = models.map((model) => createCanaryModel(model, clock));
  const indexOf = (at: Pick<Instance, "namespace">): number => instances.findIndex(({ namespace }) => namespace === at.namespace);
  const pageOf = (at: Pick<Instance, "namespace">): AsyncIterable<string> => models[indexOf(at)]?.page() ?? nothing();

  const moving = createMoveRequests(parts);
  const planning = createPlanRequests({ ...parts, moving });
  const draining = createDrainRequests({ ...parts, planning, moving });
  const cycle = createPlanCycle({ ...parts, rng: rng.fork("plans"), moving, planning, relieves, draining });
  const sampler = createSampler({
    ...{
      ...parts,
      rng: rng.fork("sampler"),
      periodMs: SAMPLE_MS,
      canariesPerMinute: 0,
      projectsOf: (unit) => [unit],
      environmentOf: () => undefined,
    },
    async *readPages(instance) {
      yield { of: "controller", pod: "controller-0", lines: pageOf(instance) };
    },
  });
  const health = createHealth({
    ...{ ...parts, rng: rng.fork("health"), periodMs, graceMs: OVERLOAD_MS, overloadMs: OVERLOAD_MS, restartApartMs: OVERLOAD_MS },
    ...{ emptyAfter: 0, empty: async () => undefined, placeElsewhere: async () => undefined },
    canary: { repository: "https://git.example/canary.git", revision: "HEAD", path: "." },
    findProcesses: async (at) => ({ controller: () => pageOf(at), repoServers: new Map() }),
    openNamespace: async (at) => namespaces[indexOf(at)],
  });
  return {
    start() {
      sampler.start(never);
      cycle.start(never);
    },
    async probe() {
      await health.probeAll(never);
      await sampler.idle();
      await cycle.idle();
      await settle();
    },
    stop: async () => void (await Promise.all([sampler.stop(), cycle.stop(), health.stop()])),
  };
}

async function* nothing(): AsyncIterable<string> {
  yield* [];
}
