import { millis } from "../src/domain/clock.ts";
import type { InstanceId } from "../src/domain/ids.ts";
import { addUsage, NO_USAGE, type Usage, type UsageMark, usageOf } from "../src/domain/usage.ts";
import { projectNames } from "../src/shard/names.ts";
import type { CountedUnit, KnownLoad } from "../src/store/load/port.ts";
import type { UsedOnInstance } from "../src/store/usage/port.ts";
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
const HOUR_MS = 60 * 60_000;
/** The time over which planning load follows measurements; see `nextLoad`. */
const PLANNING_MS = 24 * 60 * 60_000;

/** A workspace's share of an instance's work, by two independent accounts. */
export interface Shares {
  readonly workspace: string;
  readonly instance: string;
  /** Its share of the CPU that was attributed, and how much that was. */
  readonly dealt: number;
  readonly milliCpu: number;
  /** Its share of the CPU of the controller that was accounted for in hours. */
  readonly accounted: number;
  /** Its share of the time of comparisons in the controller's log, and how many these were. */
  readonly logged: number;
  readonly comparisons: number;
}

/** What an instance took while it was measured, and for whom, as Argosy accounts for it. */
export interface InstanceUsage {
  readonly instance: string;
  readonly seconds: number;
  /** The growth of the CPU counters of its processes. */
  readonly counters: Omit<Usage, "memoryKibS">;
  readonly workspaces: Usage;
  readonly base: Usage;
  readonly unattributed: Usage;
  /** The canaries' share of the time of comparisons in the controller's log. */
  readonly canaries: number;
}

export interface Measured {
  readonly shares: readonly Shares[];
  readonly usages: readonly InstanceUsage[];
}

/** Six workspaces on three instances of their own pool. */
export interface LoadWorld {
  /** Creates the pool and places each workspace on its instance, with all its applications. */
  settle(): Promise<void>;
  /**
   * Lets users work until the applications of each workspace have been compared this often. Then compares what was
   * attributed in that time with what was logged in it. With few comparisons the accounts differ too much by chance.
   */
  measure(comparisons: number): Promise<Measured>;
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
      return { shares: all.flatMap(({ shares }) => shares), usages: all.flatMap(({ usages }) => usages) };
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

async function measureOne(one: OneInstance, comparisons: number): Promise<Measured> {
  const first = await observeAfter(one, await firstMeasured(one));
  const from = first[0]?.known.at ?? 0;
  const account = await accountAt(one, from);
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
  const used = usedBetween(account, await accountAt(one, to));
  const logged = last.logged.filter(({ at }) => at <= to);
  const rows = last.observations.map(({ projects, known }) => {
    const before = first.find((observation) => observation.projects[0] === projects[0])?.known ?? known;
    const own = logged.filter((comparison) => projects.includes(comparison.project));
    const name = one.tenants.find(({ project }) => projects.includes(project))?.tenant.name ?? String(projects);
    return {
      name,
      cpu: meanCpu(before, known),
      used: cpuOf(used, name),
      ms: own.reduce((sum, { ms }) => sum + ms, 0),
      comparisons: own.length,
    };
  });
  const share = (of: "cpu" | "used" | "ms", value: number): number => value / rows.reduce((sum, row) => sum + row[of], 0);
  const shares = rows.map(({ name, cpu, used: own, ms, comparisons }) => ({
    ...{ workspace: name, instance: one.instance.name, dealt: share("cpu", cpu), milliCpu: cpu, accounted: share("used", own) },
    ...{ logged: share("ms", ms), comparisons },
  }));
  const all = logged.reduce((sum, { ms }) => sum + ms, 0);
  const canaries = (all - rows.reduce((sum, { ms }) => sum + ms, 0)) / all;
  return { shares, usages: [{ instance: one.instance.name, seconds: (to - from) / 1_000, ...used, canaries }] };
}

/** What is recorded of an instance up to a sample: the sums by who had it, and the counters that they go up to. */
interface Account {
  readonly mark: UsageMark;
  readonly rows: readonly UsedOnInstance[];
}

/** Read while no later sample is recorded yet: the next one takes a period. */
function accountAt({ world, truth, instance }: OneInstance, at: number): Promise<Account> {
  return until(
    `what ${instance.name} took up to a sample`,
    async () => {
      const span = { since: millis(0), until: millis(at + HOUR_MS) };
      const before = await truth.store.usages.readMark(instance.id, world.signal);
      const rows = (await truth.store.usages.list(span, world.signal)).filter(({ instanceId }) => instanceId === instance.id);
      const after = await truth.store.usages.readMark(instance.id, world.signal);
      return before !== undefined && before.until === after?.until ? { mark: before, rows } : undefined;
    },
    (found) => found !== undefined && found.mark.until >= at,
  ) as Promise<Account>;
}

type Used = Pick<InstanceUsage, "counters" | "workspaces" | "base" | "unattributed"> & { readonly byNamespace: ReadonlyMap<string, Usage> };

function usedBetween(before: Account, after: Account): Used {
  const minus = (a: Usage, b: Usage) => usageOf((dimension) => a[dimension] - b[dimension]);
  const sum = (rows: readonly UsedOnInstance[]) => rows.reduce((total, { usage }) => addUsage(total, usage), NO_USAGE);
  const growth = (is: (row: UsedOnInstance) => boolean) => minus(sum(after.rows.filter(is)), sum(before.rows.filter(is)));
  const namespaces = [...new Set(after.rows.map(({ namespace }) => namespace))];
  const counted = (of: "controller" | "repo-server") =>
    Object.entries(after.mark.processes).reduce(
      (total, [pod, process]) => (process.of === of ? total + process.cpuMs - (before.mark.processes[pod]?.cpuMs ?? 0) : total),
      0,
    );
  return {
    counters: { controllerCpuMs: counted("controller"), repoServerCpuMs: counted("repo-server") },
    workspaces: growth((row) => row.of === "workspace"),
    base: growth((row) => row.of === "base"),
    unattributed: growth((row) => row.of === "unattributed"),
    byNamespace: new Map(namespaces.map((name) => [name, growth((row) => row.of === "workspace" && row.namespace === name)])),
  };
}

function cpuOf({ byNamespace }: Used, namespace: string): number {
  return byNamespace.get(namespace)?.controllerCpuMs ?? 0;
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
