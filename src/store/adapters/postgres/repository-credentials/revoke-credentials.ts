import type { WorkspaceId } from "../../../../domain/ids.ts";
import type { Database, Statement } from "../database.ts";
import { texts } from "../sql-values.ts";
import { raiseUnits } from "./raise-units.ts";

const LOCK_UNITS: Statement = {
  name: "lock_units_of_repository_credentials",
  text: `
select id from placement_unit
 where workspace in (select workspace from repository_credential where uid = any ($1::text[]))
 order by id
   for no key update`,
};

const REVOKE: Statement = {
  name: "revoke_repository_credentials",
  text: `
with doomed as (
  delete from repository_credential where uid = any ($1::text[]) returning workspace, credential
), secrets as (
  delete from credential where id in (select credential from doomed)
)
select distinct workspace from doomed`,
};

export async function revokeCredentials(database: Database, uids: readonly string[], signal: AbortSignal): Promise<void> {
  if (uids.length === 0) return;
  await database.transaction(
    "revoke_repository_credentials",
    async (run) => {
      await run(LOCK_UNITS, [texts(uids)]);
      const rows = await run<{ readonly workspace: WorkspaceId }>(REVOKE, [texts(uids)]);
      await raiseUnits(
        run,
        rows.map(({ workspace }) => workspace),
      );
    },
    signal,
  );
}
