import type { Millis } from "../domain/clock.ts";
import type { FleetSpec } from "../domain/fleet.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { InstanceObservation, Rollout, Wave, WaveInstance } from "../domain/rollout.ts";

export interface RolloutFacts {
  readonly now: Millis;
  readonly rollout: Rollout;
  /** Rows of the fleet. */
  readonly instances: ReadonlyMap<InstanceId, Pick<Instance, "state" | "cause">>;
  /** Of instances that are watched; absent: their cluster gave no answer. */
  readonly observations: ReadonlyMap<InstanceId, InstanceObservation>;
  /** Of how many units each instance has something, those that live moves bring or take away included; absent: of none. */
  readonly units: ReadonlyMap<InstanceId, number>;
  /** Why a freeze holds; `undefined`: none does. */
  readonly freeze: string | undefined;
  readonly resyncMs: number;
  /** Releases that are declared; absent: nobody knows. */
  readonly released?: readonly string[];
}

export function waveOf({ waves, wave }: Pick<Rollout, "waves" | "wave">): Wave | undefined {
  return waves[wave];
}

export function withWave(rollout: Rollout, wave: Wave): Rollout {
  return { ...rollout, waves: rollout.waves.map((one, index) => (index === rollout.wave ? wave : one)) };
}

/** Instances that have left the fleet since it was planned hold nothing up. */
export function presentOf(
  { instances }: { readonly instances: ReadonlyMap<InstanceId, Pick<Instance, "state">> },
  wave: Pick<Wave, "instances">,
): readonly WaveInstance[] {
  return wave.instances.filter(({ id }) => ["ACTIVE", "CORDONED"].includes(instances.get(id)?.state ?? ""));
}

/**
 * Instances that tell how the present wave is: its own, and where waves are emptied, all before it too, for what the wave's units are served by
 * is there.
 */
export function watchedOf({ waves, wave, mode }: Pick<Rollout, "waves" | "wave" | "mode">): readonly WaveInstance[] {
  return waves.flatMap(({ instances }, index) => (index === wave || (mode === "drain" && index < wave) ? instances : []));
}

/** The release an instance of a rollout should have now; `undefined`: the rollout has nothing to say about it. What is watched goes back together. */
export function versionOf(rollout: Rollout, one: WaveInstance): string | undefined {
  const isWatched = watchedOf(rollout).some(({ id }) => id === one.id);
  if (one.askedAt === undefined) return undefined;
  if (isWatched) return rollout.ending === undefined ? rollout.version : one.from;
  return rollout.waves.slice(0, rollout.wave).some(({ instances }) => instances.some(({ id }) => id === one.id))
    ? rollout.version
    : undefined;
}

/** Who a rollout gives orders as. */
export function actorOf({ id }: Pick<Rollout, "id">): string {
  return `rollout ${id}`;
}

/** Whether a rollout keeps new units away from an instance now: from when it is emptied until it runs the release, or need not any more. */
export function isEmptied({ ending }: Pick<Rollout, "ending">, { emptyingSince, readyAt }: WaveInstance): boolean {
  return emptyingSince !== undefined && readyAt === undefined && ending === undefined;
}

/** Whether a person, or a freeze, has a rollout begin nothing new. */
export function standsStill({ state, isEmergency }: Pick<Rollout, "state" | "isEmergency">, freeze: string | undefined): boolean {
  return state === "PAUSED" || (freeze !== undefined && !isEmergency);
}

/** Whether an instance still is as a rollout made it that kept new units away. */
export function isHeldBy(rollout: Pick<Rollout, "id">, instance: Pick<Instance, "state" | "cause"> | undefined): boolean {
  return instance?.state === "CORDONED" && instance.cause?.code === "ROLLOUT" && instance.cause.rollout === rollout.id;
}

/** Argo CD's own time between two looks and its random part, where nothing is declared; in s. */
const DEFAULT_S = 120 + 60;

/** How long after a look Argo CD looks at an application again by itself at most, on instances of these pools, in ms. */
export function rolloutResyncOf(spec: FleetSpec | undefined, pools: readonly string[]): number {
  const seconds = pools.map((name) => {
    const engine = spec?.pools.find((pool) => pool.name === name)?.engine;
    return engine === undefined ? DEFAULT_S : engine.reconciliationSeconds + engine.reconciliationJitterSeconds;
  });
  return Math.max(...seconds, 1) * 1000;
}
