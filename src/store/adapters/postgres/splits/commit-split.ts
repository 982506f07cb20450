import { partOfDeal } from "../../../../domain/bucket.ts";
import type { Clock } from "../../../../domain/clock.ts";
import type { ApplicationId } from "../../../../domain/ids.ts";
import type { ApplicationSpec } from "../../../../domain/workspace.ts";
import { LOAD_PER_APPLICATION } from "../../../placement/planning-load.ts";
import type { SplitChange } from "../../../split/port.ts";
import type { Database, Run, Statement } from "../database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../decisions.ts";
import { instant, numbers, readable, texts } from "../sql-values.ts";
import { dealValues, FORGET_SPLIT, lockPartsAsSeen } from "./parts-as-seen.ts";

const RECORD: Statement = {
  name: "record_split",
  text: `
with split as (
  insert into workspace_split (workspace, parts, open_part, roomy_since) values ($1, $2, $3, $4)
  on conflict (workspace) do update set parts = excluded.parts, open_part = excluded.open_part, roomy_since = excluded.roomy_since
  returning workspace
), lost as (
  delete from bucket_part where workspace = $1 and key <> all ($5::text[])
), deal as (
  insert into bucket_part (workspace, key, part) select s.workspace, d.key, d.part from split s cross join unnest($5::text[], $6::integer[]) as d (key, part)
  on conflict (workspace, key) do update set part = excluded.part
), units as (
  insert into placement_unit (id, workspace, bucket, class, created_at)
  select n.id, $1, n.part, coalesce(u.wanted_class, u.class), $9 from unnest($7::text[], $8::integer[]) as n (id, part) join placement_unit u on u.workspace = $1 and u.bucket = 0
  on conflict (workspace, bucket) do nothing
  returning id
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $10, $11::timestamptz, $12, $13, $14, $15, $16::json where $10::text is not null
)
select count(pg_notify('argosy', 'unit:' || id)) as sent from units`,
};

/** Applications in parts that were never placed: nothing of them stands anywhere. */
const LOOSE: Statement = {
  name: "list_loose_applications",
  text: `select a.id, a.name, u.bucket as part, ${readable("a.spec")} -> 'destination' as destination from placement_unit u join application a on a.unit = u.id
 where u.workspace = $1 and u.epoch = 0 and u.owner is null order by a.id`,
};

/** A part whose number of applications changes is another unit to whoever decided about it. */
const REASSIGN: Statement = {
  name: "reassign_applications",
  text: `
with moved as (
  update application a set unit = u.id
    from unnest($2::text[], $3::integer[]) as m (id, part) join placement_unit u on u.workspace = $1 and u.bucket = m.part and u.epoch = 0 and u.owner is null
   where a.id = m.id
  returning a.id, a.unit
)
update application_status s set unit = m.unit from moved m where s.application = m.id`,
};

const RECKON: Statement = {
  name: "reckon_parts",
  text: `
with counted as materialized (
  select u.id, (select count(*) from application a where a.unit = u.id) as applications from placement_unit u
   where u.workspace = $1 and u.epoch = 0 and u.owner is null
), gone as (
  delete from placement_unit u using counted c where u.id = c.id and c.applications = 0 and u.bucket >= $2 returning u.id
), kept as (
  update placement_unit u
     set load = array[$3 * c.applications, 0, 0, 0, 0], desired_revision = u.desired_revision + 1, row_version = u.row_version + 1, unplaceable = null
    from counted c where u.id = c.id and not (c.applications = 0 and u.bucket >= $2)
  returning u.id
)
select count(pg_notify('argosy', 'unit:' || id)) as sent from kept`,
};

interface LooseRow {
  readonly id: ApplicationId;
  readonly name: string;
  readonly part: number;
  readonly destination: ApplicationSpec["destination"];
}

export function commitSplit(
  database: Database,
  { clock, ids }: { readonly clock: Clock; readonly ids: DecisionIds },
  change: SplitChange,
  signal: AbortSignal,
): Promise<boolean> {
  const { workspaceId, parts } = change;
  return database.transaction(
    "commit_split",
    async (run) => {
      if (!(await lockPartsAsSeen(run, change))) return false;
      await run(RECORD, recordValues(change, { clock, ids }));
      await reassign(run, change);
      await run(RECKON, [workspaceId, parts, LOAD_PER_APPLICATION]);
      await run(FORGET_SPLIT, [workspaceId]);
      return true;
    },
    signal,
  );
}

function recordValues(change: SplitChange, { clock, ids }: { readonly clock: Clock; readonly ids: DecisionIds }): readonly unknown[] {
  const { workspaceId, parts, openPart, roomySince, deal, newUnits, decision } = change;
  const head = [workspaceId, parts, openPart, roomySince === undefined ? null : instant(roomySince)];
  const units = [texts(newUnits.map(({ id }) => id)), numbers(newUnits.map(({ part }) => part)), instant(clock.now())];
  const journal = decision === undefined ? Array.from({ length: 7 }, () => null) : decisionValues(ids, decision);
  return [...head, ...dealValues(deal), ...units, ...journal];
}

async function reassign(run: Run, { workspaceId, deal }: SplitChange): Promise<void> {
  const loose = await run<LooseRow>(LOOSE, [workspaceId]);
  const moves = loose.flatMap(({ id, name, part, destination }) => {
    const to = partOfDeal(deal, { destination, name }) ?? part;
    return to === part ? [] : [{ id, to }];
  });
  if (moves.length > 0) await run(REASSIGN, [workspaceId, texts(moves.map(({ id }) => id)), numbers(moves.map(({ to }) => to))]);
}
