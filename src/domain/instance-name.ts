import { sha256 } from "./hash.ts";
import type { InstanceId } from "./ids.ts";

/** Names for `count` more instances of a pool, in order: its own name with the lowest numbers that no instance ever had, retired ones included. */
export function nextInstanceNames(pool: string, taken: ReadonlySet<string>, count: number): readonly string[] {
  const names: string[] = [];
  for (let number = 1; names.length < count; number += 1) {
    const name = `${pool}-${number}`;
    if (!taken.has(name)) names.push(name);
  }
  return names;
}

/** Orders instances by name, those of one pool by number. */
export function byInstanceName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name.localeCompare(b.name, "en", { numeric: true });
}

/**
 * The id that a new instance of this name gets: a UUID of version 8 (RFC 9562, section 5.8) from the name's SHA-256. A name is given once, so the id is too.
 * Because it is known before the instance is there, so is the place of the instance on the ring.
 */
export function instanceIdOf(name: string): InstanceId {
  const hex = sha256(`argosy instance ${name}`);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}` as InstanceId;
}
