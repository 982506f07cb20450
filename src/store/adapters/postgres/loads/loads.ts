import type { InstanceId, UnitId } from "../../../../domain/ids.ts";
import type { CountedUnit, HeavyUnit, LoadStore } from "../../../load/port.ts";
import type { Database, Statement } from "../database.ts";
import { loadOf } from "../rows.ts";
import { INSTANCE_LOADS, type InstanceLoadRow, instanceLoadOf, type KnownRow, knownOf, READ_CLASS_LOAD, stateOf } from "./load-row.ts";
import { recordSample } from "./record-sample.ts";

const COUNT: Statement = {
  name: "count_units_load",
  text: `
select u.id, u.epoch, c.applications, c.resources, c.entries, l.planning as l_planning, l.recent as l_recent, l.at as l_at
  from placement_unit u
 cross join lateral (
   select count(*) as applications, coalesce(sum(s.resource_count), 0)::bigint as resources, count(distinct a.environment) as entries
     from application a left join application_status s on s.application = a.id
    where a.unit = u.id) as c
  left join unit_load l on l.unit = u.id
 where u.owner = $1
 order by u.id`,
};

const RECORD_STATE: Statement = {
  name: "record_class_load",
  text: "insert into class_load (class, state) values ($1, $2::json) on conflict (class) do update set state = excluded.state",
};

const HEAVIEST: Statement = {
  name: "list_heaviest",
  text: `
select u.id, w.namespace, u.bucket, u.owner, u.load, i.capacity, l.planning as l_planning, l.recent as l_recent, l.at as l_at
  from placement_unit u
  join instance i on i.id = u.owner
  join workspace w on w.id = u.workspace
  left join unit_load l on l.unit = u.id
 cross join lateral (select max(n.load::numeric / n.capacity) as share from unnest(u.load, i.capacity) as n (load, capacity) where n.capacity > 0) as n
 order by n.share desc nulls last, u.id
 limit $1`,
};

interface CountRow extends KnownRow {
  readonly id: UnitId;
  readonly epoch: number;
  readonly applications: number;
  readonly resources: number;
  readonly entries: number;
}

interface HeavyRow extends KnownRow {
  readonly id: UnitId;
  readonly namespace: string;
  readonly bucket: number;
  readonly owner: InstanceId;
  readonly load: readonly number[];
  readonly capacity: readonly number[];
}

export function createLoadStore(database: Database): LoadStore {
  return {
    countUnits: async (instanceId, signal) => (await database.run<CountRow>(COUNT, [instanceId], signal)).map(countedOf),
    recordSample: (sample, signal) => recordSample(database, sample, signal),
    listInstanceLoads: async (className, signal) =>
      (await database.run<InstanceLoadRow>(INSTANCE_LOADS, [className], signal)).map(instanceLoadOf),
    readState: async (className, signal) => stateOf(await database.run(READ_CLASS_LOAD, [className], signal)),
    recordState: async (className, state, signal) => void (await database.run(RECORD_STATE, [className, JSON.stringify(state)], signal)),
    listHeaviest: async (limit, signal) => (await database.run<HeavyRow>(HEAVIEST, [limit], signal)).map(heavyOf),
  };
}

function countedOf(row: CountRow): CountedUnit {
  const { id: unitId, epoch, applications, resources, entries: clusterEntries } = row;
  return { unitId, epoch, applications, resources, clusterEntries, known: knownOf(row) };
}

function heavyOf(row: HeavyRow): HeavyUnit {
  const { id: unitId, namespace, bucket, owner: instanceId } = row;
  return { unitId, namespace, bucket, instanceId, planning: loadOf(row.load), capacity: loadOf(row.capacity), known: knownOf(row) };
}
