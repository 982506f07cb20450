import type { UnitId, WorkspaceId } from "../../../../domain/ids.ts";
import type { PlacementUnit } from "../../../../domain/workspace.ts";
import type { UnitWithWorkspace } from "../../../placement/port.ts";
import type { Database, Statement } from "../database.ts";
import { type DirectiveRow, directiveOf } from "../directives/directives.ts";
import { UNIT, type UnitRow, unitOf, WORKSPACE, type WorkspaceRow, workspaceOf } from "../rows.ts";

const READ: Statement = {
  name: "read_unit_with_workspace",
  text: `select ${UNIT}, ${WORKSPACE}, d.pin as d_pin, d.hold as d_hold
  from placement_unit u join workspace w on w.id = u.workspace left join directive d on d.workspace = u.workspace where u.id = $1`,
};

const OF_WORKSPACE: Statement = {
  name: "read_units_of_workspace",
  text: `select ${UNIT} from placement_unit u where u.workspace = $1 order by u.id`,
};

const UNPLACED: Statement = {
  name: "list_unplaced",
  text: "select id from placement_unit where owner is null order by created_at, id limit $1",
};

export async function readUnitWithWorkspace(database: Database, id: UnitId, signal: AbortSignal): Promise<UnitWithWorkspace | undefined> {
  const [row] = await database.run<UnitRow & WorkspaceRow & DirectiveRow>(READ, [id], signal);
  return row === undefined ? undefined : { unit: unitOf(row), workspace: workspaceOf(row), directive: directiveOf(row) };
}

export async function readUnitsOf(database: Database, workspaceId: WorkspaceId, signal: AbortSignal): Promise<readonly PlacementUnit[]> {
  return (await database.run<UnitRow>(OF_WORKSPACE, [workspaceId], signal)).map(unitOf);
}

export async function listUnplaced(database: Database, limit: number, signal: AbortSignal): Promise<readonly UnitId[]> {
  return (await database.run<{ readonly id: UnitId }>(UNPLACED, [limit], signal)).map((row) => row.id);
}
