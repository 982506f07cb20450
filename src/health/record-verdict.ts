import { type Clock, type Millis, millis } from "../domain/clock.ts";
import type { EngineSettings, FleetSpec } from "../domain/fleet.ts";
import type { InstanceVerdict, Signals } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { CanarySource } from "../domain/probed.ts";
import { isRaiseUnderWay } from "../domain/raised-resources.ts";
import type { HealthRecord, HealthWindow } from "../store/health/port.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import { changedDecision } from "./decisions.ts";
import { known, type Workers } from "./derive-signals.ts";
import type { Taken } from "./filler.ts";
import { isAtRest, judgeHealth, nextVerdict, PERIODS_AT_REST, windowMs } from "./judge.ts";
import { nextBaseline, ratioToBaseline } from "./next-baseline.ts";
import { NO_MEMORY, observeInstance, observeRepoServers, type ProbeMemory } from "./observe-instance.ts";
import type { FindProcesses, OpenNamespace } from "./port.ts";
import type { HealthSettings } from "./rules.ts";

export interface ProbeDeps {
  readonly store: Pick<Store, "health">;
  readonly findProcesses: FindProcesses;
  readonly openNamespace: OpenNamespace;
  readonly periodMs: number;
  readonly graceMs: number;
  readonly overloadMs: number;
  /** Absent: canaries are switched off. */
  readonly canary: CanarySource | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Probes {
  /** Whether it is time to probe an instance, a period after it was last asked: one that is at rest is probed every second period. */
  isDue(id: InstanceId): boolean;
  /** Probes an instance once and judges it. A verdict that is another than before is recorded at once, any other with the next `record`. */
  probeInstance(instance: Instance, fleet: FleetSpec | undefined, signal: AbortSignal): Promise<InstanceVerdict>;
  /** Observes what an instance's repo-servers are at, between two probes. Nothing is judged or recorded. */
  observeRepoServers(instance: Instance, signal: AbortSignal): Promise<void>;
  /** What each repository took of an instance's repo-servers lately. Nothing before its first probe here. */
  takenOf(id: InstanceId): Taken;
  /** Records what was observed since the last time: one statement, however many instances that is about. */
  record(signal: AbortSignal): Promise<void>;
  /** Counts the troubled units of these instances, when that is due, and forgets all other instances. */
  keep(ids: readonly InstanceId[], signal: AbortSignal): Promise<void>;
}

/** How often troubled units are counted, in ms. Rows do not change more often than reconcilers report. */
const TROUBLES_EACH_MS = 60_000;

interface Memory {
  readonly probe: ProbeMemory;
  /**
   * What is recorded of the instance, and what will be. Absent: it has to be read, because this process has just begun to probe the instance, or could not
   * record what is new. Nobody else probes it meanwhile, or for a moment only.
   */
  readonly window: HealthWindow | undefined;
  /** The latest probe. `atMs`: of a monotonic clock. Absent: there was none here. */
  readonly latest: { readonly atMs: number; readonly isAtRest: boolean } | undefined;
}

const FIRST: Memory = { probe: NO_MEMORY, window: undefined, latest: undefined };
const UNTROUBLED: Signals = { troubledUnits: 0 };

/** Probes instances one at a time: derives a sample, judges the window, and sees to it that both are recorded. */
export function createProbes(deps: ProbeDeps): Probes {
  const { store, clock, log, periodMs, graceMs, overloadMs, canary } = deps;
  const memories = new Map<string, Memory>();
  /** Observations that are to be recorded: none of them says anything that the one before did not. */
  const unrecorded: HealthRecord[] = [];
  let troubles:
    | { readonly of: ReadonlyMap<InstanceId, Signals>; readonly counted: ReadonlySet<InstanceId>; readonly at: Millis }
    | undefined;

  const probeInstance: Probes["probeInstance"] = async (instance, fleet, signal) => {
    const { id, name, version, desiredVersion, pool } = instance;
    const { workers, timing } = engineOf(fleet, pool);
    const settings = { ...timing, graceMs, overloadMs };
    const signals = await observe(instance, workers, signal);
    const at = clock.now();
    const keepSince = millis(at - windowMs(settings));
    const window = memories.get(id)?.window ?? (await store.health.readWindow(id, keepSince, signal));
    const { verdict: before } = window;
    const isChanging = Number(version !== desiredVersion || isRaiseUnderWay(instance));
    const reconcileRatio = ratioToBaseline(before?.baseline, signals);
    const sample = { at, signals: known({ ...signals, isChanging, reconcileRatio }) };
    const samples = [...window.samples.filter((each) => each.at >= keepSince), sample];
    const judged = judgeHealth({ now: at, samples, periodMs, settings, before: before?.cause });
    const verdict = nextVerdict(before, judged, { instanceId: id, at, baseline: nextBaseline(before?.baseline, signals, graceMs) });
    const decision = changedDecision(before, verdict);
    const observation = { sample, verdict, keepSince, decision };
    if (before !== undefined && decision === undefined) unrecorded.push(observation);
    else await recordChanged(observation, signal);
    remember(id, {
      window: { samples, verdict },
      latest: { atMs: clock.monotonicMs(), isAtRest: isAtRest({ now: at, samples, settings }, verdict) },
    });
    if (decision !== undefined)
      log.info({ instance: name, state: verdict.state, cause: verdict.cause, text: verdict.text }, "Judging an instance anew");
    return verdict;
  };

  /** Whether it was recorded is not known after a failure: what is there is read then. */
  async function recordChanged(observation: HealthRecord, signal: AbortSignal): Promise<void> {
    remember(observation.verdict.instanceId, { window: undefined });
    await store.health.record([observation], signal);
  }

  const remember = (id: InstanceId, more: Partial<Memory>): void => void memories.set(id, { ...(memories.get(id) ?? FIRST), ...more });

  /** The signals of the instance's processes, of its namespace, and of the rows of its applications. */
  async function observe(instance: Instance, workers: Workers, signal: AbortSignal): Promise<Signals> {
    const memory = memories.get(instance.id) ?? FIRST;
    const seen = await observeInstance(deps, { at: instance, workers, canary }, memory.probe, signal);
    remember(instance.id, { probe: seen.memory });
    return { ...seen.signals, ...(troubles?.of.get(instance.id) ?? UNTROUBLED) };
  }

  async function countTroubles(ids: readonly InstanceId[], signal: AbortSignal): Promise<void> {
    const [before, at] = [troubles, clock.now()];
    if (before !== undefined && at - before.at < TROUBLES_EACH_MS && ids.every((id) => before.counted.has(id))) return;
    const found = ids.length === 0 ? [] : await store.health.listTroubles(ids, signal);
    const of = new Map(found.map(({ instanceId, units, troubledUnits }) => [instanceId, { units, troubledUnits }]));
    troubles = { of, counted: new Set(ids), at };
  }

  return {
    isDue(id) {
      const { latest } = memories.get(id) ?? FIRST;
      // Half a period early: no two surveys are exactly one period apart.
      return latest === undefined || !latest.isAtRest || clock.monotonicMs() - latest.atMs > (PERIODS_AT_REST - 0.5) * periodMs;
    },
    probeInstance,
    async observeRepoServers(instance, signal) {
      const memory = memories.get(instance.id);
      if (memory === undefined) return;
      remember(instance.id, { probe: await observeRepoServers(deps, instance, memory.probe, signal) });
    },
    takenOf(id) {
      const { probe } = memories.get(id) ?? FIRST;
      return { disk: probe.fetched.seconds, memory: probe.ended.ends };
    },
    async record(signal) {
      const observations = unrecorded.splice(0);
      try {
        await store.health.record(observations, signal);
      } catch (error) {
        unrecorded.unshift(...observations);
        throw error;
      }
    },
    async keep(ids, signal) {
      const kept = new Set<string>(ids);
      for (const id of memories.keys()) if (!kept.has(id)) memories.delete(id);
      await countTroubles(ids, signal);
    },
  };
}

/** Argo CD's defaults, for a pool that is not declared any more. */
const OWN: Pick<EngineSettings, "statusProcessors" | "operationProcessors" | "reconciliationSeconds" | "reconciliationJitterSeconds"> = {
  statusProcessors: 20,
  operationProcessors: 10,
  reconciliationSeconds: 120,
  reconciliationJitterSeconds: 60,
};

/** How many workers the instances of a pool have, and how often they compare an application by themselves. */
function engineOf(
  fleet: FleetSpec | undefined,
  pool: string,
): { readonly workers: Workers; readonly timing: Pick<HealthSettings, "resyncS" | "jitterS"> } {
  const engine = fleet?.pools.find(({ name }) => name === pool)?.engine ?? OWN;
  const { statusProcessors, operationProcessors, reconciliationSeconds: resyncS, reconciliationJitterSeconds: jitterS } = engine;
  return { workers: { statusProcessors, operationProcessors }, timing: { resyncS, jitterS } };
}
