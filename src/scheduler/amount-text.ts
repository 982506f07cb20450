import type { LoadDimension, LoadVector } from "../domain/load.ts";

/** An amount of a dimension in the units people give capacities in: planning counts thousandths of applications and Git requests. */
export function amountOf(amount: number, dimension: LoadDimension): number {
  return dimension === "applications" || dimension === "gitPerMinute" ? amount / 1000 : amount;
}

/** A load in one dimension, in the units people give capacities in. */
export function amountText(load: LoadVector, dimension: LoadDimension): string {
  return `${amountOf(load[dimension], dimension)} ${dimension}`;
}
