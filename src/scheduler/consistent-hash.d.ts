declare module "consistent-hash" {
  /** The part of consistent-hash 1.2.2 that `hash-ring.ts` uses. */
  export default class ConsistentHash {
    constructor(options: { readonly range: number });
    /** Puts a node at explicit points of the ring; `weight` is ignored then. */
    add(node: string, weight: undefined, points: readonly number[]): this;
    /** The first `count` different nodes clockwise of the key; `null` on an empty ring. */
    get(key: string, count: number): string[] | null;
    /** The first of them, without a list. */
    get(key: string): string | null;
  }
}
