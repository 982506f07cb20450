import type { EnvironmentOwnerBindings, VisitEnd } from "../../workspace/environment/port.ts";

const AWAY: VisitEnd = { kind: "away", why: "simulated users have no clusters of their own" };

/** Nobody in the simulated fleet deploys to an environment: a move that asked for one would never end. */
export const noEnvironments: EnvironmentOwnerBindings = {
  prepare: async () => AWAY,
  hand: async () => AWAY,
  endReading: async () => undefined,
  ask: async () => [],
  clear: async () => AWAY,
  isKnown: async () => false,
};
