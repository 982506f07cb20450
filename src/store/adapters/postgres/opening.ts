import { type Millis, millis } from "../../../domain/clock.ts";
import { OPERATION_DUE_MS } from "../../../domain/operation.ts";
import { WAITING_FOR_INSTANCE, WAITING_FOR_PLACE } from "../../operation/messages.ts";
import { instant } from "./sql-values.ts";

/** Parameters of an operation that is opened: now, its deadline, and what it says without and with an instance. */
export function openingOf(now: Millis): readonly [string, string, string, string] {
  return [instant(now), instant(millis(now + OPERATION_DUE_MS)), WAITING_FOR_PLACE, WAITING_FOR_INSTANCE];
}
