import type { UnitId } from "../../../../domain/ids.ts";
import type { SplitChange } from "../../../split/port.ts";
import type { Run, Statement } from "../database.ts";
import { lockWorkspaces } from "../shards/forget-workspace.ts";
import { numbers, texts } from "../sql-values.ts";

/** Read after the locks: nobody places a unit, or adds an application to one, until this ends. */
const SEEN: Statement = {
  name: "read_units_of_split",
  text: "select id, row_version from placement_unit where workspace = $1 order by id",
};

interface SeenRow {
  readonly id: UnitId;
  readonly row_version: number;
}

/** Locks a workspace and its parts. Returns whether it is active and its parts are what a change of them rests on. */
export async function lockPartsAsSeen(run: Run, { workspaceId, seen }: Pick<SplitChange, "workspaceId" | "seen">): Promise<boolean> {
  const [workspace] = await lockWorkspaces(run, [workspaceId]);
  if (workspace?.state !== "active") return false;
  const versions = new Map<string, number>(seen.map(({ id, rowVersion }) => [id, rowVersion]));
  const rows = await run<SeenRow>(SEEN, [workspaceId]);
  return rows.length === seen.length && rows.every(({ id, row_version: version }) => versions.get(id) === version);
}

/** Parameters for a deal: its keys, and the part of each. */
export function dealValues(deal: SplitChange["deal"]): readonly [string, string] {
  const entries = Object.entries(deal);
  return [texts(entries.map(([key]) => key)), numbers(entries.map(([, part]) => part))];
}

/** Condition: of the workspace of the unit `u`, a part other than those with `ids` is where `u` is, or a live move brings it there. */
export function hasOtherPartThere(ids: string): string {
  return `exists (
     select from placement_unit s
      where s.workspace = u.workspace and s.id not in (${ids})
        and (s.owner = u.owner or exists (select from move m where m.unit = s.id and m.to_instance = u.owner and m.ended_at is null)))`;
}

/** A workspace in one part is not split. */
export const FORGET_SPLIT: Statement = { name: "forget_split", text: "delete from workspace_split where workspace = $1 and parts = 1" };
