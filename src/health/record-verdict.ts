import { type Clock, type Millis, millis } from "../domain/clock.ts";
import type { EngineSettings, FleetSpec } from "../domain/fleet.ts";
import type { InstanceVerdict } from "../domain/health.ts";
import type { Instance } from "../domain/instance.ts";
import type { CanarySource } from "../domain/probed.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import { changedDecision } from "./decisions.ts";
import { known, type Workers } from "./derive-signals.ts";
import { judge, nextVerdict, windowMs } from "./judge.ts";
import { nextBaseline, ratioToBaseline } from "./next-baseline.ts";
import { NO_MEMORY, observeInstance, type ProbeMemory } from "./observe-instance.ts";
import type { FindProcesses, OpenNamespace } from "./port.ts";
import type { HealthSettings } from "./rules.ts";

export interface LookDeps {
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

export interface Looks {
  /** Observes an instance once, judges it, and records what was seen and what that means. */
  lookAt(instance: Instance, fleet: FleetSpec | undefined, signal: AbortSignal): Promise<InstanceVerdict>;
  /** Forgets instances that are not among these. */
  keep(ids: readonly string[]): void;
}

/** Rows change no sooner than reconcilers report, and counting them reads every application of an instance. In ms. */
const TROUBLES_EACH_MS = 60_000;

interface Memory {
  readonly probe: ProbeMemory;
  readonly troubles: { readonly units: number; readonly troubledUnits: number };
  /** Absent: nobody has counted yet. */
  readonly countedAt: Millis | undefined;
}

const FIRST: Memory = { probe: NO_MEMORY, troubles: { units: 0, troubledUnits: 0 }, countedAt: undefined };

/** The steps with one instance: observe it, judge it by the samples of the window, record both. */
export function createLooks(deps: LookDeps): Looks {
  const { store, clock, log, periodMs, graceMs, overloadMs, canary } = deps;
  const memories = new Map<string, Memory>();

  const countTroubles = async ({ id }: Instance, memory: Memory, signal: AbortSignal): Promise<Omit<Memory, "probe">> => {
    if (memory.countedAt !== undefined && clock.now() - memory.countedAt < TROUBLES_EACH_MS) return memory;
    const { units, troubled } = await store.health.readTroubles(id, signal);
    return { troubles: { units, troubledUnits: troubled.length }, countedAt: clock.now() };
  };
  return {
    async lookAt(instance, fleet, signal) {
      const { id, name, version, desiredVersion, pool } = instance;
      const memory = memories.get(id) ?? FIRST;
      const { workers, timing } = engineOf(fleet, pool);
      const seen = await observeInstance(deps, { at: instance, workers, canary }, memory.probe, signal);
      const counted = await countTroubles(instance, memory, signal);
      memories.set(id, { ...counted, probe: seen.memory });
      const at = clock.now();
      const settings = { ...timing, graceMs, overloadMs };
      const keepSince = millis(at - windowMs(settings));
      const { samples, verdict: before } = await store.health.readWindow(id, keepSince, signal);
      const more = { isChanging: Number(version !== desiredVersion), reconcileRatio: ratioToBaseline(before?.baseline, seen.signals) };
      const sample = { at, signals: known({ ...seen.signals, ...counted.troubles, ...more }) };
      const judged = judge({ now: at, samples: [...samples, sample], periodMs, settings, before: before?.cause });
      const verdict = nextVerdict(before, judged, { instanceId: id, at, baseline: nextBaseline(before?.baseline, seen.signals, graceMs) });
      const changed = changedDecision(before, verdict);
      await store.health.record({ sample, verdict, keepSince, decision: changed }, signal);
      if (changed !== undefined)
        log.info({ instance: name, state: verdict.state, cause: verdict.cause, text: verdict.text }, "Judging an instance anew");
      return verdict;
    },
    keep(ids) {
      for (const id of memories.keys()) if (!ids.includes(id)) memories.delete(id);
    },
  };
}

/** Argo CD's own, where a pool is not declared any more. */
const OWN: Pick<EngineSettings, "statusProcessors" | "operationProcessors" | "reconciliationSeconds" | "reconciliationJitterSeconds"> = {
  statusProcessors: 20,
  operationProcessors: 10,
  reconciliationSeconds: 120,
  reconciliationJitterSeconds: 60,
};

/** How many workers the instances of a pool have, and how often they look at an application by themselves. */
function engineOf(
  fleet: FleetSpec | undefined,
  pool: string,
): { readonly workers: Workers; readonly timing: Pick<HealthSettings, "resyncS" | "jitterS"> } {
  const engine = fleet?.pools.find(({ name }) => name === pool)?.engine ?? OWN;
  const { statusProcessors, operationProcessors, reconciliationSeconds: resyncS, reconciliationJitterSeconds: jitterS } = engine;
  return { workers: { statusProcessors, operationProcessors }, timing: { resyncS, jitterS } };
}
