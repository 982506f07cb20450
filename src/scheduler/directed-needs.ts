import type { Directive } from "../domain/directive.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { UnitNeeds } from "../domain/needs.ts";

/**
 * What people's orders demand of a unit's instance; `undefined`: nothing. A pool stands for the instances it has now. One that
 * has none, like an instance that is gone, can be met by none: the unit waits, and the refusals say what for.
 */
export function directedNeeds(
  { pin }: Directive,
  seats: readonly { readonly id: InstanceId; readonly pool: string }[],
): UnitNeeds | undefined {
  if (pin === undefined) return undefined;
  if (pin.kind === "instance") return { pinnedTo: [pin.instance] };
  return { pinnedTo: seats.flatMap(({ id, pool }) => (pool === pin.pool ? [id] : [])).sort() };
}
