import type { Directive } from "../domain/directive.ts";
import { readClass } from "../domain/fleet.ts";
import type { WorkspaceGroups } from "../domain/groups.ts";
import type { InstanceId, WorkspaceId } from "../domain/ids.ts";
import type { UnitNeeds } from "../domain/needs.ts";

/** What decides which instances a unit may live on. */
export interface Needing {
  readonly class: string;
  /** The trust that its workspace demands of its instance. */
  readonly trustClass: string;
  readonly directive: Directive;
  /** Of its workspace; absent: it is in none. */
  readonly groups?: WorkspaceGroups | undefined;
}

/**
 * What a unit demands of its instance apart from capacity; `undefined`: nothing. Trust is part of the class. It is demanded separately
 * only if a workspace's trust differs from that of its class: such a unit waits, because its class is no reason to lower its trust.
 *
 * A pin to a pool means the instances that the pool has now. If it has none, or if the instance of a pin is gone, no instance meets
 * the demand: the unit waits, and the refusals say what for.
 */
export function unitNeeds(unit: Needing, candidates: readonly { readonly id: InstanceId; readonly pool: string }[]): UnitNeeds | undefined {
  const pinnedTo = pinnedInstances(unit.directive, candidates);
  const isAsClass = readClass(unit.class).trust === unit.trustClass;
  const apartBy = unit.groups?.apart ?? {};
  const isFree = Object.keys(apartBy).length === 0;
  if (pinnedTo === undefined && isAsClass && isFree) return undefined;
  return {
    ...(pinnedTo === undefined ? {} : { pinnedTo }),
    ...(isAsClass ? {} : { trust: unit.trustClass }),
    ...(isFree ? {} : { apartBy }),
  };
}

function pinnedInstances(
  { pin }: Directive,
  candidates: readonly { readonly id: InstanceId; readonly pool: string }[],
): readonly InstanceId[] | undefined {
  if (pin === undefined) return undefined;
  if (pin.kind === "instance") return [pin.instance];
  return candidates.flatMap(({ id, pool }) => (pool === pin.pool ? [id] : [])).sort();
}

/** Name of the group that keeps the parts of one workspace on different instances: if one fails, not all of the workspace stops. */
export function partsApart(workspace: WorkspaceId): string {
  return `workspace ${workspace}`;
}
