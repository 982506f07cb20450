import type { Millis } from "../domain/clock.ts";
import type { HealthSample } from "../domain/health.ts";
import type { InstanceObservation, Rollout, SyncCounts, Wave, WaveInstance } from "../domain/rollout.ts";
import { shutGate, type Upgraded } from "./judge/gates.ts";
import { judgeSyncs } from "./judge/sequential.ts";
import { presentOf, type RolloutFacts, watchedOf } from "./waves.ts";

export interface RolloutFailure {
  readonly gate: string;
  readonly text: string;
  readonly since: Millis;
  /** Whether it counts: it needs no time to be certain, or it has lasted for its time. */
  readonly isCertain: boolean;
}

/** What speaks against the present wave. `undefined`: nothing. */
export function failureOf(facts: RolloutFacts, wave: Wave): RolloutFailure | undefined {
  const { now, rollout, resyncMs } = facts;
  const shut = shutGate({ version: rollout.version, upgraded: upgradedOf(facts), resyncMs });
  if (shut !== undefined) {
    const since = wave.suspect?.gate === shut.gate ? wave.suspect.since : now;
    return { gate: shut.gate, text: shut.text, since, isCertain: now - since >= shut.persistenceMs };
  }
  const syncs = syncsOf(rollout);
  if (judgeSyncs(syncs) !== "fail") return undefined;
  return { gate: "SYNCS", text: `${syncs.failed} of ${syncs.done} syncs failed`, since: now, isCertain: true };
}

/**
 * The watched instances that the rollout has begun with, as they were before and as they are. One that is being emptied
 * counts too, with what it still holds: so everything its units had before is compared with all that became of it.
 */
export function upgradedOf(facts: RolloutFacts): readonly Upgraded[] {
  const { now, observations, rollout } = facts;
  return presentOf(facts, { instances: watchedOf(rollout) }).flatMap(({ id, name, askedAt, readyAt, baseline }) => {
    if (baseline === undefined) return [];
    const readyMsAgo = readyAt === undefined ? undefined : now - readyAt;
    return [{ name, askedMsAgo: now - (askedAt ?? now), readyMsAgo, baseline, observation: observations.get(id) }];
  });
}

/** Whether its controller has compared an application since it was ready in the new release. True without applications. */
export function hasCompared({ observations }: RolloutFacts, { id, readyAt }: WaveInstance): boolean {
  const observation = observations.get(id);
  if (observation === undefined || readyAt === undefined) return false;
  return observation.applications === 0 || (observation.newestReconciledAt !== undefined && observation.newestReconciledAt > readyAt);
}

/** The syncs of all instances that have got the release, as last counted. */
export function syncsOf({ waves }: Pick<Rollout, "waves">): SyncCounts {
  const all = waves.flatMap(({ instances }) => instances.flatMap(({ syncs }) => syncs ?? []));
  return { done: all.reduce((total, { done }) => total + done, 0), failed: all.reduce((total, { failed }) => total + failed, 0) };
}

/** Takes over what was observed: since when instances are ready, and how many syncs were made and failed. */
export function remember({ rollout, observations, now }: RolloutFacts): Rollout {
  if (rollout.ending !== undefined) return rollout;
  const watched = new Set(watchedOf(rollout).map(({ id }) => id));
  const remembered = (one: WaveInstance): WaveInstance => {
    const observation = observations.get(one.id);
    if (!watched.has(one.id) || observation === undefined || one.askedAt === undefined) return one;
    const isReady = one.readyAt === undefined && observation.runs === rollout.version;
    const { lastOf: _last, countedBy: _by, ...syncs } = observation.syncs;
    return { ...one, syncs, ...(isReady ? { readyAt: now } : {}) };
  };
  return { ...rollout, waves: rollout.waves.map((wave) => ({ ...wave, instances: wave.instances.map(remembered) })) };
}

/**
 * How long after its start a controller is busy with comparing everything, in ms: two minutes with 700 applications
 * (ADR 0027). Canaries have to wait for that.
 */
const BUSY_MS = 120_000;
/** A single sample may be an accident. */
const FEWEST_SAMPLES = 3;
/** How old a sample may be, in ms: time for three samples a minute apart and one that was missed. */
const RECENT_MS = 300_000;

/** From when on samples say something at `at`: older ones do not count. */
export function canariesSince({ at, readyAt }: { readonly at: Millis; readonly readyAt: Millis }): Millis {
  return Math.max(readyAt, at - RECENT_MS) as Millis;
}

/**
 * How long canaries of an instance wait, by the quickest of its latest samples. Absent before the instance has
 * settled, and without canaries.
 */
export function canaryLatency(
  samples: readonly HealthSample[],
  { now, readyAt }: { readonly now: Millis; readonly readyAt: Millis },
): Pick<InstanceObservation, "canaryLatencyMs"> {
  const isRecent = ({ at }: HealthSample): boolean => at >= readyAt + BUSY_MS && at <= now && now - at <= RECENT_MS;
  const waits = samples.filter(isRecent).flatMap(({ signals }) => signals.canaryS ?? []);
  return waits.length < FEWEST_SAMPLES ? {} : { canaryLatencyMs: Math.min(...waits.slice(-FEWEST_SAMPLES)) * 1_000 };
}
