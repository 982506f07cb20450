import { sha256 } from "../domain/hash.ts";
import type { Rng } from "../domain/rng.ts";

/** Randomness of the machine; a fork is the same thing, since nothing has to be repeated. */
export const systemRng: Rng = { next: () => Math.random(), fork: () => systemRng };

/**
 * Creates a stream that is the same for the same seed: xoshiro128** (Blackman and Vigna, "Scrambled linear pseudorandom
 * number generators", 2021), its 128 bits of state taken from the SHA-256 of the seed. A fork depends on the seed and the
 * names on the way to it, never on how much was drawn.
 */
export function createSeededRng(seed: string | number): Rng {
  return fromHash(sha256(`seed ${seed}`));
}

function fromHash(hash: string): Rng {
  const draw = xoshiro128(hash);
  return {
    // 53 random bits, the width of a double's fraction.
    next: () => ((draw() >>> 5) * 67_108_864 + (draw() >>> 6)) / 9_007_199_254_740_992,
    fork: (name) => fromHash(sha256(`${hash}/${name}`)),
  };
}

/** 32 bits a call. */
function xoshiro128(hash: string): () => number {
  const word = (index: number): number => Number.parseInt(hash.slice(index * 8, index * 8 + 8), 16) | 0;
  // All zero would stay zero for ever; a hash that begins with 128 zero bits does not happen, but costs one bit to rule out.
  let [s0, s1, s2, s3] = [word(0) | 1, word(1), word(2), word(3)];
  return () => {
    const result = Math.imul(rotate(Math.imul(s1, 5), 7), 9);
    const shifted = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= shifted;
    s3 = rotate(s3, 11);
    return result;
  };
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
