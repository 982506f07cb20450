import type { Change } from "../../../domain/change.ts";
import type { ChangeFeed } from "../../port.ts";

export interface MemoryChangeFeed extends ChangeFeed {
  /** Hands notifications to the subscribers of this moment, after the present turn of the event loop's microtasks. */
  send(changes: readonly Change[]): void;
  /** While it is away nothing is delivered; when it comes back subscribers learn that they missed something. */
  setAway(isAway: boolean): void;
}

type Listener = (changes: readonly Change[] | "missed") => void;

export function createMemoryChangeFeed(): MemoryChangeFeed {
  const listeners = new Set<Listener>();
  let isAway = false;
  const tell = (listener: Listener, notifications: readonly Change[] | "missed"): void =>
    queueMicrotask(() => {
      if (!isAway && listeners.has(listener)) listener(notifications);
    });
  return {
    subscribe(listener) {
      // A function of its own, so that one that subscribes twice is notified twice and leaves once.
      const own: Listener = (notifications) => listener(notifications);
      listeners.add(own);
      tell(own, "missed");
      return () => void listeners.delete(own);
    },
    hears: async () => !isAway,
    isConnected: () => !isAway,
    send(changes) {
      if (changes.length > 0) for (const listener of listeners) tell(listener, changes);
    },
    setAway(away) {
      const isBack = isAway && !away;
      isAway = away;
      if (isBack) for (const listener of listeners) tell(listener, "missed");
    },
  };
}
