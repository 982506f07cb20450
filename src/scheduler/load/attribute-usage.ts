import { CONTROLLER_COST_MIB } from "../../domain/controller-memory.ts";
import type { EnvironmentId, UnitId } from "../../domain/ids.ts";
import { type Entries, sharesEntry } from "../../domain/instance.ts";
import { addUsage, type Usage, usageOf } from "../../domain/usage.ts";
import { apportion } from "./apportion.ts";
import {
  comparisonsOf,
  type DestinationSignals,
  type InstanceSignals,
  measured,
  sumOf,
  type UnitSignals,
  workOf,
} from "./attribute-load.ts";
import type { CpuWeights } from "./cpu-weights.ts";
import type { Taken } from "./usage-since.ts";

export interface UsageQuestion {
  readonly taken: readonly Taken[];
  readonly units: readonly UnitSignals[];
  /** What happened meanwhile; where that is not known CPU is dealt by applications and resources. */
  readonly signals: InstanceSignals;
  readonly weights: CpuWeights;
  /** How the instance enters the API cluster. */
  readonly entries: Entries;
  /** Objects that its controller caches through the entry that units share, and of each environment. */
  readonly cached: { readonly shared: number; readonly environments: ReadonlyMap<EnvironmentId, number> };
  /** How often its canaries are asked to be compared, a minute; 0: it has none. */
  readonly canariesPerMinute: number;
}

export interface UsageShares {
  readonly units: ReadonlyMap<UnitId, Usage>;
  readonly base: Usage;
  readonly unattributed: Usage;
}

/**
 * What each process takes while its instance holds nothing, in thousandths of a core, without canaries. Measured on Argo CD 3.5.7, two instances
 * for 150 s: 0.9 and 0.3. The fitted base of `CpuWeights` is more: it is what does not grow with applications on instances that have many.
 */
const IDLE_MILLI_CPU = { controller: 1, repoServer: 0.3 };
/**
 * What the controller keeps for one more workspace with applications behind a shared entry, in MiB, beside these: what stands in its namespace,
 * its project and a client of its own. Measured with a hundred of them on Argo CD 3.5.7 (docs/adr/0058).
 */
const WORKSPACE_MIB = 1.4;
const CANARIES = 3;
/** As a unit whose one repository is asked whenever a canary is compared: so comparisons beyond the common pace are recognised. */
const CANARY: UnitSignals = {
  unit: "argosy-canary" as UnitId,
  projects: [],
  destinations: [{ isOwn: true, environments: [], applications: CANARIES, resources: 0 }],
  repositories: { "argosy-canary": CANARIES },
};

/**
 * Deals what an instance took to the units that it holds, in whole numbers: the units' shares, `base` and `unattributed` add up to it.
 *
 * - CPU of the controller, beyond what an idle one takes, as in `attributeLoad`: by the time of comparisons. The canaries' part is `base`; that
 *   of entries which belong to no unit here is `unattributed`.
 * - CPU of repo-servers, beyond the same, by how often each unit was compared: each comparison asks one of them.
 * - Memory of the controller by what it is known to keep: a workspace, an entry, its objects and applications. What it keeps empty, the shared entry and its
 *   objects that no application here manages are `base`. What it holds beyond that, or less, changes all in proportion. Memory of repo-servers is
 *   `base`: they keep nothing for anybody.
 * - What was taken so long ago that nobody knows for whom is `unattributed`.
 */
export function attributeUsage(question: UsageQuestion): UsageShares {
  const units = [...question.units].sort((a, b) => (a.unit < b.unit ? -1 : 1));
  const recent = question.taken.filter(({ isLate }) => !isLate);
  const [controller, repoServers] = [sumTaken(recent, "controller"), sumTaken(recent, "repo-server")];
  const late = question.taken.filter(({ isLate }) => isLate);
  const dealt = {
    controllerCpuMs: dealCpu(controller, IDLE_MILLI_CPU.controller, workOfAll(units, question)),
    repoServerCpuMs: dealCpu(repoServers, IDLE_MILLI_CPU.repoServer, comparisonsOfAll(units, question)),
    memoryKibS: dealWhole(controller.memoryKibS, memoryWeights(units, question)),
  };
  const shareAt = (index: number): Usage => usageOf((dimension) => dealt[dimension].shares[index] as number);
  const own = usageOf((dimension) => dealt[dimension].base + (dimension === "memoryKibS" ? repoServers.memoryKibS : 0));
  const lost = { controller: sumTaken(late, "controller"), repoServers: sumTaken(late, "repo-server") };
  return {
    units: new Map(units.map(({ unit }, index) => [unit, shareAt(index)])),
    base: own,
    unattributed: addUsage(shareAt(units.length), {
      controllerCpuMs: lost.controller.cpuMs,
      repoServerCpuMs: lost.repoServers.cpuMs,
      memoryKibS: lost.controller.memoryKibS + lost.repoServers.memoryKibS,
    }),
  };
}

