import type { KeyRing } from "../../../credential/port.ts";

/** A ring of keys that are held in memory; `current` must name one of them. */
export function createKeyRing(current: string, keys: ReadonlyMap<string, Uint8Array>): KeyRing {
  return { current, get: (id) => keys.get(id) };
}
