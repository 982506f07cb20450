import type { Ids } from "../../../domain/ids.ts";
import type { ChangeFeed } from "../../port.ts";

export interface ChangeProbe {
  hears: ChangeFeed["hears"];
  /** Whether this was sent only to see whether it arrives, be it by another process. */
  isProbe(payload: string): boolean;
}

export interface ChangeProbeOptions {
  readonly ids: Ids;
  readonly subscribe: ChangeFeed["subscribe"];
  /** Sends a hint over the connections that everybody else sends theirs on. */
  readonly send: (payload: string, signal: AbortSignal) => Promise<unknown>;
}

const PROBE = "probe:";

/** Finds out whether hints arrive: behind a pooler that hands connections around they do not, and nothing else says so. */
export function createChangeProbe({ ids, subscribe, send }: ChangeProbeOptions): ChangeProbe {
  const awaited = new Map<string, () => void>();
  return {
    async hears(signal) {
      const probe = `${PROBE}${ids.next()}`;
      const heard = new Promise<boolean>((resolve) => {
        awaited.set(probe, () => resolve(true));
        signal.addEventListener("abort", () => resolve(false), { once: true });
      });
      // Whoever subscribes is told first that the connection stands; what was sent before would be lost.
      const leave = subscribe((notifications) => (notifications === "missed" ? void send(probe, signal).catch(() => {}) : undefined));
      try {
        return !signal.aborted && (await heard);
      } finally {
        awaited.delete(probe);
        leave();
      }
    },
    isProbe(payload) {
      awaited.get(payload)?.();
      return payload.startsWith(PROBE);
    },
  };
}
