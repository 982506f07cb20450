import type { Clock } from "../../domain/clock.ts";
import type { Ids } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { FleetStore } from "../../store/fleet/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { birthOf, changeOf, noteOf } from "../change.ts";
import type { InstanceRequest } from "../pool-plan.ts";
import { planPool, SURPLUS } from "../pool-plan.ts";

export interface PoolControllerDeps {
  readonly fleet: FleetStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

export interface PoolController {
  /** Makes the pool's rows as many and as large as its declaration asks for; a pool that is not declared is left alone. */
  reconcile(pool: string, signal: AbortSignal): Promise<void>;
}

export function createPoolController({ fleet, clock, ids, log }: PoolControllerDeps): PoolController {
  const add = async (request: InstanceRequest, signal: AbortSignal): Promise<void> => {
    const instance: Instance = { ...request, id: ids.next(), stateSince: clock.now(), revision: 1 };
    log.info({ instance: instance.name, pool: instance.pool, engineCluster: instance.engineCluster }, "Requesting an instance");
    // Somebody else who added one of that name was as right as we are.
    await fleet.insertInstance(instance, birthOf(instance), signal);
  };
  const send = async (
    instance: Instance,
    what: { readonly event: "drain" | "keep"; readonly reason: string },
    signal: AbortSignal,
  ): Promise<void> => {
    log.info({ instance: instance.name, pool: instance.pool, ...what }, "Changing an instance");
    await fleet.changeInstance(changeOf(instance, { ...what, attempt: 0, now: clock.now() }), signal);
  };
  return {
    async reconcile(name, signal) {
      const spec = (await fleet.readFleet(signal))?.spec;
      const pool = spec?.pools.find((one) => one.name === name);
      if (spec === undefined || pool === undefined) return;
      const plan = planPool({ pool, fleet: spec, instances: await fleet.listInstances(signal), units: await fleet.countUnits(signal) });
      for (const request of plan.request) await add(request, signal);
      for (const instance of plan.keep)
        await send(instance, { event: "keep", reason: "it was given a unit before it could leave" }, signal);
      for (const { instance, ...size } of plan.resize) {
        const note = noteOf(instance, { now: clock.now(), ...size });
        if (note !== undefined) await fleet.changeInstance(note, signal);
      }
      for (const instance of plan.drain) await send(instance, { event: "drain", reason: SURPLUS }, signal);
    },
  };
}
