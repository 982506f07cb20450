import type { LoadDimension, LoadVector } from "../domain/load.ts";

/** A load in one dimension, in the units people give capacities in. */
export function amountText(load: LoadVector, dimension: LoadDimension): string {
  const isThousandths = dimension === "applications" || dimension === "gitPerMinute";
  return `${isThousandths ? load[dimension] / 1000 : load[dimension]} ${dimension}`;
}
