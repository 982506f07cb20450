import { FUNCTION_RIGHTS, LOGINS, type Login, type RightsOf, SEQUENCE_RIGHTS, TABLE_RIGHTS } from "./database-rights.ts";

/** Names of the PostgreSQL roles that the two kinds of processes connect as. */
export type LoginNames = Readonly<Record<Login, string>>;

const PARTS = [
  ["table", TABLE_RIGHTS],
  ["sequence", SEQUENCE_RIGHTS],
  ["function", FUNCTION_RIGHTS],
] as const;

/**
 * Statements that give each login what `database-rights.ts` says, and take from it whatever else was granted on the same things. Run by the owner
 * of the tables as one transaction, as often as anybody likes. Names of tables are found by the owner's search_path, as everywhere.
 */
export function renderGrants(names: LoginNames): readonly string[] {
  const all = LOGINS.map((login) => quoted(names[login])).join(", ");
  const revokes = PARTS.map(([kind, rights]) => `revoke all on ${kind} ${Object.keys(rights).join(", ")} from ${all}`);
  const schema = `do $$ begin execute format('grant usage on schema %I to ${all}', current_schema()); end $$`;
  return [...revokes, schema, ...LOGINS.flatMap((login) => PARTS.flatMap(([kind, rights]) => grants(kind, rights, login, names[login])))];
}

/** The same as a script for `psql`. */
export function renderGrantScript(names: LoginNames): string {
  const [first, second] = LOGINS.map((login) => quoted(names[login]));
  return [
    `-- What the logins of Argosy's processes may do: ${first} of all roles but api, ${second} of the role api. For the owner of the tables.`,
    "-- Make the logins before, once: create role … login password '…'. They own nothing and may create nothing.",
    "begin;",
    ...renderGrants(names).map((statement) => `${statement};`),
    "commit;",
  ].join("\n");
}

function grants(kind: string, rights: Readonly<Record<string, RightsOf>>, login: Login, name: string): readonly string[] {
  return Object.entries(rights).flatMap(([thing, { [login]: right }]) =>
    right === "" ? [] : [`grant ${right} on ${kind} ${thing} to ${quoted(name)}`],
  );
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
