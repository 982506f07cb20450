import { silentLog } from "../../telemetry/log.ts";
import { grantTo, migrate } from "../adapters/postgres/migrate.ts";
import { LOGINS, type Login } from "../adapters/postgres/rights/database-rights.ts";
import type { LoginNames } from "../adapters/postgres/rights/render-grants.ts";
import type { TestDatabase, TestServer } from "./test-server.ts";

export const LOGIN_NAMES: LoginNames = { controlPlane: "argosy_control_plane", api: "argosy_api" };
const OWNER = "argosy_owner";
const PASSWORD = "of-a-test";

/** A database whose tables belong to a login that is no superuser, with the connection strings of three logins. */
export interface OwnedDatabase extends TestDatabase {
  /** Of a superuser. */
  readonly url: string;
  readonly owner: string;
  readonly logins: Readonly<Record<Login, string>>;
}

/** The logins are there and have no rights yet. */
export async function createOwned(server: TestServer): Promise<OwnedDatabase> {
  for (const name of [OWNER, ...LOGINS.map((login) => LOGIN_NAMES[login])])
    await server.query(
      `do $$ begin if to_regrole('${name}') is null then create role ${name} login password '${PASSWORD}'; end if; end $$`,
    );
  const database = await server.createEmpty();
  const as = (user: string): string => Object.assign(new URL(database.url), { username: user, password: PASSWORD }).href;
  await server.query(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${OWNER}`);
  const owner = as(OWNER);
  await migrate({ url: owner, log: silentLog, signal: AbortSignal.timeout(60_000) });
  return { ...database, owner, logins: { controlPlane: as(LOGIN_NAMES.controlPlane), api: as(LOGIN_NAMES.api) } };
}

/** The same, with their rights. */
export async function createGranted(server: TestServer): Promise<OwnedDatabase> {
  const database = await createOwned(server);
  await grantTo(LOGIN_NAMES, { url: database.owner, log: silentLog, signal: AbortSignal.timeout(60_000) });
  return database;
}
