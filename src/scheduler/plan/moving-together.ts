import type { Directive } from "../../domain/directive.ts";
import { apartKey, type WorkspaceGroups } from "../../domain/groups.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { addLoad, LOAD_DIMENSIONS, type LoadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";

interface GroupedUnit {
  readonly unit: PlacementUnit;
  readonly groups?: WorkspaceGroups;
  readonly directive: Directive;
  readonly movingTo: InstanceId | undefined;
}

/** A group that takes more than this part of what the smallest instance bears would find room nowhere: its members move one by one. */
const LARGEST_PART = 1 / 4;

/**
 * Which units move as one, by the name of their affinity group: those of one `together` group that live on one instance. Members elsewhere are groups of
 * their own: they were put there because there was no room, and a plan that gathered them again and again would only move them back and forth. One that is pinned, is
 * being moved, or whose workspace has several parts, moves alone, as do those that must be apart from others than the rest.
 */
export function movingTogether({
  units,
  instances,
}: {
  readonly units: readonly GroupedUnit[];
  readonly instances: readonly Pick<Instance, "state" | "capacity">[];
}): ReadonlyMap<UnitId, string> {
  const grouped = units.filter(({ groups }) => groups?.together !== undefined);
  if (grouped.length === 0) return new Map();
  const parts = Map.groupBy(units, ({ unit }) => unit.workspaceId);
  const movable = grouped.filter(
    ({ unit, directive, movingTo }) =>
      unit.owner !== undefined && movingTo === undefined && directive.pin === undefined && parts.get(unit.workspaceId)?.length === 1,
  );
  const active = instances.filter(({ state }) => state === "ACTIVE").map(({ capacity }) => capacity);
  const isSmall = (load: LoadVector): boolean =>
    LOAD_DIMENSIONS.every((dimension) => load[dimension] <= LARGEST_PART * Math.min(...active.map((capacity) => capacity[dimension])));
  const nameOf = ({ unit, groups }: GroupedUnit): string => `${groups?.together} ${apartKey(groups)} on ${unit.owner}`;
  return new Map(
    [...Map.groupBy(movable, nameOf)].flatMap(([name, members]) => {
      const load = members.reduce((sum, { unit }) => addLoad(sum, unit.load), ZERO_LOAD);
      return members.length > 1 && isSmall(load) ? members.map(({ unit }) => [unit.id, name] as const) : [];
    }),
  );
}
