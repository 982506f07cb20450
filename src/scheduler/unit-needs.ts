import type { Directive } from "../domain/directive.ts";
import { readClass } from "../domain/fleet.ts";
import type { InstanceId, WorkspaceId } from "../domain/ids.ts";
import type { UnitNeeds } from "../domain/needs.ts";

/** A unit with what bears on which instances it may live on, beside its class. */
export interface Needing {
  readonly class: string;
  /** What its workspace demands of whoever serves it. */
  readonly trustClass: string;
  readonly directive: Directive;
}

/**
 * What a unit demands of its instance beside room; `undefined`: nothing. Trust is part of the class and demanded apart only where
 * a workspace's differs from its class's: such a unit waits, for a class is no reason to lower it.
 *
 * A pin's pool stands for the instances it has now. One that has none, like an instance that is gone, can be met by none: the
 * unit waits, and the refusals say what for.
 */
export function unitNeeds(unit: Needing, candidates: readonly { readonly id: InstanceId; readonly pool: string }[]): UnitNeeds | undefined {
  const pinnedTo = pinnedInstances(unit.directive, candidates);
  const isAsClass = readClass(unit.class).trust === unit.trustClass;
  if (pinnedTo === undefined && isAsClass) return undefined;
  return { ...(pinnedTo === undefined ? {} : { pinnedTo }), ...(isAsClass ? {} : { trust: unit.trustClass }) };
}

function pinnedInstances(
  { pin }: Directive,
  candidates: readonly { readonly id: InstanceId; readonly pool: string }[],
): readonly InstanceId[] | undefined {
  if (pin === undefined) return undefined;
  if (pin.kind === "instance") return [pin.instance];
  return candidates.flatMap(({ id, pool }) => (pool === pin.pool ? [id] : [])).sort();
}

/** The group by which parts of one workspace live apart: what fails one instance must not stop all of it. */
export function partsApart(workspace: WorkspaceId): string {
  return `workspace ${workspace}`;
}
