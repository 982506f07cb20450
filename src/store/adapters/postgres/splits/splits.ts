import type { Clock, Millis } from "../../../../domain/clock.ts";
import type { WorkspaceId } from "../../../../domain/ids.ts";
import type { PlacementUnit } from "../../../../domain/workspace.ts";
import type { SplitApplicationRow, SplitRow, SplitStore } from "../../../split/port.ts";
import type { Database, Statement } from "../database.ts";
import type { DecisionIds } from "../decisions.ts";
import { loadValues, UNIT, type UnitRow, unitOfRow } from "../rows.ts";
import { numbers, readable } from "../sql-values.ts";
import { commitSplit } from "./commit-split.ts";
import { cutUnit } from "./cut-unit.ts";
import { joinUnit, KEEP_APART, takeOver } from "./join-unit.ts";

/** Everything is read as of one moment, however many statements that takes. */
const ONE_MOMENT: Statement = { name: "read_splits_at_one_moment", text: "set transaction isolation level repeatable read, read only" };

const SPLITS: Statement = {
  name: "list_splits",
  text: `
select n.workspace, coalesce(s.parts, 1) as parts, coalesce(s.open_part, 0) as open_part, s.roomy_since,
       (select coalesce(json_object_agg(b.key, b.part), '{}') from bucket_part b where b.workspace = n.workspace) as deal
  from (select u.workspace from placement_unit u left join workspace_split x on x.workspace = u.workspace
         where u.class = $1
         group by u.workspace
        having bool_or(x.workspace is not null)
            or sum(u.load[1]) > ($2::bigint[])[1] or sum(u.load[2]) > ($2::bigint[])[2] or sum(u.load[3]) > ($2::bigint[])[3]
            or sum(u.load[4]) > ($2::bigint[])[4] or sum(u.load[5]) > ($2::bigint[])[5]) as n
  join workspace w on w.id = n.workspace and w.state = 'active'
  left join workspace_split s on s.workspace = n.workspace
 order by n.workspace`,
};

const UNITS: Statement = {
  name: "list_units_of_splits",
  text: `select ${UNIT} from placement_unit u where u.workspace = any ($1::text[]) order by u.workspace, u.bucket`,
};

const APPLICATIONS: Statement = {
  name: "list_applications_of_splits",
  text: `
select a.id, a.workspace, a.name, u.bucket as part, coalesce(a.environment, '') as environment,
       coalesce(${readable("a.spec")} -> 'destination' ->> 'namespace', '') as namespace, s.resource_count as resources,
       coalesce((select bool_or(coalesce(r ->> 'namespace', '') = '') from json_array_elements(${readable("s.resources")}) as r), false) as has_cluster_scoped
  from application a join placement_unit u on u.id = a.unit left join application_status s on s.application = a.id
 where a.workspace = any ($1::text[])
 order by a.workspace, a.id`,
};

interface Head {
  readonly workspace: WorkspaceId;
  readonly parts: number;
  readonly open_part: number;
  readonly roomy_since: Millis | null;
  readonly deal: Readonly<Record<string, number>>;
}

type ApplicationRow = Pick<SplitApplicationRow, "id" | "part" | "name" | "environment" | "namespace"> & {
  readonly workspace: WorkspaceId;
  readonly resources: number | null;
  readonly has_cluster_scoped: boolean;
};

export function createSplitStore(database: Database, clock: Clock, ids: DecisionIds): SplitStore {
  return {
    list: (className, beyond, signal) =>
      database.transaction(
        "list_splits",
        async (run) => {
          await run(ONE_MOMENT, []);
          const heads = await run<Head>(SPLITS, [className, numbers(loadValues(beyond))]);
          if (heads.length === 0) return [];
          const workspaces = heads.map(({ workspace }) => workspace);
          const units = Map.groupBy((await run<UnitRow>(UNITS, [workspaces])).map(unitOfRow), ({ workspaceId }) => workspaceId);
          const applications = Map.groupBy(await run<ApplicationRow>(APPLICATIONS, [workspaces]), ({ workspace }) => workspace);
          return heads.map((head) => splitOf(head, units.get(head.workspace) ?? [], applications.get(head.workspace) ?? []));
        },
        signal,
      ),
    commit: (change, signal) => commitSplit(database, { clock, ids }, change, signal),
    cut: (cut, signal) => cutUnit(database, { clock, ids }, cut, signal),
    join: (joining, signal) => joinUnit(database, ids, joining, signal),
    takeOver: (unitId, decision, signal) => takeOver(database, ids, { unitId, decision }, signal),
    keepApart: async (unitId, signal) => void (await database.run(KEEP_APART, [unitId], signal)),
  };
}

function splitOf(head: Head, units: readonly PlacementUnit[], applications: readonly ApplicationRow[]): SplitRow {
  return {
    workspaceId: head.workspace,
    units,
    parts: head.parts,
    openPart: head.open_part,
    roomySince: head.roomy_since ?? undefined,
    deal: head.deal,
    applications: applications.map(({ id, part, name, environment, namespace, resources, has_cluster_scoped: hasClusterScoped }) => ({
      id,
      part,
      name,
      environment,
      namespace,
      hasClusterScoped,
      resources: resources ?? undefined,
    })),
  };
}
