import type { Rng } from "../../domain/rng.ts";

/** What becomes of one call between two parties. */
export type FailpointVerdict =
  | { readonly kind: "passes" }
  /** Never arrives. */
  | { readonly kind: "before" }
  /** Is carried out, and the answer gets lost. */
  | { readonly kind: "after-effect" }
  /** The other side answers with an error, as overloaded servers do. */
  | { readonly kind: "error" }
  /** Takes that long, on its way or waiting at the other side, before it is carried out. */
  | { readonly kind: "delay"; readonly ms: number }
  /** The caller dies before it is sent. */
  | { readonly kind: "die-before" }
  /** It is carried out, and the caller dies before the answer arrives. */
  | { readonly kind: "die-after" };

/** One call to break: the `index`-th, from 0, of this name. */
export interface Failpoint {
  readonly name: string;
  readonly index: number;
  readonly kind: Exclude<FailpointVerdict["kind"], "passes">;
  readonly ms?: number;
}

/** A call at the moment it is made, by the name and index at which it can be broken. */
export interface CallMade {
  readonly name: string;
  readonly index: number;
  readonly from: string;
}

/** How often each kind of fault happens while faults are on, 0 to 1. */
export interface FaultRates {
  /** Whose calls: those of parties whose names begin like this. */
  readonly whose: string;
  /** Which calls: those whose names begin like one of these. Default: all. */
  readonly which?: readonly string[];
  readonly before: number;
  readonly afterEffect: number;
  readonly error: number;
  readonly delay: number;
  readonly longestDelayMs: number;
}

export interface Failpoints {
  /** Decides about the next call of this name, which this party makes. */
  next(name: string, from: string): FailpointVerdict;
  /** Turns random faults on, or off with `undefined`; named failpoints are always on. */
  setRates(rates: FaultRates | undefined): void;
}

const PASSES: FailpointVerdict = { kind: "passes" };

/** Each name draws from a stream of its own, so that one more call of one name changes nothing for another. */
export function createFailpoints(rng: Rng, named: readonly Failpoint[], onCall: (call: CallMade) => void = () => undefined): Failpoints {
  const counts = new Map<string, number>();
  const streams = new Map<string, Rng>();
  let rates: FaultRates | undefined;

  const streamOf = (name: string): Rng => {
    const known = streams.get(name) ?? rng.fork(name);
    streams.set(name, known);
    return known;
  };

  const draw = (
    name: string,
    { before, afterEffect, error, delay, longestDelayMs }: Omit<FaultRates, "whose" | "which">,
  ): FailpointVerdict => {
    const stream = streamOf(name);
    const at = stream.next();
    if (at < before) return { kind: "before" };
    if (at < before + afterEffect) return { kind: "after-effect" };
    if (at < before + afterEffect + error) return { kind: "error" };
    // Squared: most delays are short, and some are long enough that the caller has given up and done something else.
    if (at < before + afterEffect + error + delay) return { kind: "delay", ms: stream.next() ** 2 * longestDelayMs };
    return PASSES;
  };

  return {
    next(name, from) {
      const index = counts.get(name) ?? 0;
      counts.set(name, index + 1);
      onCall({ name, index, from });
      const point = named.find((each) => each.name === name && each.index === index);
      if (point !== undefined) return point.kind === "delay" ? { kind: "delay", ms: point.ms ?? 1_000 } : { kind: point.kind };
      const isMeant = rates?.which?.some((each) => name.startsWith(each)) ?? true;
      return rates === undefined || !from.startsWith(rates.whose) || !isMeant ? PASSES : draw(name, rates);
    },
    setRates(next) {
      rates = next;
    },
  };
}
