import { withSize } from "../domain/capacity.ts";
import type { Clock } from "../domain/clock.ts";
import { isScaled } from "../domain/fleet.ts";
import type { Instance } from "../domain/instance.ts";
import { instanceIdOf } from "../domain/instance-name.ts";
import type { WorkResult } from "../runtime/keyed-queue.ts";
import type { FleetStore } from "../store/fleet/port.ts";
import type { LoadStore } from "../store/load/port.ts";
import type { Log } from "../telemetry/log.ts";
import { birthOf, instanceChangeOf, noteOf } from "./change.ts";
import { type InstanceRequest, type PoolFacts, type PoolPlan, planPool, planPoolRemoval, type Sent } from "./pool-plan.ts";

const LEAVING_MS = 5_000;

export interface PoolDeps {
  readonly fleet: FleetStore;
  readonly loads: Pick<LoadStore, "listSizes">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Gives a pool as many rows, of the size, as its declaration asks for, or as the scheduler has decided where it does not say. An undeclared pool is left alone until it is
 * removed on purpose. While an instance that is to leave still holds units, the pool is reconciled again soon,
 * because no event announces that the last unit has left.
 */
export type ReconcilePool = (pool: string, signal: AbortSignal) => Promise<WorkResult | void>;

export function createReconcilePool({ fleet, loads, clock, log }: PoolDeps): ReconcilePool {
  const add = async (request: InstanceRequest, signal: AbortSignal): Promise<void> => {
    const instance: Instance = { ...request, id: instanceIdOf(request.name), stateSince: clock.now(), revision: 1 };
    log.info({ instance: instance.name, pool: instance.pool, engineCluster: instance.engineCluster }, "Requesting an instance");
    // Another process may have added one of that name meanwhile, from the same declaration. That is fine.
    await fleet.insertInstance(instance, birthOf(instance), signal);
  };
  const send = async (event: "drain" | "cordon" | "uncordon", { instance, reason, cause }: Sent, signal: AbortSignal): Promise<void> => {
    log.info({ instance: instance.name, pool: instance.pool, event, reason }, "Changing an instance");
    const change = instanceChangeOf(instance, { event, reason, cause, attempt: 0, now: clock.now() });
    // An instance that has got a unit meanwhile is not drained: the next run sees that it holds one.
    await fleet.changeInstance(event === "drain" ? { ...change, onlyIfEmpty: true } : change, signal);
  };
  const read = async (name: string, signal: AbortSignal): Promise<PoolPlan | undefined> => {
    const declared = await fleet.readFleet(signal);
    const pool = declared?.spec.pools.find((one) => one.name === name);
    if (declared === undefined || (pool === undefined && !declared.pruned.includes(name))) return undefined;
    const instances = await fleet.listInstances(signal);
    const sizes = pool !== undefined && isScaled(pool) ? await loads.listSizes(signal) : {};
    const planFor = (units: PoolFacts["units"]): PoolPlan =>
      pool === undefined
        ? planPoolRemoval({ name, instances, units })
        : planPool({ pool: withSize(pool, sizes), fleet: declared.spec, instances, units });
    // Counting reads all units there are. What instances hold matters only where some are too many, and of a pool at rest none is.
    const ifEmpty = planFor(new Map());
    return ifEmpty.drain.length === 0 ? ifEmpty : planFor(await fleet.countUnits(signal));
  };
  const carryOut = async (plan: PoolPlan, signal: AbortSignal): Promise<void> => {
    for (const request of plan.request) await add(request, signal);
    for (const sent of plan.uncordon) await send("uncordon", sent, signal);
    for (const { instance, ...size } of plan.resize) {
      const note = noteOf(instance, { now: clock.now(), ...size });
      if (note !== undefined) await fleet.changeInstance(note, signal);
    }
    for (const sent of plan.drain) await send("drain", sent, signal);
    for (const sent of plan.cordon) await send("cordon", sent, signal);
  };
  return async (name, signal) => {
    const plan = await read(name, signal);
    if (plan === undefined) return;
    await carryOut(plan, signal);
    return plan.isWaiting ? { requeueAfterMs: LEAVING_MS } : undefined;
  };
}
