import { partOfDeal } from "../../../../domain/bucket.ts";
import type { Clock } from "../../../../domain/clock.ts";
import type { ApplicationId, InstanceId } from "../../../../domain/ids.ts";
import type { ApplicationSpec } from "../../../../domain/workspace.ts";
import { LOAD_PER_APPLICATION } from "../../../placement/planning-load.ts";
import type { Cut } from "../../../split/port.ts";
import type { Database, Run, Statement } from "../database.ts";
import type { DecisionIds } from "../decisions.ts";
import { loadValues } from "../rows.ts";
import { instant, numbers, readable } from "../sql-values.ts";
import { dealValues, hasOtherPartThere, lockPartsAsSeen } from "./parts-as-seen.ts";
import { passApplications } from "./pass-applications.ts";

/** Where the unit is, if it may be cut: at rest, nobody is to move it, and no other part of its workspace is or will be there. */
const PLACE: Statement = {
  name: "find_place_of_cut",
  text: `
select u.owner from placement_unit u
 where u.id = $1 and u.phase = 'IDLE' and u.owner is not null and u.joins is null and u.wanted_class is null and not u.is_regrouped
   and not exists (select from move m where m.unit = u.id and m.ended_at is null)
   and not ${hasOtherPartThere("u.id")}`,
};

const APPLICATIONS: Statement = {
  name: "list_applications_of_cut",
  text: `select a.id, a.name, a.environment, ${readable("a.spec")} -> 'destination' as destination from application a where a.unit = $1 order by a.id`,
};

const RECORD: Statement = {
  name: "record_cut",
  text: `
with split as (
  insert into workspace_split (workspace, parts, open_part) select $1, count(*) + 1, 0 from placement_unit where workspace = $1
  on conflict (workspace) do update set parts = excluded.parts, roomy_since = null
  returning workspace
), lost as (
  delete from bucket_part where workspace = $1 and key <> all ($2::text[])
)
insert into bucket_part (workspace, key, part) select s.workspace, d.key, d.part from split s cross join unnest($2::text[], $3::integer[]) as d (key, part)
on conflict (workspace, key) do update set part = excluded.part`,
};

/** Its epoch is given to it with its applications. */
const MAKE: Statement = {
  name: "make_part_in_place",
  text: `
insert into placement_unit (id, workspace, bucket, class, owner, epoch, phase, load, created_at)
select $2, u.workspace, $3, u.class, u.owner, u.epoch, 'IDLE', $4::bigint[], $5 from placement_unit u where u.id = $1`,
};

/** What is known of the load is dealt as the planning load is: the next samples measure each of the two. */
const RECKON: Statement = {
  name: "reckon_cut",
  text: `
with shares as (
  select array_agg(case when l.amount + s.amount > 0 then s.amount::double precision / (l.amount + s.amount) else 0 end order by l.place) as staying
    from unnest($3::bigint[]) with ordinality as l (amount, place) join unnest($4::bigint[]) with ordinality as s (amount, place) using (place)
), known as (
  select unit, planning, recent, at from unit_load where unit = $1
), stayed as (
  insert into unit_load (unit, planning, recent, at)
  select $2, (select array_agg(p * s order by n) from unnest(k.planning, h.staying) with ordinality as x (p, s, n)),
         (select array_agg(r * s order by n) from unnest(k.recent, h.staying) with ordinality as x (r, s, n)), k.at
    from known k cross join shares h
), left_over as (
  update unit_load l
     set planning = (select array_agg(p * (1 - s) order by n) from unnest(l.planning, h.staying) with ordinality as x (p, s, n)),
         recent = (select array_agg(r * (1 - s) order by n) from unnest(l.recent, h.staying) with ordinality as x (r, s, n))
    from shares h where l.unit = $1
)
update placement_unit u
   set load = (select array_agg(case when n = 1 then $5 * (select count(*) from application where unit = u.id) else v end order by n)
                 from unnest(case when u.id = $1 then $3::bigint[] else $4::bigint[] end) with ordinality as x (v, n))
 where u.id in ($1, $2)`,
};

interface CutApplication {
  readonly id: ApplicationId;
  readonly name: string;
  readonly environment: string | null;
  readonly destination: ApplicationSpec["destination"];
}

/** @see SplitStore.cut */
export function cutUnit(
  database: Database,
  { clock, ids }: { readonly clock: Clock; readonly ids: DecisionIds },
  cut: Cut,
  signal: AbortSignal,
): Promise<boolean> {
  const { workspaceId, unitId, staying, deal, loads, decision } = cut;
  return database.transaction(
    "cut_unit",
    async (run) => {
      if (!(await lockPartsAsSeen(run, cut))) return false;
      const [place] = await run<{ readonly owner: InstanceId }>(PLACE, [unitId]);
      const passing = place === undefined ? [] : await stayingOf(run, cut);
      if (place === undefined || passing.length === 0 || passing.some(({ environment }) => environment !== null)) return false;
      await run(RECORD, [workspaceId, ...dealValues(deal)]);
      await run(MAKE, [unitId, staying.id, staying.part, numbers(loadValues(loads.staying)), instant(clock.now())]);
      const applications = passing.map(({ id }) => id);
      await passApplications(run, ids, { ids: applications, from: unitId, to: staying.id, instance: place.owner, decision });
      const values = [numbers(loadValues(loads.leaving)), numbers(loadValues(loads.staying))];
      await run(RECKON, [unitId, staying.id, ...values, LOAD_PER_APPLICATION]);
      return true;
    },
    signal,
  );
}

/** The unit's applications whose bucket the deal gives to the part that stays. */
async function stayingOf(run: Run, { unitId, staying, deal }: Cut): Promise<readonly CutApplication[]> {
  const applications = await run<CutApplication>(APPLICATIONS, [unitId]);
  return applications.filter((each) => partOfDeal(deal, each) === staying.part);
}
