import type { InstanceId } from "../src/domain/ids.ts";
import { projectNames } from "../src/shard/names.ts";
import type { CountedUnit, KnownLoad } from "../src/store/load/port.ts";
import { reconciliationsOf } from "./controller-log.ts";
import { applicationsOf, deployTenant, type Settled, TENANTS, type Tenant, withUsers } from "./load-tenants.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { startTargetCluster } from "./target-cluster.ts";
import { openTruth, type Truth } from "./truth.ts";
import { TYPES, until, type World } from "./world.ts";

const INSTANCES = [...new Set(TENANTS.map(({ instance }) => instance))];
/** Comparisons as often as possible, and not all at once: many in a short time. */
const ENGINE = { reconciliationSeconds: 5, reconciliationJitterSeconds: 2 };
const CLASS = "local/load/public";
/** Timeout of the measurement: machines are shared. */
const MEASURING_MS = 600_000;
/** The time over which planning load follows measurements; see `nextLoad`. */
const PLANNING_MS = 24 * 60 * 60_000;

/** A workspace's share of an instance's work, by two independent accounts. */
export interface Shares {
  readonly workspace: string;
  readonly instance: string;
  /** Its share of the CPU that was attributed, and how much that was. */
  readonly dealt: number;
  readonly milliCpu: number;
  /** Its share of the time of comparisons in the controller's log, and how many these were. */
  readonly logged: number;
  readonly comparisons: number;
}

/** Six workspaces on three instances of their own pool. */
export interface LoadWorld {
  /** Creates the pool and places each workspace on its instance, with all its applications. */
  settle(): Promise<void>;
  /**
   * Lets users work until the applications of each workspace have been compared this often. Then compares what was
   * attributed in that time with what was logged in it. With few comparisons the accounts differ too much by chance.
   */
  measure(comparisons: number): Promise<readonly Shares[]>;
  cordon(instance: string, cordoned: boolean): Promise<void>;
  close(): Promise<void>;
}

export async function openLoads(world: World): Promise<LoadWorld> {
  const pools = openPools(world);
  const [target, truth] = await Promise.all([startTargetCluster(world.signal), openTruth(world)]);
  const cordon = async (name: string, cordoned: boolean): Promise<void> =>
    void (await until(
      `${name} ${cordoned ? "cordoned" : "taking units"}`,
      // A busy database may let one request time out.
      () =>
        pools.cordon(name, cordoned).then(
          () => true,
          () => false,
        ),
      Boolean,
    ));
  const settled: Settled[] = [];
  const ids = new Map<string, InstanceId>();
  const observations = (name: string) => ({ world, truth, instance: { name, id: ids.get(name) as InstanceId }, tenants: settled });
  return {
    cordon,
    async settle() {
      await pools.declare(pools.withPool({ name: "load", instances: { min: INSTANCES.length, max: INSTANCES.length }, engine: ENGINE }));
      for (const name of INSTANCES) await pools.instance(name, "active", (found) => found?.state === "ACTIVE");
      for (const { name, id } of await pools.instances()) ids.set(name, id as InstanceId);
      settled.push(...(await placeAll((tenant) => deployTenant(world, target, tenant), cordon)));
      for (const { tenant, workspace } of settled) for (const name of applicationsOf(tenant)) await workspace.settled(name);
    },
    async measure(comparisons) {
      const all = await withUsers(world, settled, () => Promise.all(INSTANCES.map((name) => measureOne(observations(name), comparisons))));
      return all.flat();
    },
    async close() {
      await removeAll(world, pools);
      await Promise.all([target.stop(), truth.close()]);
    },
  };
}

/** Deploys workspaces one after the other, while only the right instance takes units. */
async function placeAll(deploy: (tenant: Tenant) => Promise<Settled>, cordon: LoadWorld["cordon"]): Promise<readonly Settled[]> {
  const placed: Settled[] = [];
  for (const tenant of TENANTS) {
    for (const name of INSTANCES) await cordon(name, name !== tenant.instance);
    placed.push(await deploy(tenant));
  }
  for (const name of INSTANCES) await cordon(name, false);
  return placed;
}

