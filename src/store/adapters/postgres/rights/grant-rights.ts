import type pg from "pg";
import { InputError } from "../../../../domain/errors.ts";
import { LOGINS } from "./database-rights.ts";
import { type LoginNames, renderGrants } from "./render-grants.ts";

interface LoginRow {
  readonly name: string;
  readonly is_there: boolean;
  /** What it may do that rights on tables do not limit; null: nothing. */
  readonly excess: string | null;
}

/** The owner of the tables, and what is known of the logins. */
const READ_LOGINS = `
select o.owner, pg_has_role(o.oid, 'member') as is_owner, current_user as "user", current_schema() as schema,
       (select json_agg(json_build_object('name', n.name, 'is_there', r.oid is not null, 'excess', case
          when r.rolsuper then 'is a superuser'
          when pg_has_role(r.oid, o.oid, 'member') then 'is a member of the owner ' || o.owner
          when r.rolcreaterole then 'may create roles (createrole)'
          when has_database_privilege(r.oid, current_database(), 'create') then 'may create schemas in this database'
          when has_schema_privilege(r.oid, current_schema(), 'create') then 'may create tables in the schema ' || current_schema() end) order by n.place)
          from unnest($1::text[]) with ordinality as n (name, place) left join pg_roles r on r.rolname = n.name) as logins
  from (select relowner as oid, pg_get_userbyid(relowner) as owner from pg_class where oid = to_regclass('fleet')) as o`;

interface Seen {
  readonly owner: string;
  readonly is_owner: boolean;
  readonly user: string;
  readonly schema: string;
  readonly logins: readonly LoginRow[];
}

/**
 * Gives the logins of Argosy's processes their rights, on a connection of the owner of the tables. Raises InputError when the connection is
 * somebody else's, a login is not there, or may do what no right on a table would keep it from.
 */
export async function grantRights(client: Pick<pg.Client, "query">, names: LoginNames): Promise<void> {
  const wanted = LOGINS.map((login) => names[login]);
  const { rows } = await client.query<Seen>(READ_LOGINS, [wanted]);
  const [seen] = rows;
  const whyNot = seen === undefined ? undefined : whyNotGrant(seen);
  if (whyNot !== undefined) throw whyNot;
  // Without `begin` several statements at once are one transaction.
  await client.query(renderGrants(names).join(";\n"));
}

function whyNotGrant({ owner, is_owner, user, schema, logins }: Seen): InputError | undefined {
  if (!is_owner)
    return new InputError(`granting rights as ${user}, and ${owner} owns the tables`, {
      code: "store.not-owner",
      path: "database.url",
      remedy: `Connect as ${owner}`,
    });
  const absent = logins.find(({ is_there }) => !is_there);
  if (absent !== undefined)
    return new InputError(`granting rights to ${absent.name}: the database server has no such role`, {
      code: "store.no-login",
      path: "database.grantTo",
      remedy: `Make it first, as an administrator of the server: create role "${absent.name}" login password '…'`,
    });
  const strong = logins.find(({ excess }) => excess !== null);
  if (strong === undefined) return undefined;
  return new InputError(`granting rights to ${strong.name}, which ${strong.excess}`, {
    code: "store.strong-login",
    path: "database.grantTo",
    remedy: strong.excess?.startsWith("may create tables")
      ? `Take that from it; where everybody may: revoke create on schema ${schema} from public`
      : "Take that from it, or name a role that has nothing but a login",
  });
}
