import { StaleError } from "../../domain/errors.ts";

/** Somebody has declared a fleet since the one of this revision was read, and a change was made from it. */
export function declaredAnew(revision: number): StaleError {
  return new StaleError("declaring a fleet that was made from an older one", { code: "store.fleet-stale", context: { revision } });
}
