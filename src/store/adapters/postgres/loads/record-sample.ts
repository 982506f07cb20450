import type { LoadSample } from "../../../load/port.ts";
import type { Database, Statement } from "../database.ts";
import { loadValues } from "../rows.ts";
import { instant, numbers, sortedBy, texts } from "../sql-values.ts";

/**
 * The instance's row is written first and decides: a sample that is older than the last one waits for it, finds that and records nothing.
 * A unit of which nothing is new is neither locked nor written. Counted applications are written by whoever records what users want: the
 * first number of a unit's load is not touched here.
 */
const RECORD: Statement = {
  name: "record_load_sample",
  text: `
with latest as materialized (
  insert into instance_load as l (instance, at, total, observation, cached_objects)
  select i.id, $2::timestamptz, $8::bigint[], $9::json, $10::bigint from instance i where i.id = $1
  on conflict (instance)
  do update set at = excluded.at, total = excluded.total, observation = excluded.observation, cached_objects = excluded.cached_objects where l.at < excluded.at
  returning l.instance
), sample as materialized (
  select i.unit, i.epoch, i.planning::double precision[] as planning, i.recent::double precision[] as recent, i.whole::bigint[] as whole, i.place
    from unnest($3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[]) with ordinality as i (unit, epoch, planning, recent, whole, place)
), changed as materialized (
  select s.* from latest t cross join sample s cross join lateral (
    select u.id from placement_unit u
     where u.id = s.unit and u.owner = t.instance and u.epoch = s.epoch
       and not exists (select from unit_load l where l.unit = u.id and l.at >= $2)
       and (u.load[2:5] <> s.whole[2:5] or not exists (select from unit_load l where l.unit = u.id and l.planning = s.planning and l.recent = s.recent))
       for no key update of u) as u
   order by s.place
), unit_loads as (
  insert into unit_load as l (unit, planning, recent, at) select unit, planning, recent, $2::timestamptz from changed order by unit
  on conflict (unit) do update set planning = excluded.planning, recent = excluded.recent, at = excluded.at
   where l.at < excluded.at and (l.planning <> excluded.planning or l.recent <> excluded.recent)
)
update placement_unit u set load = array[u.load[1], c.whole[2], c.whole[3], c.whole[4], c.whole[5]] from changed c
 where u.id = c.unit and u.load[2:5] <> c.whole[2:5]`,
};

export async function recordSample(database: Database, sample: LoadSample, signal: AbortSignal): Promise<void> {
  const units = sortedBy(sample.units, ({ unitId }) => unitId);
  const values = [
    sample.instanceId,
    instant(sample.at),
    texts(units.map(({ unitId }) => unitId)),
    numbers(units.map(({ epoch }) => epoch)),
    texts(units.map(({ load }) => numbers(loadValues(load.planning)))),
    texts(units.map(({ load }) => numbers(loadValues(load.recent)))),
    texts(units.map(({ whole }) => numbers(loadValues(whole)))),
    numbers(loadValues(sample.total)),
    sample.observation === undefined ? null : JSON.stringify(sample.observation),
    sample.cachedObjects ?? null,
  ];
  await database.run(RECORD, values, signal);
}
