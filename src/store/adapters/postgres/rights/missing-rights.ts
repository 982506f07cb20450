import { InputError } from "../../../../domain/errors.ts";
import type { Role } from "../../../../domain/role.ts";
import type { Database, Statement } from "../database.ts";
import { texts } from "../sql-values.ts";
import { FUNCTION_RIGHTS, loginsOf, parseRights, type RightsOf, SEQUENCE_RIGHTS, TABLE_RIGHTS } from "./database-rights.ts";

/** Of rights in the order of the arrays those that the connection's user does not have, and who that is. */
const MISSING: Statement = {
  name: "find_missing_rights",
  isPrepared: false,
  text: `
select current_user as "user", coalesce(array_agg(r.privilege || ' on ' || r.thing order by r.place) filter (where not case r.kind
         when 'sequence' then has_sequence_privilege(r.thing, r.privilege)
         when 'function' then has_function_privilege(r.thing, r.privilege)
         else case when r.col is null then has_table_privilege(r.thing, r.privilege) else has_column_privilege(r.thing, r.col, r.privilege) end end), '{}') as missing
  from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality as r (kind, thing, privilege, col, place)`,
};

interface Needed {
  readonly kind: string;
  readonly thing: string;
  readonly privilege: string;
  readonly column: string | undefined;
}

function needed(kind: string, rights: Readonly<Record<string, RightsOf>>, roles: readonly Role[]): readonly Needed[] {
  return loginsOf(roles).flatMap((login) =>
    Object.entries(rights).flatMap(([thing, { [login]: text }]) =>
      parseRights(text).flatMap(({ privilege, columns }) =>
        (columns.length === 0 ? [undefined] : columns).map((column) => ({ kind, thing, privilege, column })),
      ),
    ),
  );
}

/** More than these are one command that was not run: naming them all helps nobody. */
const NAMED = 3;

/** Raises `InputError` when the user of the database may not do what processes of these roles do. The owner of the tables may do everything. */
export async function checkRights(database: Pick<Database, "run">, roles: readonly Role[], signal: AbortSignal): Promise<void> {
  const all = [
    ...needed("table", TABLE_RIGHTS, roles),
    ...needed("sequence", SEQUENCE_RIGHTS, roles),
    ...needed("function", FUNCTION_RIGHTS, roles),
  ];
  const values = [
    texts(all.map(({ kind }) => kind)),
    texts(all.map(({ thing }) => thing)),
    texts(all.map(({ privilege }) => privilege)),
    texts(all.map(({ column }) => column)),
  ];
  const [row] = await database.run<{ readonly user: string; readonly missing: readonly string[] }>(MISSING, values, signal);
  const missing = row?.missing ?? [];
  if (row === undefined || missing.length === 0) return;
  const more = missing.length > NAMED ? ` and ${missing.length - NAMED} more` : "";
  throw new InputError(`using the database as ${row.user}, who has no right to ${missing.slice(0, NAMED).join(", ")}${more}`, {
    code: "store.missing-rights",
    path: "database.url",
    remedy:
      "Let the owner of the tables run `argosy database grant`; `argosy migrate` does the same where database.grantTo names the logins",
  });
}
