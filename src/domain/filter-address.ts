import { sha256 } from "./hash.ts";
import type { InstanceId } from "./ids.ts";

/** Port of the filter in the pod of an instance's controller. */
export const FILTER_PORT = 6444;

/**
 * Loopback address of an instance's filter: nobody outside of the pod reaches it. Each instance has another one, because pods of the development cluster
 * share one loopback. They come from 127.1.0.0 to 127.15.255.255, of which its pods have none.
 */
export function filterAddress(id: InstanceId): string {
  const at = (index: number): number => Number.parseInt(sha256(`filter ${id}`).slice(index * 2, index * 2 + 2), 16);
  return `127.${(at(0) % 15) + 1}.${at(1)}.${(at(2) % 254) + 1}`;
}
