import { INSTANCE_STATES, type Instance, type InstanceState } from "../domain/instance.ts";

export interface StateCount {
  readonly pool: string;
  readonly state: InstanceState;
  readonly instances: number;
}

/** How many instances of each pool are in each state; zeros are told too, so that a number that fell to nothing shows. Sorted by pool. */
export function countStates(instances: readonly Instance[]): readonly StateCount[] {
  const pools = [...new Set(instances.map((one) => one.pool))].sort();
  const states = INSTANCE_STATES.filter((state) => state !== "RETIRED");
  return pools.flatMap((pool) =>
    states.map((state) => ({ pool, state, instances: instances.filter((one) => one.pool === pool && one.state === state).length })),
  );
}
