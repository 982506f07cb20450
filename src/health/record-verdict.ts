import { type Clock, type Millis, millis } from "../domain/clock.ts";
import type { EngineSettings, FleetSpec } from "../domain/fleet.ts";
import type { InstanceVerdict, Signals } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { CanarySource } from "../domain/probed.ts";
import { isRaiseUnderWay } from "../domain/raised-resources.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import { changedDecision } from "./decisions.ts";
import { known, type Workers } from "./derive-signals.ts";
import type { Taken } from "./filler.ts";
import { judgeHealth, nextVerdict, windowMs } from "./judge.ts";
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
  /** Probes an instance once, judges it, and records the sample and the verdict. */
  probeInstance(instance: Instance, fleet: FleetSpec | undefined, signal: AbortSignal): Promise<InstanceVerdict>;
  /** Observes what an instance's repo-servers are at, between two probes. Nothing is judged or recorded. */
  observeRepoServers(instance: Instance, signal: AbortSignal): Promise<void>;
  /** What each repository took of an instance's repo-servers lately. Nothing before its first probe here. */
  takenOf(id: InstanceId): Taken;
  /** Forgets all other instances. */
  keep(ids: readonly string[]): void;
}

/**
 * How often troubled units are counted, in ms. Rows do not change more often than reconcilers report, and counting
 * reads every application of the instance.
 */
const TROUBLES_EACH_MS = 60_000;

interface Memory {
  readonly probe: ProbeMemory;
  readonly troubles: { readonly units: number; readonly troubledUnits: number };
  /** Absent: not counted yet. */
  readonly countedAt: Millis | undefined;
}

const FIRST: Memory = { probe: NO_MEMORY, troubles: { units: 0, troubledUnits: 0 }, countedAt: undefined };

/** Probes instances one at a time: derives a sample, judges the window, records both. */
export function createProbes(deps: ProbeDeps): Probes {
  const { store, clock, log, periodMs, graceMs, overloadMs, canary } = deps;
  const memories = new Map<string, Memory>();

  const probeInstance: Probes["probeInstance"] = async (instance, fleet, signal) => {
    const { id, name, version, desiredVersion, pool } = instance;
    const { workers, timing } = engineOf(fleet, pool);
    const settings = { ...timing, graceMs, overloadMs };
    const signals = await observe(instance, workers, signal);
    const at = clock.now();
    const keepSince = millis(at - windowMs(settings));
    const { samples, verdict: before } = await store.health.readWindow(id, keepSince, signal);
    const isChanging = Number(version !== desiredVersion || isRaiseUnderWay(instance));
    const reconcileRatio = ratioToBaseline(before?.baseline, signals);
    const sample = { at, signals: known({ ...signals, isChanging, reconcileRatio }) };
    const judged = judgeHealth({ now: at, samples: [...samples, sample], periodMs, settings, before: before?.cause });
    const verdict = nextVerdict(before, judged, { instanceId: id, at, baseline: nextBaseline(before?.baseline, signals, graceMs) });
    const decision = changedDecision(before, verdict);
    await store.health.record({ sample, verdict, keepSince, decision }, signal);
    if (decision !== undefined)
      log.info({ instance: name, state: verdict.state, cause: verdict.cause, text: verdict.text }, "Judging an instance anew");
    return verdict;
  };

  /** The signals of the instance's processes, of its namespace, and of the rows of its applications. */
  async function observe(instance: Instance, workers: Workers, signal: AbortSignal): Promise<Signals> {
    const memory = memories.get(instance.id) ?? FIRST;
    const seen = await observeInstance(deps, { at: instance, workers, canary }, memory.probe, signal);
    const counted = await countTroubles(instance, memory, signal);
    memories.set(instance.id, { ...counted, probe: seen.memory });
    return { ...seen.signals, ...counted.troubles };
  }

  async function countTroubles({ id }: Instance, memory: Memory, signal: AbortSignal): Promise<Omit<Memory, "probe">> {
    if (memory.countedAt !== undefined && clock.now() - memory.countedAt < TROUBLES_EACH_MS) return memory;
    const { units, troubled } = await store.health.readTroubles(id, signal);
    return { troubles: { units, troubledUnits: troubled.length }, countedAt: clock.now() };
  }

  return {
    probeInstance,
    async observeRepoServers(instance, signal) {
      const memory = memories.get(instance.id);
      if (memory === undefined) return;
      memories.set(instance.id, { ...memory, probe: await observeRepoServers(deps, instance, memory.probe, signal) });
    },
    takenOf(id) {
      const { probe } = memories.get(id) ?? FIRST;
      return { disk: probe.fetched.seconds, memory: probe.ended.ends };
    },
    keep(ids) {
      for (const id of memories.keys()) if (!ids.includes(id)) memories.delete(id);
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
