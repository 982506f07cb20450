import type { Rng } from "../../domain/rng.ts";
import type { World } from "../world/world.ts";

/** One API server of a managed cluster: its own view of the owner bindings, and whether it answers. */
export interface Endpoint {
  allowed(namespace: string): readonly string[];
  /** An owner binding was written. */
  hear(ownerBinding: { readonly namespace: string; readonly name: string }, subjects: readonly string[]): void;
  freeze(forMs: number): void;
  /** Resolves at once, or when it has thawed. */
  awake(): Promise<void>;
  /** Resolves when a request that it has let in is carried out. */
  admit(): Promise<void>;
}

/** How long a change of a binding takes to reach the authoriser, in ms: up to 23 ms measured on real API servers. */
const LONGEST_LAG_MS = 23;
/** Time from being let in to being carried out, in ms, at most. */
const ADMISSION_MS = 5;
/** Requests that waited are answered within this time after it wakes, in ms: most of them after it has received changes. */
const THAW_MS = 100;

/** `tell` is called with each namespace whose owner bindings it has just learnt. */
export function createEndpoint(world: World, rng: Rng, tell: (namespace: string) => void): Endpoint {
  const ownerBindings = new Map<string, ReadonlyMap<string, readonly string[]>>();
  let lastAt = 0;
  let frozenUntil = 0;
  const leftMs = (): number => frozenUntil - world.elapsedMs();
  const pause = (ms: number): Promise<void> => new Promise((resolve) => void world.schedule(ms, "an API server goes on", resolve));

  const learn = (namespace: string, name: string, subjects: readonly string[]): void => {
    const ofNamespace = new Map(ownerBindings.get(namespace) ?? []);
    if (subjects.length === 0) ofNamespace.delete(name);
    else ofNamespace.set(name, subjects);
    ownerBindings.set(namespace, ofNamespace);
    tell(namespace);
  };
  /** Changes that it has yet to learn: in order, and none while it stands still. */
  const notifications: (() => void)[] = [];
  const learnNext = (): void => {
    lastAt = Math.max(lastAt, frozenUntil, world.elapsedMs() + rng.next() * LONGEST_LAG_MS);
    world.schedule(lastAt - world.elapsedMs(), "the authoriser learns", () => (leftMs() > 0 ? learnNext() : notifications.shift()?.()));
  };
  const awake = async (): Promise<void> => {
    while (leftMs() > 0) await pause(leftMs() + rng.next() * THAW_MS);
  };

  return {
    allowed: (namespace) => [...new Set([...(ownerBindings.get(namespace)?.values() ?? [])].flat())].sort(),
    hear({ namespace, name }, subjects) {
      notifications.push(() => learn(namespace, name, subjects));
      learnNext();
    },
    freeze(forMs) {
      frozenUntil = Math.max(frozenUntil, world.elapsedMs() + forMs);
    },
    awake,
    async admit() {
      await pause(rng.next() * ADMISSION_MS);
      await awake();
    },
  };
}
