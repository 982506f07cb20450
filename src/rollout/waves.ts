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
  /** By watched instance. Absent: its cluster did not answer. */
  readonly observations: ReadonlyMap<InstanceId, InstanceObservation>;
  /** How many units have anything on each instance, those that live moves bring or take away included. Absent: none. */
  readonly units: ReadonlyMap<InstanceId, number>;
  /** Why a freeze holds. `undefined`: there is none. */
  readonly freeze: string | undefined;
  readonly resyncMs: number;
  /** Releases of the catalogue. Absent: no fleet is declared. */
  readonly released?: readonly string[];
}

export function waveOf({ waves, wave }: Pick<Rollout, "waves" | "wave">): Wave | undefined {
  return waves[wave];
}

export function withWave(rollout: Rollout, wave: Wave): Rollout {
  return { ...rollout, waves: rollout.waves.map((one, index) => (index === rollout.wave ? wave : one)) };
}

/** The instances that still serve. Those that have left the fleet since the planning do not hold the rollout up. */
export function presentOf(
  { instances }: { readonly instances: ReadonlyMap<InstanceId, Pick<Instance, "state">> },
  wave: Pick<Wave, "instances">,
): readonly WaveInstance[] {
  return wave.instances.filter(({ id }) => ["ACTIVE", "CORDONED"].includes(instances.get(id)?.state ?? ""));
}

/**
 * The instances that show how the present wave is doing: its own, and where instances are emptied also those of all
 * waves before, because they hold the units that the wave's instances had.
 */
export function watchedOf({ waves, wave, mode }: Pick<Rollout, "waves" | "wave" | "mode">): readonly WaveInstance[] {
  return waves.flatMap(({ instances }, index) => (index === wave || (mode === "drain" && index < wave) ? instances : []));
}

/**
 * The release that an instance should have now. `undefined`: the rollout does not say. All watched instances are
 * rolled back together.
 */
export function versionOf(rollout: Rollout, one: WaveInstance): string | undefined {
  const isWatched = watchedOf(rollout).some(({ id }) => id === one.id);
  if (one.askedAt === undefined) return undefined;
  if (isWatched) return rollout.ending === undefined ? rollout.version : one.from;
  return rollout.waves.slice(0, rollout.wave).some(({ instances }) => instances.some(({ id }) => id === one.id))
    ? rollout.version
    : undefined;
}

/** The actor of a rollout's orders. */
export function actorOf({ id }: Pick<Rollout, "id">): string {
  return `rollout ${id}`;
}

/**
 * Whether a rollout keeps an instance cordoned now: from when it begins to be emptied until it runs the release, or
 * the rollout is ending.
 */
export function isBeingEmptied({ ending }: Pick<Rollout, "ending">, { emptyingSince, readyAt }: WaveInstance): boolean {
  return emptyingSince !== undefined && readyAt === undefined && ending === undefined;
}

/** Whether the rollout begins nothing new, because a person has paused it or a freeze holds. */
export function standsStill({ state, isEmergency }: Pick<Rollout, "state" | "isEmergency">, freeze: string | undefined): boolean {
  return state === "PAUSED" || (freeze !== undefined && !isEmergency);
}

/** Whether an instance is still cordoned by this rollout. */
export function isCordonedBy(rollout: Pick<Rollout, "id">, instance: Pick<Instance, "state" | "cause"> | undefined): boolean {
  return instance?.state === "CORDONED" && instance.cause?.code === "ROLLOUT" && instance.cause.rollout === rollout.id;
}

/** Argo CD's own time between two comparisons with its random part, for pools that are not declared, in s. */
const DEFAULT_S = 120 + 60;

/**
 * How long after a comparison Argo CD compares an application again by itself at the latest, on instances of these
 * pools, in ms.
 */
export function rolloutResyncOf(spec: FleetSpec | undefined, pools: readonly string[]): number {
  const seconds = pools.map((name) => {
    const engine = spec?.pools.find((pool) => pool.name === name)?.engine;
    return engine === undefined ? DEFAULT_S : engine.reconciliationSeconds + engine.reconciliationJitterSeconds;
  });
  return Math.max(...seconds, 1) * 1000;
}
