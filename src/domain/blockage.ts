import type { Millis } from "./clock.ts";

/** An object that should be gone and is not, because somebody's finalizer is on it. */
export interface HeldObject {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly finalizers: readonly string[];
}

/** How many held objects are named at most: whoever clears these finds the rest. */
export const HELD_LIMIT = 5;

/** A deletion that has gone on for too long, and what holds it as far as that can be seen. */
export interface Blockage {
  readonly since: Millis;
  /** At most {@link HELD_LIMIT}, all in the user's own namespace; empty where nothing that holds it was found. */
  readonly held: readonly HeldObject[];
}

/**
 * How long a deletion may take before it counts as blocked, in ms. Pods get half a minute to end, hooks and volumes a few; the
 * service Argosy follows gave up after seven.
 */
export const BLOCKED_AFTER_MS = 5 * 60_000;

/** What holds a deletion, in words for anybody: `ConfigMap settings in namespace team has the finalizer example.com/hold`. */
export function heldText(held: readonly HeldObject[]): string {
  return held
    .map(({ kind, name, namespace, finalizers }) => {
      const which = finalizers.length === 1 ? "the finalizer" : "the finalizers";
      return `${kind} ${name} in namespace ${namespace} has ${which} ${finalizers.join(", ")}`;
    })
    .join("; ");
}
