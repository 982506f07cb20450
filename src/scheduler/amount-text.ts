import { documentAmount, type LoadDimension, type LoadVector } from "../domain/load.ts";

/** A load in one dimension, in the units people give capacities in. */
export function amountText(load: LoadVector, dimension: LoadDimension): string {
  return `${documentAmount(load[dimension], dimension)} ${dimension}`;
}
