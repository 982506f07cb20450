import type { Millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Rollout } from "../domain/rollout.ts";
import type { Emptying } from "./port.ts";
import { actorOf, isEmptied, isHeldBy, presentOf, standsStill, watchedOf } from "./waves.ts";

/** How often what an instance still holds is planned anew, in ms: moves take longer. */
const AGAIN_MS = 30_000;

/** Has what instances of a rollout hold handed over as long as they are to be emptied, and no longer; nothing while it stands still. */
export type EmptyInstances = (
  facts: {
    readonly rollout: Rollout;
    readonly rows: ReadonlyMap<InstanceId, Instance>;
    /** Why a freeze holds; `undefined`: none does. */
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
      const isWanted = goesOn && isEmptied(rollout, one);
      if (!isWanted && isHeldBy(rollout, instance)) await emptying.giveUp(instance, actor, signal);
      if (!isWanted || now - (plannedAt.get(one.id) ?? 0) < AGAIN_MS) continue;
      plannedAt.set(one.id, now);
      await emptying.carryOn(instance, rollout.version, actor, signal);
    }
  };
}