/** Removes whatever exists of it, also after half a start. */
async function removeAll(world: World, pools: PoolsWorld): Promise<void> {
  for (const tenant of TENANTS)
    for (const name of applicationsOf(tenant))
      await world.kube.delete(TYPES.deployment, { namespace: tenant.name, name }, {}, world.signal);
  for (const { name } of TENANTS) await world.kube.delete(TYPES.namespace, { namespace: "", name }, {}, world.signal);
  await until("the instances empty", pools.instances, (rows) => rows.every(({ name, units }) => !INSTANCES.includes(name) || units === 0));
  await pools.restore();
}

interface OneInstance {
  readonly world: World;
  readonly truth: Truth;
  readonly instance: { readonly name: string; readonly id: InstanceId };
  readonly tenants: readonly Settled[];
}

/** What was known about a unit after an observation of its instance. */
interface Observation {
  /** Names of the unit's projects. Its applications have one of them, by where they are deployed to. */
  readonly projects: readonly string[];
  readonly known: KnownLoad;
}

async function measureOne(one: OneInstance, comparisons: number): Promise<readonly Shares[]> {
  const first = await observeAfter(one, await firstMeasured(one));
  const from = first[0]?.known.at ?? 0;
  const loggedSince = async () => (await reconciliationsOf(one.world, one.instance.name)).filter(({ at }) => at > from);
  const last = await until(
    `${comparisons} comparisons of each workspace on ${one.instance.name} before an observation`,
    async () => ({ observations: await observeAfter(one, from), logged: await loggedSince() }),
    ({ observations, logged }) =>
      observations.every(
        ({ projects, known }) => logged.filter((each) => projects.includes(each.project) && each.at <= known.at).length >= comparisons,
      ),
    MEASURING_MS,
  );
  const to = last.observations[0]?.known.at ?? 0;
  const logged = last.logged.filter(({ at }) => at <= to);
  const rows = last.observations.map(({ projects, known }) => {
    const before = first.find((observation) => observation.projects[0] === projects[0])?.known ?? known;
    const own = logged.filter((comparison) => projects.includes(comparison.project));
    return { projects, cpu: meanCpu(before, known), ms: own.reduce((sum, { ms }) => sum + ms, 0), comparisons: own.length };
  });
  const share = (of: "cpu" | "ms", value: number): number => value / rows.reduce((sum, row) => sum + row[of], 0);
  return rows.map(({ projects, cpu, ms, comparisons }) => ({
    workspace: one.tenants.find(({ project }) => projects.includes(project))?.tenant.name ?? String(projects),
    ...{ instance: one.instance.name, dealt: share("cpu", cpu), milliCpu: cpu, logged: share("ms", ms), comparisons },
  }));
}

/** When the instance was first observed with CPU. Later observations have it too. */
async function firstMeasured({ world, truth, instance }: OneInstance): Promise<number> {
  const load = await until(
    `CPU of ${instance.name}`,
    async () => (await truth.store.loads.listInstanceLoads(CLASS, world.signal)).find(({ instanceId }) => instanceId === instance.id),
    (found) => found?.observation !== undefined,
  );
  return load?.at ?? 0;
}

/** What is known about an instance's units after an observation later than `after`; all from the same observation. */
function observeAfter({ world, truth, instance, tenants }: OneInstance, after: number): Promise<readonly Observation[]> {
  const held = tenants.filter(({ tenant }) => tenant.instance === instance.name).length;
  return until(
    `${instance.name} observed once more`,
    async () => observationsOf(await truth.store.loads.countUnits(instance.id, world.signal)),
    (observations) =>
      observations.length === held && observations.every(({ known }) => known.at > after && known.at === observations[0]?.known.at),
  );
}

function observationsOf(units: readonly CountedUnit[]): readonly Observation[] {
  return units.flatMap(({ unitId, known }) => (known === undefined ? [] : [{ projects: projectNames(unitId), known }]));
}

/**
 * The mean CPU that was attributed between two observations. Planning load is an exponential mean of it: its old
 * value counts by `e^(-elapsed/24 h)`, and the rest is what came since.
 */
function meanCpu(before: KnownLoad, after: KnownLoad): number {
  const kept = Math.exp((before.at - after.at) / PLANNING_MS);
  return (after.planning.milliCpu - before.planning.milliCpu * kept) / (1 - kept);
}
