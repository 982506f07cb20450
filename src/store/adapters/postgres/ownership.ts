import type { OwnedApplication, OwnershipStore } from "../../port.ts";
import type { Database, Statement } from "./database.ts";
import { sqlText, texts } from "./sql-values.ts";

/** What is said of the applications in `chosen`, each row by its key. */
const OWNED = `
select a.id, a.argo_name as "argoName", a.unit as "unitId", u.owner, u.class, w.apart, u.phase = 'MOVING' as "isMoving", a.deleted_at is not null as "isLeaving",
       coalesce(s.has_said, false)
         and (a.environment is null or exists (
           select from environment e where e.workspace = a.workspace and e.name = a.environment and e.state = 'connected')) as "hasStood"
  from chosen a
 cross join lateral (select owner, class, phase from placement_unit where id = a.unit offset 0) as u
 cross join lateral (select apart from workspace where id = a.workspace offset 0) as w
  left join lateral (select hash is not null as has_said from application_status where application = a.id offset 0) as s on true
 order by a.id`;
const COLUMNS = "id, argo_name, unit, workspace, environment, deleted_at";

const LIST: Statement = {
  name: "list_owned_applications",
  text: `with chosen as materialized (select ${COLUMNS} from application where id > $1 order by id limit $2)${OWNED}`,
};

const READ: Statement = {
  name: "read_owned_applications",
  text: `
with named as materialized (
  select a.id from unnest($1::text[]) as n (id) cross join lateral (select id from application where id = n.id offset 0) as a
  union
  select a.id from unnest($2::text[]) as n (id) cross join lateral (select id from application where unit = n.id offset 0) as a
  union
  select a.id from unnest($3::text[]) as n (name) cross join lateral (select id from application where argo_name = n.name offset 0) as a
), chosen as materialized (
  select a.* from named n cross join lateral (select ${COLUMNS} from application where id = n.id offset 0) as a
)${OWNED}`,
};

type Row = Omit<OwnedApplication, "apart" | "owner"> & {
  readonly apart: NonNullable<OwnedApplication["apart"]> | null;
  readonly owner: OwnedApplication["owner"] | null;
};

function ownedOf({ apart, owner, ...row }: Row): readonly OwnedApplication[] {
  return owner === null ? [] : [{ ...row, owner, ...(apart === null ? {} : { apart }) }];
}

export function createOwnershipStore(database: Database): OwnershipStore {
  return {
    async listOwned({ after, limit }, signal) {
      const rows = await database.run<Row>(LIST, [sqlText(after), limit], signal);
      return { owned: rows.flatMap(ownedOf), next: rows.length < limit ? undefined : rows.at(-1)?.id };
    },
    async readOwned({ applications, units, argoNames }, signal) {
      const values = [texts(applications), texts(units), texts(argoNames)];
      return (await database.run<Row>(READ, values, signal)).flatMap(ownedOf);
    },
  };
}
