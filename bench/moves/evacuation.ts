import type { InstanceId, UnitId } from "../../src/domain/ids.ts";
import type { Instance, InstanceState } from "../../src/domain/instance.ts";
import { createMoveRequests } from "../../src/mover/request-moves.ts";
import { disagreements } from "../../src/simulation/checkers/settled.ts";
import { type Fleet, startFleet } from "../../src/simulation/fleet/fleet.ts";
import { photograph } from "../../src/simulation/fleet/photograph.ts";
import { createUsers } from "../../src/simulation/fleet/users.ts";
import { createHistory, type Entry } from "../../src/simulation/history.ts";
import { createFailpoints } from "../../src/simulation/world/failpoints.ts";
import { createNetwork } from "../../src/simulation/world/network.ts";
import { createDrawnIds } from "../../src/simulation/world/party.ts";
import { createWorld } from "../../src/simulation/world/world.ts";

export interface EvacuationOptions {
  /** Workspaces on the instance that is emptied, with one deployment each. */
  readonly units: number;
  /** Instances they go to, in turns. */
  readonly targets: number;
  readonly seed: number;
  /** How long one comparison takes an instance, in ms: from, to. */
  readonly engineMs: readonly [number, number];
}

const never = new AbortController().signal;
const START_MS = 3_000;
const OBSERVE_EVERY_MS = 1_000;
/** Limit of events: three hundred units take two million. */
const LONGEST_RUN = 20_000_000;
/** A fleet that takes longer than this, by its own clock in ms, is broken. */
const LONGEST_MS = 30 * 60_000;

/**
 * Empties one instance of a simulated fleet into others, as an evacuation does. Returns what happened from the first
 * request on.
 */
export async function evacuate(options: EvacuationOptions): Promise<readonly Entry[]> {
  const history = createHistory();
  const world = createWorld(`evacuation ${options.seed}`, history, LONGEST_RUN);
  const network = createNetwork(world, createFailpoints(world.rng.fork("faults"), []));
  const parts = { members: 2, instances: 1 + options.targets, servers: 1, comparisonMs: options.engineMs };
  const fleet = await startFleet({ world, network, ...parts, breaker: (ports) => ports });
  const [source, ...targets] = fleet.instances;
  for (const { id } of targets) await enter(fleet, id, "CORDONED");
  await world.run(START_MS);
  const users = createUsers(fleet, options.units);
  for (let index = 1; index <= options.units; index += 1) users.create(`team-${index}`);
  await until(fleet, async () => disagreements(await photograph(fleet)).length === 0, "everything to be deployed");
  for (const { id } of targets) await enter(fleet, id, "ACTIVE");
  const before = history.entries().length;
  await ask(fleet, source, targets);
  await until(fleet, async () => (await photograph(fleet)).moves.length === 0, "the moves to end");
  return history.entries().slice(before);
}

async function enter({ database: { rows } }: Fleet, id: InstanceId, state: InstanceState): Promise<void> {
  const { revision } = (await rows.fleet.readInstance(id, never)) ?? { revision: 0 };
  await rows.fleet.changeInstance({ id, revision, state, reason: "bench", cause: undefined, attempt: 0, decision: undefined }, never);
}

async function ask({ world, database: { rows } }: Fleet, source: Instance | undefined, targets: readonly Instance[]): Promise<void> {
  const clock = { now: world.now, monotonicMs: world.elapsedMs, after: () => () => undefined };
  const requests = createMoveRequests({ store: rows, clock, ids: createDrawnIds(world.rng.fork("ids of moves")) });
  const held = source === undefined ? [] : await rows.shards.listOwned(source.id, never);
  for (const [index, { unitId }] of held.entries()) {
    const unit = (await rows.placements.readUnit(unitId as UnitId, never))?.unit;
    const at = targets[index % targets.length]?.id;
    const target = at === undefined ? undefined : await rows.fleet.readInstance(at, never);
    if (unit !== undefined && target !== undefined) await requests.ask({ unit, target, kind: "evacuation", actor: "bench" }, never);
  }
}

async function until({ world }: Fleet, holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const startedAt = world.elapsedMs(); !(await holds()); await world.run(OBSERVE_EVERY_MS))
    if (world.elapsedMs() - startedAt > LONGEST_MS) throw new Error(`the simulated fleet has waited half an hour for ${what}`);
}
