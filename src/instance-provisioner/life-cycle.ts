import { INSTANCE_STATES, type Instance, type InstanceState } from "../domain/instance.ts";

/** What can happen to an instance. */
export const INSTANCE_EVENTS = [
  "begin",
  "applied",
  "ready",
  "attemptFailed",
  "giveUp",
  "retry",
  "cordon",
  "uncordon",
  "drain",
  "retired",
] as const;
export type InstanceEvent = (typeof INSTANCE_EVENTS)[number];

type Row = Readonly<Record<InstanceEvent, InstanceState | undefined>>;

const NEVER: Row = {
  begin: undefined,
  applied: undefined,
  ready: undefined,
  attemptFailed: undefined,
  giveUp: undefined,
  retry: undefined,
  cordon: undefined,
  uncordon: undefined,
  drain: undefined,
  retired: undefined,
};

/** The state that each event leads to from each state. `undefined`: the event cannot happen there. */
export const LIFE_CYCLE: Readonly<Record<InstanceState, Row>> = {
  REQUESTED: { ...NEVER, begin: "CREATING", giveUp: "FAILED", drain: "DRAINING" },
  CREATING: { ...NEVER, applied: "WARMING", attemptFailed: "CREATING", giveUp: "FAILED", retry: "REQUESTED", drain: "DRAINING" },
  WARMING: { ...NEVER, ready: "ACTIVE", attemptFailed: "CREATING", giveUp: "FAILED", drain: "DRAINING" },
  ACTIVE: { ...NEVER, cordon: "CORDONED", drain: "DRAINING" },
  CORDONED: { ...NEVER, uncordon: "ACTIVE", drain: "DRAINING" },
  DRAINING: { ...NEVER, uncordon: "ACTIVE", retired: "RETIRED" },
  RETIRED: NEVER,
  FAILED: { ...NEVER, retry: "REQUESTED", drain: "DRAINING" },
};

/** The state that an event leads to. `undefined`: it cannot happen in this one. */
export function nextState(state: InstanceState, event: InstanceEvent): InstanceState | undefined {
  return LIFE_CYCLE[state][event];
}

const MINUTE = 60_000;

/**
 * How long an instance may stay in a state before something is done about it, in ms; `undefined`: for ever. Creating
 * is a few dozen writes, and ten minutes outlast the restart of an API server. Warming pulls two images, which takes
 * minutes on a new node. A failed creation is tried again twice an hour, because most causes pass: a quota, a
 * registry, a cluster.
 */
export const DEADLINES_MS: Readonly<Record<InstanceState, number | undefined>> = {
  REQUESTED: undefined,
  CREATING: 10 * MINUTE,
  WARMING: 10 * MINUTE,
  ACTIVE: undefined,
  CORDONED: undefined,
  DRAINING: undefined,
  RETIRED: undefined,
  FAILED: 30 * MINUTE,
};

/**
 * For how long pods may report that they cannot start before the attempt ends, in ms. Shorter than the deadline for
 * pods that report nothing, and long enough for a registry that is away for a moment.
 */
export const TROUBLED_MS = 2 * MINUTE;

/**
 * For how long pods may take to get ready with resources that their instance was given beyond its pool's, in ms. Its controller may not run meanwhile: no
 * longer than somebody takes who adds a node.
 */
export const RAISE_MS = 5 * MINUTE;

/** Failed attempts after which a creation is given up and the instance is FAILED. */
export const MAX_ATTEMPTS = 5;

/**
 * How long after the beginning of the creation an attempt may start, in ms: 0, 5 s, 20 s, 80 s, 320 s. It is counted
 * from a recorded time, so neither a restart nor an event in between makes attempts follow each other faster.
 */
export function attemptOffsetMs(attempt: number): number {
  return attempt === 0 ? 0 : 5_000 * 4 ** (Math.min(attempt, MAX_ATTEMPTS) - 1);
}

interface StateCount {
  readonly pool: string;
  readonly state: InstanceState;
  readonly instances: number;
}

/** Counts the instances of each pool by state, sorted by pool. Zeros are included, so that a gauge that fell to zero shows. */
export function countStates(instances: readonly Instance[]): readonly StateCount[] {
  const pools = [...new Set(instances.map((one) => one.pool))].sort();
  const states = INSTANCE_STATES.filter((state) => state !== "RETIRED");
  return pools.flatMap((pool) =>
    states.map((state) => ({ pool, state, instances: instances.filter((one) => one.pool === pool && one.state === state).length })),
  );
}
