import { GoneError, RefusedError, UnavailableError } from "../../domain/errors.ts";
import type { MoveId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { MoveKind } from "../../domain/move.ts";
import type { Rng } from "../../domain/rng.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { createDrawnIds } from "../world/party.ts";
import { FAR_CLUSTER } from "./declared.ts";
import { createFarOwners } from "./far-owner.ts";
import type { Fleet } from "./fleet.ts";

/** Live moves that operators ask for, each at one moment and directly in the rows: operators' own connections are not simulated. */
export interface Movers {
  /** Moves one unit from any instance to any other. */
  move(): Promise<void>;
  /** Gives up a move that is under way or waits for its turn. */
  abort(): Promise<void>;
  /** Moves the unit of a move that ended back to where it came from. */
  reverse(): Promise<void>;
  /** Moves everything away from one instance. */
  drain(): Promise<void>;
  evacuate(): Promise<void>;
  /** Fails one unit over from an instance on the far cluster to a near one, without a call to the far one. */
  failOver(): Promise<void>;
  /** Does the same with the next unit of which a move has just made a far instance the owner, before that move is over. */
  redirect(): Promise<void>;
}

const never = new AbortController().signal;
const ALL = 100_000;
/** How soon after a move has changed the owner the unit is failed over from there, in ms, at most. */
const SOON_MS = 5_000;
const ACTOR = "otto";

export function createMovers({ world, database: { rows }, instances }: Fleet): Movers {
  const rng = world.rng.fork("movers");
  const clock = { now: world.now, monotonicMs: world.elapsedMs, after: (ms: number, run: () => void) => world.schedule(ms, ACTOR, run) };
  const requests = createMoveRequests({ store: rows, clock, ids: createDrawnIds(rng.fork("ids")) });

  const heldBy = async (instance: Instance): Promise<readonly UnitId[]> =>
    (await rows.shards.listOwned(instance.id, never)).map(({ unitId }) => unitId).sort();
  const send = async (id: UnitId, kind: MoveKind): Promise<void> => {
    const unit = (await rows.placements.readUnit(id, never))?.unit;
    const target =
      unit &&
      pick(
        rng,
        instances.filter(({ id: other }) => other !== unit.owner),
      );
    if (unit !== undefined && target !== undefined) await answered(() => requests.ask({ unit, target, kind, actor: ACTOR }, never));
  };
  const empty = async (kind: MoveKind): Promise<void> => {
    const instance = pick(rng, instances);
    for (const id of instance === undefined ? [] : await heldBy(instance)) await send(id, kind);
  };
  const some = async (isLive: boolean): Promise<MoveId | undefined> => {
    const moves = await rows.moves.list({}, ALL, never);
    return pick(
      rng,
      moves.filter(({ endedAt, phase }) => (isLive ? endedAt === undefined : phase === "DONE")),
    )?.id;
  };
  const withSome = async (isLive: boolean, act: (id: MoveId) => Promise<unknown>): Promise<void> => {
    const id = await some(isLive);
    if (id !== undefined) await act(id);
  };

  const onFarOwner = createFarOwners({ world, instances });
  const isFar = ({ engineCluster }: Instance): boolean => engineCluster === FAR_CLUSTER;
  const failOver = async (id: UnitId): Promise<void> => {
    const unit = (await rows.placements.readUnit(id, never))?.unit;
    const near = instances.filter((instance) => !isFar(instance));
    const target = pick(rng, near);
    const request = { kind: "evacuation", actor: ACTOR, isFailOver: true } as const;
    if (unit !== undefined && target !== undefined && !near.some((each) => each.id === unit.owner))
      await requests.ask({ ...request, unit, target }, never);
  };

  return {
    async redirect() {
      onFarOwner((unit) => {
        const take = (): Promise<void> => answered(() => failOver(unit as UnitId));
        world.schedule(rng.next() * SOON_MS, "somebody fails over what has just arrived", () => void take());
      });
    },
    failOver: requested(async () => {
      const held = await Promise.all(instances.filter(isFar).map(heldBy));
      const id = pick(rng, held.flat());
      if (id !== undefined) await failOver(id);
    }),
    move: requested(async () => {
      const held = await Promise.all(instances.map(heldBy));
      const id = pick(rng, held.flat());
      if (id !== undefined) await send(id, "voluntary");
    }),
    abort: requested(() => withSome(true, (id) => requests.abort(id, ACTOR, never))),
    reverse: requested(() => withSome(false, (id) => requests.reverse(id, ACTOR, never))),
    drain: requested(() => empty("drain")),
    evacuate: requested(() => empty("evacuation")),
  };
}

/** A refusal, or that the database is away, is an answer to whoever asks, and changes nothing. */
async function answered(ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    if (![RefusedError, GoneError, UnavailableError].some((kind) => error instanceof kind)) throw error;
  }
}

/** Also for what is read first: while the database is away, nothing is asked for. */
function requested(act: () => Promise<void>): () => Promise<void> {
  return () => answered(act);
}

function pick<T>(rng: Rng, from: readonly T[]): T | undefined {
  return from[Math.floor(rng.next() * from.length)];
}
