import { randomBytes } from "node:crypto";
import type { Clock } from "../domain/clock.ts";
import type { Ids } from "../domain/ids.ts";

const COUNTER_LIMIT = 0xfff;

/**
 * Creates UUIDs of version 7 (RFC 9562): 48 bits of time, so that rows made together lie together in an index; 12 bits that
 * count within a millisecond, so that one process's ids sort in the order they were made; 62 random bits.
 */
export function createUuidIds(clock: Clock): Ids {
  let lastMs = 0;
  let counter = 0;
  return {
    next<Id extends string>() {
      // A wall clock set back, or more than 4096 ids in a millisecond: go on from the last time rather than out of order.
      const nowMs = Math.max(clock.now(), lastMs);
      counter = nowMs === lastMs ? counter + 1 : 0;
      lastMs = counter > COUNTER_LIMIT ? nowMs + 1 : nowMs;
      if (counter > COUNTER_LIMIT) counter = 0;
      return uuidV7(lastMs, counter) as Id;
    },
  };
}

function uuidV7(atMs: number, counter: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(atMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return hyphenate(bytes.toString("hex"));
}

/** Creates ids that count up from 1 in the shape of a UUID: the same in every run of a test or a simulation. */
export function createCountingIds(): Ids {
  let count = 0;
  return {
    next<Id extends string>() {
      count += 1;
      return hyphenate(`0000000000007000${(0x8000_0000_0000_0000n + BigInt(count)).toString(16)}`) as Id;
    },
  };
}

function hyphenate(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
