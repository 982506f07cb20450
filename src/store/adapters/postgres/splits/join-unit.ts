import type { Decision } from "../../../../domain/decision.ts";
import type { ApplicationId, InstanceId, UnitId, WorkspaceId } from "../../../../domain/ids.ts";
import type { Joining } from "../../../split/port.ts";
import type { Database, Statement } from "../database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../decisions.ts";
import { lockWorkspaces } from "../shards/forget-workspace.ts";
import { dealValues, hasOtherPartThere, lockPartsAsSeen } from "./parts-as-seen.ts";
import { passApplications } from "./pass-applications.ts";

/** The last part by number: the others keep theirs, for owner bindings are named by it. */
const MARK: Statement = {
  name: "mark_part_to_be_joined",
  text: `
with marked as (
  update placement_unit u set joins = o.id, row_version = u.row_version + 1
    from placement_unit o
   where u.id = $2 and o.id = $3 and u.workspace = $1 and o.workspace = $1 and u.id <> o.id and u.joins is null and o.joins is null
     and u.owner is not null and o.owner is not null
     and u.bucket = (select max(bucket) from placement_unit where workspace = $1)
     and not exists (select from application a where a.unit = u.id and a.environment is not null)
  returning u.id
), split as (
  update workspace_split set roomy_since = null, open_part = (select bucket from placement_unit where id = $3) where workspace = $1 and exists (select from marked)
), lost as (
  delete from bucket_part where workspace = $1 and key <> all ($4::text[]) and exists (select from marked)
), deal as (
  insert into bucket_part (workspace, key, part) select $1, d.key, d.part from unnest($4::text[], $5::integer[]) as d (key, part) where exists (select from marked)
  on conflict (workspace, key) do update set part = excluded.part
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $6, $7::timestamptz, $8, $9, $10, $11, $12::json from marked
)
select id from marked`,
};

/** Where both are, if both are at rest there and no third part is. */
const PLACE: Statement = {
  name: "find_place_of_takeover",
  text: `
select u.owner, u.workspace, o.id as into
  from placement_unit u join placement_unit o on o.id = u.joins
 where u.id = $1 and u.owner = o.owner and u.phase = 'IDLE' and o.phase = 'IDLE'
   and not exists (select from move m where m.unit in (u.id, o.id) and m.ended_at is null)
   and not ${hasOtherPartThere("u.id, o.id")}`,
};

const WORKSPACE: Statement = { name: "find_workspace_of_part", text: "select workspace from placement_unit where id = $1" };

const APPLICATIONS: Statement = {
  name: "list_applications_of_part",
  text: "select id, environment from application where unit = $1 order by id",
};

/** All that is measured of both is the other one's now. */
const RECKON: Statement = {
  name: "reckon_takeover",
  text: `
with gone as (
  delete from unit_load where unit = $1 returning planning, recent
), known as (
  update unit_load l
     set planning = (select array_agg(a + b order by n) from unnest(l.planning, g.planning) with ordinality as x (a, b, n)),
         recent = (select array_agg(a + b order by n) from unnest(l.recent, g.recent) with ordinality as x (a, b, n))
    from gone g where l.unit = $2
), whole as materialized (
  select u.id, (select array_agg(a + b order by n) from unnest(u.load, o.load) with ordinality as x (a, b, n)) as load from placement_unit u, placement_unit o where u.id = $2 and o.id = $1
)
update placement_unit u set load = case when u.id = w.id then w.load else '{0,0,0,0,0}' end from whole w where u.id in ($1, $2)`,
};

export const KEEP_APART: Statement = {
  name: "keep_parts_apart",
  text: `
update placement_unit u set joins = null, row_version = u.row_version + 1
 where u.id = $1 and u.joins is not null and not exists (select from placement_unit o where o.id = u.joins and o.took_from = u.id)`,
};

/** @see SplitStore.join */
export function joinUnit(database: Database, ids: DecisionIds, joining: Joining, signal: AbortSignal): Promise<boolean> {
  const { workspaceId, unitId, into, deal, decision } = joining;
  return database.transaction(
    "join_unit",
    async (run) => {
      if (!(await lockPartsAsSeen(run, joining))) return false;
      return (await run(MARK, [workspaceId, unitId, into, ...dealValues(deal), ...decisionValues(ids, decision)])).length > 0;
    },
    signal,
  );
}

/** @see SplitStore.takeOver */
export function takeOver(
  database: Database,
  ids: DecisionIds,
  { unitId, decision }: { readonly unitId: UnitId; readonly decision: Decision },
  signal: AbortSignal,
): Promise<boolean> {
  return database.transaction(
    "take_over_part",
    async (run) => {
      const [found] = await run<{ readonly workspace: WorkspaceId }>(WORKSPACE, [unitId]);
      const [workspace] = found === undefined ? [] : await lockWorkspaces(run, [found.workspace]);
      if (workspace?.state !== "active") return false;
      const [place] = await run<{ readonly owner: InstanceId; readonly into: UnitId }>(PLACE, [unitId]);
      if (place === undefined) return false;
      const applications = await run<{ readonly id: ApplicationId; readonly environment: string | null }>(APPLICATIONS, [unitId]);
      if (applications.some(({ environment }) => environment !== null)) return false;
      const passing = { ids: applications.map(({ id }) => id), from: unitId, to: place.into, instance: place.owner, decision };
      await passApplications(run, ids, passing);
      await run(RECKON, [unitId, place.into]);
      return true;
    },
    signal,
  );
}
