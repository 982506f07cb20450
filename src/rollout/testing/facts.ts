import { type Millis, millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { InstanceObservation, ObservationCounts, Rollout } from "../../domain/rollout.ts";
import { AT, aRollout, aWaveInstance } from "../../store/testing/builders.ts";
import type { InstanceObservations } from "../port.ts";
import type { RolloutFacts } from "../waves.ts";

export const RESYNC_MS = 180_000;
const IDS = ["i-a", "i-b", "i-c"] as unknown as [InstanceId, InstanceId, InstanceId];
export const [A, B] = IDS;
const C = IDS[2];
const NAMES: Readonly<Record<string, string>> = { [A]: "one", [B]: "two", [C]: "three" };

export const aCount = (over: Partial<ObservationCounts> = {}): ObservationCounts => ({
  applications: 100,
  faulty: 0,
  strayed: 0,
  fresh: 100,
  ...over,
});

/** An instance that runs 3.5.7 without a fault, observed now. */
export function anObservation(now: Millis, over: Partial<InstanceObservation> = {}): InstanceObservation {
  return {
    ...{ at: now, runs: "3.5.7", crashes: [], outOfMemory: [], newestReconciledAt: millis(now - 1_000) },
    ...{ syncs: { done: 0, failed: 0 }, resynced: 0, pruned: 0 },
    ...aCount(),
    ...over,
  };
}

/** A rollout from 3.5.6 to 3.5.7: a canary, then two instances. */
export function aPlannedRollout(over: Partial<Rollout> = {}): Rollout {
  const wave = { bakeMs: 600_000, isExtended: false, isApproved: false };
  const one = (id: InstanceId) => aWaveInstance({ id, name: NAMES[id] ?? id });
  return aRollout({
    waves: [
      { name: "canary", instances: [one(A)], ...wave },
      { name: "100 %", instances: [one(B), one(C)], ...wave },
    ],
    ...over,
  });
}

/** Observations that are made anew each time. */
export const unwatched: Omit<InstanceObservations, "observe"> = { watchOnly: () => undefined, rest: async () => undefined };

export function someFacts(over: Partial<RolloutFacts> = {}): RolloutFacts {
  const now = over.now ?? AT;
  const serving = { state: "ACTIVE", cause: undefined } as const;
  return {
    ...{ now, rollout: aPlannedRollout(), freeze: undefined, resyncMs: RESYNC_MS, units: new Map() },
    instances: new Map([A, B, C].map((id) => [id, serving] as const)),
    observations: new Map([A, B, C].map((id) => [id, anObservation(now, { runs: "3.5.6" })] as const)),
    ...over,
  };
}
