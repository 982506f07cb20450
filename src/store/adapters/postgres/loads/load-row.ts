import type { Millis } from "../../../../domain/clock.ts";
import type { InstanceId } from "../../../../domain/ids.ts";
import type { ClassLoadState, InstanceLoad, KnownLoad } from "../../../load/port.ts";
import type { Statement } from "../database.ts";
import { loadOfRow } from "../rows.ts";

export const INSTANCE_LOADS: Statement = {
  name: "list_instance_loads",
  text: `
select l.instance, l.at, l.total, l.observation, l.cached_objects
  from instance i join instance_load l on l.instance = i.id
 where i.class = $1 and i.state <> 'RETIRED'
 order by i.id`,
};

export const READ_CLASS_LOAD: Statement = { name: "read_class_load", text: "select state from class_load where class = $1" };

/** Decided by the scheduler, and with nothing a user wrote. */
export const LIST_SIZES: Statement = {
  name: "list_pool_sizes",
  text: "select state -> 'sizes' as sizes from class_load where state -> 'sizes' is not null order by class",
};

/**
 * What is known of the load of a unit `u`. A sample of its instance that brings nothing new about the unit leaves the unit's row alone, so
 * the unit was measured when its instance was measured last.
 */
export const KNOWN = "l.planning as l_planning, l.recent as l_recent, greatest(l.at, n.at) as l_at";
export const JOIN_KNOWN = "left join unit_load l on l.unit = u.id left join instance_load n on n.instance = u.owner";

/** The loads are null together: it was not measured yet. */
export interface KnownRow {
  readonly l_planning: readonly number[] | null;
  readonly l_recent: readonly number[] | null;
  readonly l_at: Millis | null;
}

export interface InstanceLoadRow {
  readonly instance: InstanceId;
  readonly at: Millis;
  readonly total: readonly number[];
  readonly observation: InstanceLoad["observation"] | null;
  readonly cached_objects: number | null;
}

export function stateOf(rows: readonly unknown[]): ClassLoadState {
  const [row] = rows as readonly { readonly state: ClassLoadState }[];
  return row?.state ?? { aboveSince: {}, overloadedSince: {} };
}

export function knownOf({ l_planning, l_recent, l_at }: KnownRow): KnownLoad | undefined {
  if (l_planning === null || l_recent === null || l_at === null) return undefined;
  return { planning: loadOfRow(l_planning), recent: loadOfRow(l_recent), at: l_at };
}

export function instanceLoadOf({ instance, at, total, observation, cached_objects }: InstanceLoadRow): InstanceLoad {
  return {
    instanceId: instance,
    at,
    total: loadOfRow(total),
    observation: observation ?? undefined,
    cachedObjects: cached_objects ?? undefined,
  };
}
