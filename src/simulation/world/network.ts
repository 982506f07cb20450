import { UnavailableError } from "../../domain/errors.ts";
import type { Rng } from "../../domain/rng.ts";
import type { Failpoints } from "./failpoints.ts";
import type { Party } from "./party.ts";
import type { World } from "./world.ts";

/** One call: from whom, to whom, and under which name it can be broken. */
export interface Call<T> {
  readonly from: Party;
  readonly to: string;
  readonly name: string;
  /** What it does at the other side when it arrives there, at one moment. */
  readonly effect: () => T | Promise<T>;
  /** The error of the caller's driver for a call that did not get through. */
  readonly broken: (cause: string) => Error;
  /** How long the caller waits for an answer, in ms. */
  readonly timeoutMs?: number;
}

/** Carries everything that goes from one party to another: late, and sometimes not at all. */
export interface Network {
  /** Resolves with the effect's outcome; rejects at once with the signal's reason when that aborts, whatever the effect does then. */
  call<T>(call: Call<T>, signal: AbortSignal): Promise<T>;
  /** Delivers something in the order of sending; calls `onCut` instead if the two are parted. */
  push(stream: PushStream, deliver: () => void): void;
  isParted(a: string, b: string): boolean;
  part(a: string, b: string): void;
  heal(a: string, b: string): void;
  /** Sets what ends a party that a failpoint kills. */
  onDeath(kill: (name: string) => void): void;
}

/** Notifications for one listener, which never overtake one another. */
export interface PushStream {
  readonly from: string;
  readonly to: Party;
  readonly what: string;
  /** How long one of them takes, in ms: uniform up to this. */
  readonly lagMs: number;
  readonly onCut: () => void;
  lastAt: number;
}

/** How long a caller waits for an answer if it does not say, in ms, as the Kubernetes client and the database driver do. */
const TIMEOUT_MS = 30_000;
/** The longest way between two processes of a data centre, in ms. */
const HOP_MS = 3;

/** `hopMs`: how long one way takes at most, in ms. */
export function createNetwork(world: World, failpoints: Failpoints, hopMs = HOP_MS): Network {
  const parted = new Set<string>();
  const pair = (a: string, b: string): string => [a, b].sort().join(" | ");
  const rngs = new Map<string, Rng>();
  const hop = (name: string): number => {
    const rng = rngs.get(name) ?? world.rng.fork(`hops ${name}`);
    rngs.set(name, rng);
    return 0.2 + rng.next() * hopMs;
  };
  let kill: (name: string) => void = () => undefined;
  const isParted = (a: string, b: string): boolean => parted.size > 0 && parted.has(pair(a, b));

  function start<T>(call: Call<T>, ends: Ends<T>): void {
    const { from, to, name, timeoutMs = TIMEOUT_MS } = call;
    const verdict = failpoints.next(name, from.name);
    const tell = (what: string, delayMs: number, settle: () => void): (() => void) =>
      world.schedule(delayMs, `${from.name} <- ${to} ${what}`, () => from.reach(what, settle));
    const lose = (): void => void tell(`${name} lost`, hop(from.name) * 10, () => ends.reject(call.broken(verdict.kind)));
    if (verdict.kind !== "passes") world.record({ kind: "fault", name, from: from.name, verdict: verdict.kind });
    if (verdict.kind === "die-before") return kill(from.name);
    if (verdict.kind === "before" || verdict.kind === "error") return lose();
    const delayMs = verdict.kind === "delay" ? verdict.ms : 0;
    const cancelTimeout = tell(`${name} timeout`, timeoutMs, () => ends.reject(call.broken("timeout")));
    ends.onEnd(cancelTimeout);
    world.schedule(hop(from.name) + delayMs, `${from.name} -> ${to} ${name}`, () => {
      if (isParted(from.name, to)) return lose();
      void carryOut(call, ends, (settle) => {
        if (verdict.kind === "die-after") kill(from.name);
        else if (verdict.kind === "after-effect" || isParted(from.name, to)) lose();
        else tell(name, hop(to), settle);
      });
    });
  }

  return {
    call: (call, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) reject(signal.reason);
        else start(call, endsOf({ resolve, reject }, signal));
      }),
    push(stream, deliver) {
      const { from, to, what, lagMs, onCut } = stream;
      const at = Math.max(stream.lastAt, world.elapsedMs() + hop(from) + (hop(`lag of ${to.name}`) / hopMs) * lagMs);
      stream.lastAt = at;
      world.schedule(at - world.elapsedMs(), `${to.name} hears ${what}`, () => {
        if (isParted(from, to.name)) onCut();
        else to.reach(what, deliver);
      });
    },
    isParted,
    part: (a, b) => void parted.add(pair(a, b)),
    heal: (a, b) => void parted.delete(pair(a, b)),
    onDeath(next) {
      kill = next;
    },
  };
}

async function carryOut<T>(call: Call<T>, ends: Ends<T>, answer: (settle: () => void) => void): Promise<void> {
  try {
    const value = await call.effect();
    answer(() => ends.resolve(value));
  } catch (error) {
    answer(() => ends.reject(error));
  }
}

/** The ends of a call whose caller may leave it: the first one counts, and cancels the timeout. */
function endsOf<T>({ resolve, reject }: Omit<Ends<T>, "onEnd">, signal: AbortSignal): Ends<T> {
  let forget = (): void => undefined;
  const waiting = waitersOf(signal);
  const onAbort = (): void => reject(signal.reason);
  waiting.add(onAbort);
  const over = (): void => {
    waiting.delete(onAbort);
    forget();
  };
  return {
    onEnd(end) {
      forget = end;
    },
    resolve(value) {
      over();
      resolve(value);
    },
    reject(error) {
      over();
      reject(error);
    },
  };
}

/** Calls that wait under one signal share a listener: most calls are made under few signals, and listeners are costly. */
const WAITERS = new WeakMap<AbortSignal, Set<() => void>>();

function waitersOf(signal: AbortSignal): Set<() => void> {
  const known = WAITERS.get(signal);
  if (known !== undefined) return known;
  const waiting = new Set<() => void>();
  WAITERS.set(signal, waiting);
  signal.addEventListener("abort", () => [...waiting].forEach((leave) => leave()), { once: true });
  return waiting;
}

interface Ends<T> {
  /** Sets what is called once the call has ended. */
  onEnd(end: () => void): void;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** The error of a driver that did not get through. */
export function unreachable(doing: string, code: string): (cause: string) => Error {
  return (cause) => new UnavailableError(doing, { code, cause: new Error(cause) });
}
