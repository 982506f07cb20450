import type { Rng } from "../../src/domain/rng.ts";
import { gaussian } from "./fleets.ts";

const DAY_MINUTES = 1_440;
const SPIKE = 5;
const SPIKE_MINUTES = 60;

/** The real load of units, minute by minute. */
export interface Traffic {
  /** The present load of each unit. */
  readonly present: Float64Array;
  /** Lets time pass up to a minute. */
  step(minute: number, tickMinutes: number): void;
  /** A normally distributed number. */
  draw(): number;
}

/**
 * Units wander (Ornstein and Uhlenbeck, deviation 0.3, 7 days). They live in three regions, eight hours apart, whose
 * load swings by 30 % over the day. Each has one hour of five times its load in 30 days. Random numbers come from a
 * table, because a run draws a hundred million.
 */
export function createTraffic(base: Float64Array, rng: Rng): Traffic {
  const normals = Float64Array.from({ length: 65_536 }, () => gaussian(rng));
  const next = xorshift(Math.floor(rng.next() * 4_294_967_296));
  const draw = (): number => normals[next() >>> 16] as number;
  const present = Float64Array.from(base);
  const wander = Float64Array.from(base, () => 0.3 * draw());
  const spikeUntil = new Float64Array(base.length).fill(Number.NEGATIVE_INFINITY);
  return {
    present,
    draw,
    step(minute, tickMinutes) {
      const decay = Math.exp(-tickMinutes / (7 * DAY_MINUTES));
      const spread = 0.3 * Math.sqrt(1 - decay * decay);
      const chance = (4_294_967_296 * tickMinutes) / (30 * DAY_MINUTES);
      const regions = [0, 1, 2].map((region) => 1 + 0.3 * Math.sin(2 * Math.PI * (minute / DAY_MINUTES + region / 3)));
      for (let index = 0; index < present.length; index += 1) {
        wander[index] = (wander[index] as number) * decay + spread * draw();
        if (next() < chance) spikeUntil[index] = minute + SPIKE_MINUTES;
        const level = (base[index] as number) * Math.exp((wander[index] as number) - 0.045) * (regions[index % 3] as number);
        present[index] = (spikeUntil[index] as number) > minute ? level * SPIKE : level;
      }
    },
  };
}

function xorshift(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