interface TakenSum {
  readonly cpuMs: number;
  readonly memoryKibS: number;
  readonly spanMs: number;
}

function sumTaken(taken: readonly Taken[], of: Taken["of"]): TakenSum {
  const own = taken.filter((one) => one.of === of);
  const sum = (part: keyof TakenSum) => own.reduce((total, one) => total + one[part], 0);
  return { cpuMs: sum("cpuMs"), memoryKibS: sum("memoryKibS"), spanMs: sum("spanMs") };
}

/** Weights of the units, then of what is taken for nobody known, then of the instance's own. */
type Weights = readonly number[];

interface Dealt {
  /** Of the units, and after the last what is taken for nobody known. */
  readonly shares: readonly number[];
  readonly base: number;
}

/** Nothing weighs anything where an instance did nothing for anybody: then all is its own. */
function dealWhole(total: number, weights: Weights): Dealt {
  const all = apportion(total, weights);
  const given = all.reduce((a, b) => a + b, 0);
  return { shares: all.slice(0, -1), base: (all.at(-1) as number) + total - given };
}

/** `idle`: what the process takes while it does nothing, thousandths of a core. */
function dealCpu({ cpuMs, spanMs }: TakenSum, idle: number, weights: Weights): Dealt {
  const own = Math.min(cpuMs, Math.round((idle * spanMs) / 1_000));
  const { shares, base } = dealWhole(cpuMs - own, weights);
  return { shares, base: base + own };
}

function withCanary(units: readonly UnitSignals[], { signals, canariesPerMinute }: UsageQuestion) {
  if (canariesPerMinute === 0) return { all: units, signals };
  const { requests = {}, ms = {} } = signals.git ?? {};
  return { all: [...units, CANARY], signals: { ...signals, git: { requests: { ...requests, "argosy-canary": canariesPerMinute }, ms } } };
}

function workOfAll(units: readonly UnitSignals[], question: UsageQuestion): Weights {
  const { all, signals } = withCanary(units, question);
  return inOrder(units, workOf(all, signals, question.weights), isMeasured(signals));
}

function comparisonsOfAll(units: readonly UnitSignals[], question: UsageQuestion): Weights {
  const { all, signals } = withCanary(units, question);
  const compared = comparisonsOf(all, signals);
  return compared.some((count) => count > 0) ? inOrder(units, compared, true) : workOfAll(units, question);
}

/**
 * The canaries stand before what belongs to nobody, if there are any; here they are the instance's own, and last. So is what belongs to nobody
 * where nothing was measured and nothing is held that it could be dealt to.
 */
function inOrder(units: readonly UnitSignals[], weights: readonly number[], isKnown: boolean): Weights {
  const nobody = weights.at(-1) as number;
  const canaries = weights.length > units.length + 1 ? (weights[units.length] as number) : 0;
  return [...weights.slice(0, units.length), ...(isKnown ? [nobody, canaries] : [0, nobody + canaries])];
}

function isMeasured({ shared, environments }: InstanceSignals): boolean {
  return [shared, ...environments.values()].some(({ ms }) => ms > 0);
}

function memoryWeights(units: readonly UnitSignals[], { entries, cached, canariesPerMinute }: UsageQuestion): Weights {
  const { empty, entry, resource, application } = CONTROLLER_COST_MIB;
  const seen = new Set<EnvironmentId>();
  const ofEnvironment = (id: EnvironmentId): number => {
    seen.add(id);
    return entry + measured(cached.environments.get(id) ?? 0) * resource;
  };
  const ofDestination = ({ isOwn, environments, applications, resources }: DestinationSignals): number => {
    const own = isOwn && entries === "per-workspace" ? entry : 0;
    const objects = isOwn ? measured(resources) * resource : environments.reduce((sum, id) => sum + ofEnvironment(id), 0);
    return measured(applications) * application + own + objects;
  };
  const ofUnits = units.map(({ destinations }) => {
    const own = sumOf(destinations, "applications") > 0 ? WORKSPACE_MIB : 0;
    return destinations.reduce((sum, one) => sum + ofDestination(one), own);
  });
  const strange = [...cached.environments.keys()].filter((id) => !seen.has(id));
  const ofNobody = strange.reduce((sum, id) => sum + ofEnvironment(id), 0);
  const managed = units.reduce(
    (sum, { destinations }) =>
      sum +
      sumOf(
        destinations.filter(({ isOwn }) => isOwn),
        "resources",
      ),
    0,
  );
  const shared = (sharesEntry({ entries }) ? entry : 0) + Math.max(0, measured(cached.shared) - managed) * resource;
  return [...ofUnits, ofNobody, empty + shared + (canariesPerMinute === 0 ? 0 : CANARIES * application)];
}
