import type { Millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Rollout } from "../domain/rollout.ts";
import type { Emptying } from "./port.ts";
import { actorOf, isBeingEmptied, isCordonedBy, presentOf, standsStill, watchedOf } from "./waves.ts";

/** How often moves for what an instance still holds are requested again, in ms. Moves take longer than that. */
const AGAIN_MS = 30_000;

/**
 * Requests moves away from instances that are to be emptied for the rollout, and withdraws waiting ones where that
 * has ended. While the rollout is paused or a freeze holds, none are requested.
 */
export type EmptyInstances = (
  facts: {
    readonly rollout: Rollout;
    readonly rows: ReadonlyMap<InstanceId, Instance>;
    /** Why a freeze holds. `undefined`: there is none. */
    readonly freeze: string | undefined;
    readonly now: Millis;
  },
  signal: AbortSignal,
) => Promise<void>;

export function createEmptyInstances(emptying: Emptying): EmptyInstances {
  const plannedAt = new Map<InstanceId, Millis>();
  return async ({ rollout, rows, freeze, now }, signal) => {
    const actor = actorOf(rollout);
    const goesOn = !standsStill(rollout, freeze);
    const unasked = watchedOf(rollout).filter(({ askedAt }) => askedAt === undefined);
    for (const one of presentOf({ instances: rows }, { instances: unasked })) {
      const instance = rows.get(one.id);
      if (instance === undefined) continue;
      const isWanted = goesOn && isBeingEmptied(rollout, one);
      if (!isWanted && isCordonedBy(rollout, instance)) await emptying.giveUp(instance, actor, signal);
      if (!isWanted || now - (plannedAt.get(one.id) ?? 0) < AGAIN_MS) continue;
      plannedAt.set(one.id, now);
      await emptying.carryOn(instance, rollout.version, actor, signal);
    }
  };
}
