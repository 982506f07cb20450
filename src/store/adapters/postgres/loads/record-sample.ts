import type { LoadSample } from "../../../load/port.ts";
import type { Database, Statement } from "../database.ts";
import { loadValues } from "../rows.ts";
import { instant, numbers, sortedBy, texts } from "../sql-values.ts";

/** Counted applications are written by whoever records what users want: the first number of a unit's load is not touched here. */
const RECORD: Statement = {
  name: "record_load_sample",
  text: `
with sample as materialized (
  select i.unit, i.epoch, i.planning::double precision[] as planning, i.recent::double precision[] as recent, i.whole::bigint[] as whole, i.place
    from unnest($3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[]) with ordinality as i (unit, epoch, planning, recent, whole, place)
), held as materialized (
  select s.* from sample s cross join lateral (
    select u.id from placement_unit u
     where u.id = s.unit and u.owner = $1 and u.epoch = s.epoch
       and not exists (select from unit_load l where l.unit = u.id and l.at >= $2)
       for no key update of u) as u
   order by s.place
), unit_loads as (
  insert into unit_load as l (unit, planning, recent, at) select unit, planning, recent, $2::timestamptz from held order by unit
  on conflict (unit) do update set planning = excluded.planning, recent = excluded.recent, at = excluded.at where l.at < excluded.at
), loads as (
  update placement_unit u set load = array[u.load[1], h.whole[2], h.whole[3], h.whole[4], h.whole[5]] from held h where u.id = h.unit
)
insert into instance_load as l (instance, at, total, observation, cached_objects)
select i.id, $2::timestamptz, $8::bigint[], $9::json, $10::bigint from instance i where i.id = $1
on conflict (instance)
do update set at = excluded.at, total = excluded.total, observation = excluded.observation, cached_objects = excluded.cached_objects where l.at < excluded.at`,
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
