import { type Clock, millis } from "../../domain/clock.ts";
import type { Ids } from "../../domain/ids.ts";
import type { Rng } from "../../domain/rng.ts";
import type { World } from "./world.ts";

/** Something with a life of its own: a process of Argosy, an instance's controller, a user, a cluster's own controllers. */
export interface Party {
  readonly name: string;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ids: Ids;
  /** Aborts when the world is closed, also if the party is dead. */
  readonly signal: AbortSignal;
  isAlive(): boolean;
  /** Runs it: at once, or when the party wakes, or never if it is dead by then. */
  reach(what: string, run: () => void): void;
  /** Stands still for that long. What reaches it meanwhile, and what it had begun, goes on when it wakes. */
  freeze(forMs: number): void;
  /** Ends it without warning: nothing that it waits for ever goes on. */
  kill(): void;
  /** Calls `end` when the party is killed: for what it has elsewhere, such as connections. The returned function cancels that. */
  onEnd(end: () => void): () => void;
}

/** The shortest step of time: a microsecond. */
const SHORTEST_MS = 0.001;

/** `life` counts the lives of one name: each has randomness and ids of its own. */
export function createParty(world: World, name: string, life = 0): Party {
  const rng = world.rng.fork(`party ${name} ${life}`);
  const ends = new Set<() => void>();
  const bornMs = world.elapsedMs();
  const closing = new AbortController();
  world.onClose(() => closing.abort(new Error(`the world of ${name} is over`)));
  let frozenUntil = 0;
  let isAlive = true;

  /** What reached it while it stood still, in order: lines of a stream wait in one socket, and none overtakes another. */
  const held: { readonly what: string; readonly run: () => void }[] = [];
  let isThawing = false;

  const leftMs = (): number => frozenUntil - world.elapsedMs();
  const thaw = (): void => {
    isThawing = false;
    if (!isAlive) return;
    if (leftMs() < SHORTEST_MS) held.shift()?.run();
    awaitThaw();
  };
  const awaitThaw = (): void => {
    const [next] = held;
    if (isThawing || next === undefined) return;
    isThawing = true;
    world.schedule(leftMs(), `${name} thaws: ${next.what}`, thaw);
  };
  const reach = (what: string, run: () => void): void => {
    if (!isAlive) return;
    if (held.length === 0 && leftMs() < SHORTEST_MS) return run();
    held.push({ what, run });
    awaitThaw();
  };

  return {
    name,
    rng,
    ids: createDrawnIds(rng.fork("ids")),
    clock: {
      now: () => millis(world.now()),
      monotonicMs: () => world.elapsedMs() - bornMs,
      after(delayMs, run) {
        let isWanted = true;
        const take = world.schedule(delayMs, `${name} timer`, () => reach("timer", () => (isWanted ? run() : undefined)));
        return () => {
          isWanted = false;
          take();
        };
      },
    },
    signal: closing.signal,
    isAlive: () => isAlive,
    reach,
    freeze(forMs) {
      frozenUntil = Math.max(frozenUntil, world.elapsedMs() + forMs);
    },
    kill() {
      isAlive = false;
      for (const end of [...ends]) end();
      ends.clear();
    },
    onEnd(end) {
      ends.add(end);
      return () => void ends.delete(end);
    },
  };
}

/** Ids in the shape of UUIDs, drawn from a stream: as unlike one another as real ones, and the same in every run. */
export function createDrawnIds(rng: Rng): Ids {
  const hex = (digits: number): string =>
    Math.floor(rng.next() * 16 ** digits)
      .toString(16)
      .padStart(digits, "0");
  return { next: <Id extends string>() => `${hex(8)}-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(12)}` as Id };
}
