import type { OwnedApplication, OwnershipStore } from "../../port.ts";
import type { Database, Statement } from "./database.ts";
import { sqlText } from "./sql-values.ts";

const OWNED: Statement = {
  name: "list_owned_applications",
  text: `
select a.id, a.argo_name as "argoName", a.unit as "unitId", u.owner, u.class, w.apart, u.phase = 'MOVING' as "isMoving", a.deleted_at is not null as "isLeaving",
       coalesce(s.hash is not null, false)
         and (a.environment is null or exists (
           select from environment e where e.workspace = a.workspace and e.name = a.environment and e.state = 'connected')) as "hasStood"
  from application a
  join placement_unit u on u.id = a.unit
  join workspace w on w.id = a.workspace
  left join application_status s on s.application = a.id
 where a.id > $1 and u.owner is not null
 order by a.id
 limit $2`,
};

type Row = Omit<OwnedApplication, "apart"> & { readonly apart: NonNullable<OwnedApplication["apart"]> | null };

export function createOwnershipStore(database: Database): OwnershipStore {
  return {
    listOwned: async ({ after, limit }, signal) =>
      (await database.run<Row>(OWNED, [sqlText(after), limit], signal)).map(({ apart, ...row }) =>
        apart === null ? row : { ...row, apart },
      ),
  };
}
