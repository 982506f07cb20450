import type { Brand } from "./brand.ts";
import { type Resumable, visitInTurns } from "./resumable.ts";

export const LOAD_DIMENSIONS = ["applications", "clusterEntries", "cachedResources", "milliCpu", "gitPerMinute"] as const;
export type LoadDimension = (typeof LOAD_DIMENSIONS)[number];

/** A number for each dimension, in whatever units. */
export type LoadAmounts = Readonly<Record<LoadDimension, number>>;

/**
 * Load and capacity as plans count them: whole numbers, so that sums do not depend on their order. `applications` counts thousandths
 * of an application, `milliCpu` thousandths of a core, `gitPerMinute` thousandths of a Git request a minute.
 */
export type LoadVector = Brand<LoadAmounts, "LoadVector">;

/**
 * Load and capacity as people write and read them, in fleet.yaml, REST and reports: `applications` counts applications, `gitPerMinute` Git
 * requests a minute; the others are as in a `LoadVector`. The compiler takes neither for the other.
 */
export type DocumentLoad = Brand<LoadAmounts, "DocumentLoad">;

/** Amounts that do not say yet in which units they are. */
type BareAmounts = LoadAmounts & { readonly __brand?: never };

/** How many of a `LoadVector` are one of a `DocumentLoad`. */
const PER_WHOLE: LoadAmounts = { applications: 1_000, clusterEntries: 1, cachedResources: 1, milliCpu: 1, gitPerMinute: 1_000 };

function amounts(of: (dimension: LoadDimension) => number): LoadAmounts {
  return {
    applications: of("applications"),
    clusterEntries: of("clusterEntries"),
    cachedResources: of("cachedResources"),
    milliCpu: of("milliCpu"),
    gitPerMinute: of("gitPerMinute"),
  };
}

/** The vector whose dimensions a function gives. */
export function loadVector(of: (dimension: LoadDimension) => number): LoadVector {
  return amounts(of) as LoadVector;
}

/** Amounts that are known to be in the units of plans. */
export function asLoadVector(bare: BareAmounts): LoadVector {
  return bare as LoadAmounts as LoadVector;
}

/** Amounts that are known to be in the units of documents. */
export function asDocumentLoad(bare: BareAmounts): DocumentLoad {
  return bare as LoadAmounts as DocumentLoad;
}

/** One amount of a `LoadVector` as people read it. */
export function documentAmount(amount: number, dimension: LoadDimension): number {
  return amount / PER_WHOLE[dimension];
}

/** The smallest amount above nothing that a document can say, in the units of plans. */
export function leastInDocuments(dimension: LoadDimension): number {
  return PER_WHOLE[dimension];
}

export function toDocumentLoad(load: LoadVector): DocumentLoad {
  return amounts((dimension) => documentAmount(load[dimension], dimension)) as DocumentLoad;
}

export function fromDocumentLoad(load: DocumentLoad): LoadVector {
  return loadVector((dimension) => load[dimension] * PER_WHOLE[dimension]);
}

export const ZERO_LOAD: LoadVector = loadVector(() => 0);

export function addLoad(a: LoadVector, b: LoadVector): LoadVector {
  return loadVector((dimension) => a[dimension] + b[dimension]);
}

/** What many take together, with pauses. */
export function* sumInTurns<Item>(items: readonly Item[], loadOf: (item: Item) => LoadVector): Resumable<LoadVector> {
  let sum = ZERO_LOAD;
  yield* visitInTurns(items, (item) => {
    sum = addLoad(sum, loadOf(item));
  });
  return sum;
}
