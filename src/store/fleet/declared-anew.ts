import { StaleError } from "../../domain/errors.ts";
import type { FleetChange } from "./port.ts";

/** Somebody has declared a fleet since the one was read that a change of it was made from. */
export function declaredAnew({ revision }: FleetChange): StaleError {
  return new StaleError("declaring a fleet that was made from an older one", { code: "store.fleet-stale", context: { revision } });
}
