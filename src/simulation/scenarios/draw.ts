import type { Rng } from "../../domain/rng.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import type { Scenario, ScenarioTrouble } from "./schema.ts";

/** How often a run of a drawn scenario has each thing that it may have, 0 to 1. */
const SHARE = { anyOf: 0.5, trouble: 0.4, faults: 0.5, far: 0.3, manyServers: 0.4, slowNetwork: 0.4, webhook: 0.7 };
const SHORT_HOP_MS = 3;

/**
 * Draws what one run of a scenario consists of. The scenario says the most of everything; each seed takes some of it, and often none. Such
 * runs find faults that only a combination nobody has thought of shows (swarm testing: Groce and others, "Swarm Testing", ISSTA 2012).
 */
export function drawScenario(most: Scenario, seed: string | number): Scenario {
  const rng = createSeededRng(`${most.name} as of ${seed}`);
  const { users, moves, faults, troubles } = most;
  const far = has(rng, SHARE.far) ? number(rng, 1, most.far) : 0;
  const { create, ...others } = users;
  return {
    ...most,
    members: number(rng, 1, most.members),
    far,
    instances: far + number(rng, 2, most.instances - most.far),
    workspaces: number(rng, 1, most.workspaces),
    servers: has(rng, SHARE.manyServers) ? number(rng, 2, most.servers) : 1,
    hopMs: has(rng, SHARE.slowNetwork) ? number(rng, SHORT_HOP_MS, most.hopMs) : SHORT_HOP_MS,
    hasWebhook: has(rng, SHARE.webhook),
    activeSeconds: number(rng, most.activeSeconds / 2, most.activeSeconds),
    users: { create: number(rng, 1, create), ...some(rng, others) },
    moves: moves && some(rng, far > 0 ? moves : { ...moves, failOver: 0, redirect: 0 }),
    faults: faults && has(rng, SHARE.faults) ? { ...faults, ...rates(rng, faults) } : undefined,
    troubles: troubles.flatMap((trouble) => (has(rng, SHARE.trouble) && isPossible(trouble, far) ? [less(rng, trouble)] : [])),
  };
}

function isPossible({ kind }: ScenarioTrouble, far: number): boolean {
  return far > 0 || (kind !== "cut-off" && kind !== "lose-target");
}

function less(rng: Rng, trouble: ScenarioTrouble): ScenarioTrouble {
  return { ...trouble, times: number(rng, 1, trouble.times), longestSeconds: number(rng, 1, trouble.longestSeconds) };
}

function rates(rng: Rng, { before, afterEffect, error, delay }: NonNullable<Scenario["faults"]>) {
  const drawn = { before: before * rng.next(), afterEffect: afterEffect * rng.next() };
  return { ...drawn, error: error * rng.next(), delay: delay * rng.next() };
}

/** Of each kind none, or between one and the given number. */
function some<T extends Readonly<Record<string, number>>>(rng: Rng, counts: T): T {
  return Object.fromEntries(Object.entries(counts).map(([kind, most]) => [kind, has(rng, SHARE.anyOf) ? number(rng, 1, most) : 0])) as T;
}

function has(rng: Rng, share: number): boolean {
  return rng.next() < share;
}

/** A whole number between two, both of them possible. */
function number(rng: Rng, least: number, most: number): number {
  return most <= least ? most : Math.floor(least + rng.next() * (most - least + 1));
}
