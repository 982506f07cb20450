import type { UnitId, WorkspaceId } from "../../../../domain/ids.ts";
import type { PlacementUnit } from "../../../../domain/workspace.ts";
import type { Page } from "../../../operation/port.ts";
import type { UnitWithWorkspace } from "../../../placement/port.ts";
import type { Database, Statement } from "../database.ts";
import { type DirectiveRow, directiveOf } from "../directives.ts";
import { UNIT, type UnitRow, unitOfRow, WORKSPACE, type WorkspaceRow, workspaceOfRow } from "../rows.ts";
import { texts } from "../sql-values.ts";

/** Of a unit `u`. */
const WITH_WORKSPACE = `select ${UNIT}, u.unplaceable as refused, ${WORKSPACE}, d.pin as d_pin, d.hold as d_hold, d.assigned as d_assigned,
       array(select s.owner from placement_unit s where s.workspace = u.workspace and s.id <> u.id and s.owner is not null
              union select m.to_instance from move m join placement_unit s on s.id = m.unit where s.workspace = u.workspace and s.id <> u.id and m.ended_at is null
              order by 1)::text[] as siblings,
       (select coalesce(json_agg(s order by s.instance, s.label, s.value), '[]') from (
          select distinct there.instance, theirs.label, theirs.value
            from json_each_text(w.apart) as mine (label, value)
           cross join workspace other
           cross join json_each_text(other.apart) as theirs (label, value)
            join (select owner as instance, workspace from placement_unit
                   union
                  select i.instance, s.workspace from move m join placement_unit s on s.id = m.unit cross join lateral (values (m.from_instance), (m.to_instance)) as i (instance)
                   where m.ended_at is null) as there on there.workspace = other.id and there.instance is not null
           where other.apart is not null and other.id <> w.id and theirs.label = mine.label and theirs.value <> mine.value) as s) as strangers,
       array(select s.owner from workspace other join placement_unit s on s.workspace = other.id
              where other.together = w.together and other.id <> w.id and s.owner is not null
              group by s.owner order by count(*) desc, s.owner)::text[] as companions`;

const READ: Statement = {
  name: "read_unit_with_workspace",
  text: `${WITH_WORKSPACE}
  from placement_unit u join workspace w on w.id = u.workspace left join directive d on d.workspace = u.workspace where u.id = $1`,
};

const READ_SOME: Statement = {
  name: "read_units_with_workspaces",
  text: `${WITH_WORKSPACE}
  from unnest($1::text[]) as k (id)
 cross join lateral (select * from placement_unit where id = k.id offset 0) as u
 cross join lateral (select * from workspace where id = u.workspace offset 0) as w
  left join lateral (select * from directive where workspace = u.workspace offset 0) as d on true
 order by u.id`,
};

const OF_WORKSPACE: Statement = {
  name: "read_units_of_workspace",
  text: `select ${UNIT} from placement_unit u where u.workspace = $1 order by u.id`,
};

const UNSETTLED: Statement = {
  name: "list_unsettled",
  text: `select u.id from placement_unit u
 where (u.owner is null or u.wanted_class is not null or u.is_regrouped)
   and not exists (select from move m where m.unit = u.id and m.ended_at is null)
   and ($2 = '' or (u.created_at, u.id) > (select created_at, id from placement_unit where id = $2))
 order by u.created_at, u.id limit $1`,
};

type Row = UnitRow &
  WorkspaceRow &
  DirectiveRow &
  Pick<UnitWithWorkspace, "siblings" | "strangers" | "companions"> & { readonly refused: string | null };

export async function readUnitWithWorkspace(database: Database, id: UnitId, signal: AbortSignal): Promise<UnitWithWorkspace | undefined> {
  const [row] = await database.run<Row>(READ, [id], signal);
  return row === undefined ? undefined : unitWithWorkspaceOf(row);
}

export async function readUnitsWithWorkspaces(
  database: Database,
  ids: readonly UnitId[],
  signal: AbortSignal,
): Promise<readonly UnitWithWorkspace[]> {
  return (await database.run<Row>(READ_SOME, [texts([...new Set(ids)].sort())], signal)).map(unitWithWorkspaceOf);
}

function unitWithWorkspaceOf(row: Row): UnitWithWorkspace {
  const { siblings, strangers, companions, refused } = row;
  const known = { unit: unitOfRow(row), workspace: workspaceOfRow(row), directive: directiveOf(row), siblings, strangers, companions };
  return refused === null ? known : { ...known, refused };
}

export async function readUnitsOf(database: Database, workspaceId: WorkspaceId, signal: AbortSignal): Promise<readonly PlacementUnit[]> {
  return (await database.run<UnitRow>(OF_WORKSPACE, [workspaceId], signal)).map(unitOfRow);
}

export async function listUnsettled(database: Database, { limit, after }: Page, signal: AbortSignal): Promise<readonly UnitId[]> {
  return (await database.run<{ readonly id: UnitId }>(UNSETTLED, [limit, after], signal)).map((row) => row.id);
}
