/** Randomness as a value. Streams are forked by name so that one more draw in one place renumbers nothing elsewhere. */
export interface Rng {
  /** Uniform in [0, 1). */
  next(): number;
  fork(name: string): Rng;
}
