import { ANNOTATION_HASH } from "../domain/names.ts";
import type { ObservedApplication } from "./parse-application.ts";

/**
 * Tells from little whether an Application deserves a full comparison with its row: it is missing, on its way out, written
 * under another epoch than the row's, or not what it says it was written as. `undefined`: nothing speaks for it.
 */
export function whyRevisit(
  row: { readonly epoch: number },
  observed: ObservedApplication | undefined,
): "missing" | "deleting" | "epoch" | "edited" | undefined {
  if (observed === undefined) return "missing";
  if (observed.isDeleting) return "deleting";
  if (observed.epoch !== row.epoch) return "epoch";
  return observed.annotations[ANNOTATION_HASH] === observed.contentHash ? undefined : "edited";
}
