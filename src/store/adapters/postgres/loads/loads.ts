import type { PoolSizes } from "../../../../domain/capacity.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../../../domain/ids.ts";
import type { CountedUnit, HeavyUnit, LoadStore } from "../../../load/port.ts";
import type { Database, Statement } from "../database.ts";
import { loadOfRow } from "../rows.ts";
import {
  INSTANCE_LOADS,
  type InstanceLoadRow,
  instanceLoadOf,
  JOIN_KNOWN,
  KNOWN,
  type KnownRow,
  knownOf,
  LIST_SIZES,
  READ_CLASS_LOAD,
  stateOf,
} from "./load-row.ts";
import { recordSample } from "./record-sample.ts";

const COUNT: Statement = {
  name: "count_units_load",
  text: `
select u.id, u.workspace, w.namespace, u.epoch, d.destinations, r.repositories, ${KNOWN}
  from placement_unit u
  join workspace w on w.id = u.workspace
 cross join lateral (
   select coalesce(json_agg(json_build_object(
            'isOwn', g.environment is null, 'applications', g.applications, 'resources', g.resources,
            'environments', array(select e.id from environment e where e.workspace = u.workspace and e.name = g.environment order by e.id)
          ) order by g.environment nulls first), '[]') as destinations
     from (select a.environment, count(*) as applications, coalesce(sum(s.resource_count), 0)::bigint as resources
             from application a left join application_status s on s.application = a.id
            where a.unit = u.id
            group by a.environment) as g) as d
 cross join lateral (
   select coalesce(json_object_agg(g.repo_url, g.applications order by g.repo_url), '{}') as repositories
     from (select a.repo_url, count(*) as applications from application a where a.unit = u.id group by a.repo_url) as g) as r
  ${JOIN_KNOWN}
 where u.owner = $1
 order by u.id`,
};

const RECORD_STATE: Statement = {
  name: "record_class_load",
  text: "insert into class_load (class, state) values ($1, $2::json) on conflict (class) do update set state = excluded.state",
};

const heaviest = (name: string, scope: string): Statement => ({
  name,
  text: `
select u.id, w.namespace, u.bucket, u.owner, u.load, i.capacity, ${KNOWN}
  from placement_unit u
  join instance i on i.id = u.owner
  join workspace w on w.id = u.workspace
  ${JOIN_KNOWN}
 cross join lateral (select max(d.load::numeric / d.capacity) as share from unnest(u.load, i.capacity) as d (load, capacity) where d.capacity > 0) as h
 ${scope}
 order by h.share desc nulls last, u.id
 limit $1`,
});
const HEAVIEST = heaviest("list_heaviest", "");
const HEAVIEST_OF_INSTANCE = heaviest("list_heaviest_of_instance", "where u.owner = $2");

interface CountRow extends KnownRow {
  readonly id: UnitId;
  readonly workspace: WorkspaceId;
  readonly namespace: string;
  readonly epoch: number;
  readonly destinations: CountedUnit["destinations"];
  readonly repositories: CountedUnit["repositories"];
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
    async listSizes(signal) {
      const rows = await database.run<{ readonly sizes: PoolSizes | null }>(LIST_SIZES, [], signal);
      return Object.assign({}, ...rows.map(({ sizes }) => sizes ?? {})) as PoolSizes;
    },
    listHeaviest: async ({ limit, instanceId }, signal) =>
      (instanceId === undefined
        ? await database.run<HeavyRow>(HEAVIEST, [limit], signal)
        : await database.run<HeavyRow>(HEAVIEST_OF_INSTANCE, [limit, instanceId], signal)
      ).map(heavyOf),
  };
}

function countedOf(row: CountRow): CountedUnit {
  const { id: unitId, workspace: workspaceId, namespace, epoch, destinations, repositories } = row;
  return { unitId, workspaceId, namespace, epoch, destinations, repositories, known: knownOf(row) };
}

function heavyOf(row: HeavyRow): HeavyUnit {
  const { id: unitId, namespace, bucket, owner: instanceId } = row;
  return { unitId, namespace, bucket, instanceId, planning: loadOfRow(row.load), capacity: loadOfRow(row.capacity), known: knownOf(row) };
}
