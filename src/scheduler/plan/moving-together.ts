import type { Directive } from "../../domain/directive.ts";
import { apartKey, type WorkspaceGroups } from "../../domain/groups.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { addLoad, LOAD_DIMENSIONS, type LoadVector, ZERO_LOAD } from "../../domain/load.ts";
import { filterInTurns, mapInTurns, type Resumable, visitInTurns } from "../../domain/resumable.ts";
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
export function* movingTogetherInTurns({
  units,
  instances,
}: {
  readonly units: readonly GroupedUnit[];
  readonly instances: readonly Pick<Instance, "state" | "capacity">[];
}): Resumable<ReadonlyMap<UnitId, string>> {
  const grouped = yield* filterInTurns(units, ({ groups }) => groups?.together !== undefined);
  if (grouped.length === 0) return new Map();
  const parts = new Map<WorkspaceId, number>();
  yield* visitInTurns(units, ({ unit }) => parts.set(unit.workspaceId, (parts.get(unit.workspaceId) ?? 0) + 1));
  const movable = grouped.filter(
    ({ unit, directive, movingTo }) =>
      unit.owner !== undefined && movingTo === undefined && directive.pin === undefined && parts.get(unit.workspaceId) === 1,
  );
  const active = instances.filter(({ state }) => state === "ACTIVE").map(({ capacity }) => capacity);
  const isSmall = (load: LoadVector): boolean =>
    LOAD_DIMENSIONS.every((dimension) => load[dimension] <= LARGEST_PART * Math.min(...active.map((capacity) => capacity[dimension])));
  const nameOf = ({ unit, groups }: GroupedUnit): string => `${groups?.together} ${apartKey(groups)} on ${unit.owner}`;
  const members = new Map<string, GroupedUnit[]>();
  yield* visitInTurns(movable, (unit) => {
    const name = nameOf(unit);
    const known = members.get(name);
    if (known === undefined) members.set(name, [unit]);
    else known.push(unit);
  });
  return new Map(
    [...members].flatMap(([name, own]) => {
      const load = own.reduce((sum, { unit }) => addLoad(sum, unit.load), ZERO_LOAD);
      return own.length > 1 && isSmall(load) ? own.map(({ unit }) => [unit.id, name] as const) : [];
    }),
  );
}

/**
 * Where a unit goes if it has to leave, if that takes it: the instance that most others of its `together` group live on or are being moved to, besides its own.
 * So those that leave one after the other meet again, although each of these plans sees others of them under way. By unit; none for one that is alone.
 */
export function* companionsInTurns({
  units,
  instances,
}: {
  readonly units: readonly GroupedUnit[];
  readonly instances: readonly Pick<Instance, "id" | "state">[];
}): Resumable<ReadonlyMap<UnitId, InstanceId>> {
  const grouped = yield* filterInTurns(units, ({ groups }) => groups?.together !== undefined);
  if (grouped.length === 0) return new Map();
  const active = new Set(instances.flatMap(({ id, state }) => (state === "ACTIVE" ? [id] : [])));
  const counts = new Map<string, Map<InstanceId, number>>();
  yield* visitInTurns(grouped, ({ unit, groups, movingTo }) => {
    const place = movingTo ?? unit.owner;
    if (place === undefined || !active.has(place)) return;
    const name = groups?.together as string;
    const own = counts.get(name) ?? new Map<InstanceId, number>();
    counts.set(name, own.set(place, (own.get(place) ?? 0) + 1));
  });
  const places = new Map(
    [...counts].map(([name, own]) => [name, [...own].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([id]) => id)]),
  );
  const found = yield* mapInTurns(grouped, ({ unit, groups }) => {
    const place = places.get(groups?.together as string)?.find((id) => id !== unit.owner);
    return place === undefined ? [] : [[unit.id, place] as const];
  });
  return new Map(found.flat());
}
