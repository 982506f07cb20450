import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../runtime/clock.ts";
import { silentLog } from "../../../../telemetry/log.ts";
import { noMetrics } from "../../../../telemetry/metrics.ts";
import type { Store } from "../../../port.ts";
import { anAuditEntry } from "../../../testing/builders.ts";
import { describeAudit } from "../../../testing/contract/audit.ts";
import { describeDirectives } from "../../../testing/contract/directives.ts";
import { describeFleet } from "../../../testing/contract/fleet.ts";
import { describeHealth } from "../../../testing/contract/health.ts";
import { describeLoads } from "../../../testing/contract/loads.ts";
import { describeMembers } from "../../../testing/contract/members.ts";
import { describeMoves } from "../../../testing/contract/moves.ts";
import { describePlans } from "../../../testing/contract/plans.ts";
import { describeRecovery } from "../../../testing/contract/recovery.ts";
import { describeRepositoryAccess } from "../../../testing/contract/repository-access.ts";
import { describeRollouts } from "../../../testing/contract/rollouts.ts";
import { describeStore } from "../../../testing/contract/suite.ts";
import { describeTokens } from "../../../testing/contract/tokens.ts";
import { describeViews } from "../../../testing/contract/views.ts";
import { createGranted, createOwned, LOGIN_NAMES, type OwnedDatabase } from "../../../testing/database-logins.ts";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";
import { createWorld, soon, type World } from "../../../testing/world.ts";
import { createKeyRing } from "../credentials/envelope.ts";
import { grantTo } from "../migrate.ts";
import { createPostgresStore } from "../postgres-store.ts";
import { FUNCTION_RIGHTS, LOGINS, type Login, parseRights, type RightsOf, SEQUENCE_RIGHTS, TABLE_RIGHTS } from "./database-rights.ts";
import { renderGrantScript } from "./render-grants.ts";

const GOLDEN = new URL("database-rights.golden.txt", import.meta.url);
const UNDEFINED_RIGHT = "42501";

let server: TestServer;
let database: OwnedDatabase;
beforeAll(async () => {
  server = await startTestServer();
  database = await createGranted(server);
});
afterAll(() => server.stop());

const open = (url: string, more: Partial<Parameters<typeof createPostgresStore>[0]> = {}): Promise<Store> =>
  createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 6, ...more });

/** Each right that PostgreSQL says a login has, as a text of `database-rights.ts`. */
async function rightsSaid(login: Login, kind: "table" | "sequence" | "function", things: readonly string[], at = database.url) {
  const name = LOGIN_NAMES[login];
  const privileges = {
    table: ["select", "insert", "update", "delete", "truncate", "references", "trigger"],
    sequence: ["usage", "select", "update"],
    function: ["execute"],
  }[kind];
  const lines: Record<string, string> = {};
  for (const thing of things) {
    const rows = await server.query<{ readonly privilege: string; readonly columns: string | null }>(
      kind === "table"
        ? `select p as privilege, case when not has_table_privilege('${name}', '${thing}', p) then
                  (select string_agg(attname, ', ' order by attnum) from pg_attribute where attrelid = '${thing}'::regclass and attnum > 0
                      and has_column_privilege('${name}', attrelid, attnum, p)) end as columns
             from unnest(array['${privileges.join("','")}']) with ordinality as p (p, place)
            where has_table_privilege('${name}', '${thing}', p) or case when p in ('select', 'insert', 'update', 'references')
                  then has_any_column_privilege('${name}', '${thing}', p) end order by place`
        : `select p as privilege, null as columns from unnest(array['${privileges.join("','")}']) with ordinality as p (p, place)
            where has_${kind}_privilege('${name}', '${thing}', p) order by place`,
      at,
    );
    lines[thing] = rows.map(({ privilege, columns }) => (columns === null ? privilege : `${privilege} (${columns})`)).join(", ");
  }
  return lines;
}

/** Columns in the order of the table, as PostgreSQL lists them. */
const sorted = (text: string): string =>
  parseRights(text)
    .map(({ privilege, columns }) => (columns.length === 0 ? privilege : `${privilege} (${columns.toSorted().join(", ")})`))
    .join(", ");
const declared = (rights: Readonly<Record<string, RightsOf>>, login: Login) =>
  Object.fromEntries(Object.entries(rights).map(([thing, of]) => [thing, sorted(of[login])]));
const said = async (...args: Parameters<typeof rightsSaid>) =>
  Object.fromEntries(Object.entries(await rightsSaid(...args)).map(([thing, text]) => [thing, sorted(text)]));

describe("the rights of logins", () => {
  it("name every table, sequence and function of the schema", async () => {
    const named = async (what: string): Promise<readonly string[]> =>
      (await server.query<{ readonly name: string }>(what, database.url)).map(({ name }) => name).toSorted();
    const relations = (kinds: string) =>
      named(`select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in (${kinds})`);
    expect(Object.keys(TABLE_RIGHTS).toSorted()).toEqual(await relations("'r', 'p', 'v', 'm', 'f'"));
    expect(Object.keys(SEQUENCE_RIGHTS).toSorted()).toEqual(await relations("'S'"));
    expect(Object.keys(FUNCTION_RIGHTS).toSorted()).toEqual(
      await named(
        "select oid::regprocedure::text as name from pg_proc where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype",
      ),
    );
  });

  it("are what PostgreSQL says and the golden file has", async () => {
    const lines: string[] = [];
    for (const login of LOGINS) {
      lines.push(login);
      for (const [kind, rights] of [
        ["table", TABLE_RIGHTS],
        ["sequence", SEQUENCE_RIGHTS],
        ["function", FUNCTION_RIGHTS],
      ] as const) {
        const found = await said(login, kind, Object.keys(rights));
        expect(found).toEqual(declared(rights, login));
        lines.push(...Object.entries(found).map(([thing, text]) => `  ${kind} ${thing}: ${text || "nothing"}`));
      }
    }
    const text = `${lines.join("\n")}\n`;
    if (process.env["ARGOSY_WRITE_GOLDEN"] !== undefined) writeFileSync(GOLDEN, text);
    expect(text).toBe(readFileSync(GOLDEN, "utf8"));
  });

  it("are the same after the printed script, run twice, and after somebody granted more", async () => {
    const own = await createOwned(server);
    for (let run = 0; run < 2; run += 1) {
      await server.query(`grant all on credential, audit_record to ${LOGIN_NAMES.api}`, own.owner);
      await server.query(renderGrantScript(LOGIN_NAMES), own.owner);
    }
    for (const login of LOGINS)
      expect(await said(login, "table", Object.keys(TABLE_RIGHTS), own.url)).toEqual(declared(TABLE_RIGHTS, login));
    await own.drop();
  });

  it("are given by nobody but the owner, and to nobody who is not there or is more than a login", async () => {
    const grant = (names: typeof LOGIN_NAMES, url = database.owner) => grantTo(names, { url, log: silentLog, signal: soon() });
    await expect(grant(LOGIN_NAMES, database.logins.controlPlane)).rejects.toMatchObject({ code: "store.not-owner" });
    await expect(grant({ ...LOGIN_NAMES, api: "nobody_there" })).rejects.toMatchObject({
      ...{ code: "store.no-login", message: expect.stringContaining("nobody_there") },
    });
    await server.query("create role too_strong login; grant argosy_owner to too_strong");
    for (const [change, excess] of [
      ["select", "is a member of the owner argosy_owner"],
      ["revoke argosy_owner from too_strong; alter role too_strong createrole", "may create roles"],
      ["alter role too_strong nocreaterole; grant create on schema public to too_strong", "may create tables"],
      ["alter role too_strong superuser", "is a superuser"],
    ] as const) {
      await server.query(change, database.url);
      await expect(grant({ ...LOGIN_NAMES, api: "too_strong" })).rejects.toMatchObject({
        ...{ code: "store.strong-login", message: expect.stringContaining(excess) },
      });
    }
  });
});

/** Runs one statement as a login; its SQLSTATE, or nothing. */
async function stateOf(url: string, ...statements: readonly string[]): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
    return undefined;
  } catch (error) {
    return (error as pg.DatabaseError).code;
  } finally {
    await client.end();
  }
}

describe.each(LOGINS)("a process that connects as %s", (login) => {
  const url = (): string => database.logins[login];

  it.each([
    ["a table", "create table more (id text)"],
    ["a view", "create view more as select 1"],
    ["a function", "create function more() returns int language sql as 'select 1'"],
    ["a schema", "create schema more"],
    ["a trigger", "create trigger more after insert on fleet execute function audit_refuse()"],
    ["a column", "alter table fleet add column more text"],
    ["an index", "create index more on fleet (revision)"],
    ["the triggers of the trail", "alter table audit_record disable trigger user"],
    ["its absence", "drop table audit_record"],
    ["another body of audit_text", "create or replace function audit_text(r audit_record) returns text language sql as $$ select '' $$"],
    ["a right", "grant all on audit_record to public; select 1/(has_table_privilege('argosy_api', 'audit_record', 'delete'))::int"],
    ["the owner", "set role argosy_owner"],
    ["a role", "create role more"],
    ["an older epoch", "select setval('epoch_seq', 1)"],
    ["what migrations ran", "delete from schema_migration"],
  ])("may not make %s", async (what, statement) => {
    // Granting what one has no right to grant is passed over with a warning: the second statement then divides by zero.
    expect(await stateOf(url(), statement)).toMatch(what === "a right" ? /^(42501|22012)$/ : /^42501$/);
  });

  it.each([
    ["change a record", "update audit_record set actor = 'nobody'"],
    ["delete one", "delete from audit_record where seq = 1"],
    ["empty the trail", "truncate audit_record"],
    ["lock it", "select 1 from audit_record for update"],
  ])("may not %s of the audit trail", async (_, statement) => {
    expect(await stateOf(url(), statement)).toBe(UNDEFINED_RIGHT);
  });

  it("has advisory locks, temporary tables, settings, notifications and the clock of the database", async () => {
    const own = [
      "select pg_advisory_lock(1), pg_advisory_unlock(1)",
      "create temporary table mine (id text); insert into mine values ('a')",
      "set statement_timeout = '5s'; set local lock_timeout = '1s'",
      "listen argosy; notify argosy, 'probe:x'",
    ];
    expect(await stateOf(url(), ...own)).toBe(undefined);
    const store = await open(url(), { roles: login === "api" ? ["api"] : ["workspace", "scheduler"] });
    expect(await store.ping(soon())).toMatchObject({ isDirect: true });
    expect(await store.changes.hears(soon())).toBe(true);
    const owner = await open(database.owner);
    const logins = await store.listLogins(soon());
    expect(logins).toContainEqual({ user: LOGIN_NAMES[login], isOwner: false });
    expect(logins).toContainEqual({ user: "argosy_owner", isOwner: true });
    await Promise.all([store.close(), owner.close()]);
  });

  it("cannot give the trail another chain to go on from by a temporary table of its name", async () => {
    const store = await open(database.owner);
    const before = await store.audit.append(anAuditEntry(), soon());
    expect(
      await stateOf(
        url(),
        "create temporary table audit_record (like public.audit_record)",
        `insert into pg_temp.audit_record (seq, at, actor, via, action, target, outcome, code, count, details, previous, hash)
         values (900, now(), 'x', 'rest', 'x', 'x', 'ok', '', 1, '{}', 'p', 'h')`,
        "insert into public.audit_record (actor, via, action, target, outcome, code, count, details) values ('forger', 'rest', 'x', 'x', 'ok', '', 1, '{}')",
      ),
    ).toBe(undefined);
    const [newest] = await store.audit.list({}, { limit: 1, order: "newest-first" }, soon());
    expect(newest).toMatchObject({ actor: "forger", seq: before + 1 });
    await store.close();
    await server.clear(database.url);
  });
});

describe("a process that connects as api", () => {
  it.each([
    ["encrypted credentials", "select ciphertext from credential"],
    ["keys of theirs", "select data_key from credential"],
    ["leases", "select * from lease"],
    ["sync runs", "select * from sync_run"],
  ])("may not read %s", async (_, statement) => {
    expect(await stateOf(database.logins.api, statement)).toBe(UNDEFINED_RIGHT);
  });

  it.each([
    ["an application", "delete from application"],
    ["what a user wants", "update application set spec = '{}'"],
    ["a status", "update application_status set sync = 'Synced'"],
    ["a workspace's state", "update workspace set state = 'deleting'"],
    ["the journal", "delete from decision"],
    ["what a release consists of", "update release_part set content = ''"],
    ["the trail, as retention does", "select audit_forget(1)"],
  ])("may not change %s", async (_, statement) => {
    expect(await stateOf(database.logins.api, statement)).toBe(UNDEFINED_RIGHT);
  });
});

it("a process of the control plane makes no tokens and reads none", async () => {
  for (const statement of [
    "select hash from api_token",
    "insert into api_token (name, hash, role, created_at) values ('x', 'x', 'approver', now())",
  ])
    expect(await stateOf(database.logins.controlPlane, statement)).toBe(UNDEFINED_RIGHT);
});

describe("a login without a right that it needs", () => {
  it("is not served with, in words that name the right, the command and who it is", async () => {
    const own = await createOwned(server);
    await expect(open(own.logins.api, { roles: ["api"] })).rejects.toMatchObject({ code: expect.stringMatching(/^store\./) });
    await grantTo(LOGIN_NAMES, { url: own.owner, log: silentLog, signal: soon() });
    await server.query(`revoke update on rollout from ${LOGIN_NAMES.api}`, own.owner);
    await expect(open(own.logins.api, { roles: ["api"] })).rejects.toMatchObject({
      code: "store.missing-rights",
      message: "using the database as argosy_api, who has no right to update on rollout",
      remedy: expect.stringContaining("argosy database grant"),
    });
    await expect(open(own.logins.api, { roles: ["health"] })).rejects.toMatchObject({ code: "store.missing-rights" });
    await (await open(own.owner, { roles: ["api", "health"] })).close();
    await own.drop();
  });
});

const openAll = async (): Promise<readonly [controlPlane: Store, api: Store, owner: Store]> => {
  const keyRing = createKeyRing("first", new Map([["first", new Uint8Array(32).fill(7)]]));
  const { logins, owner } = database;
  return [await open(logins.controlPlane, { keyRing }), await open(logins.api, { keyRing }), await open(owner, { keyRing })];
};
const closeAll = async (stores: readonly Store[]): Promise<void> => {
  await Promise.all(stores.map((store) => store.close()));
  await server.clear(database.url);
};

describeStore("the store on PostgreSQL with the login of the control plane", async () => {
  const stores = await openAll();
  const [controlPlane, api, owner] = stores;
  const { putFreeze, dropFreeze } = api.directives;
  return {
    store: {
      ...controlPlane,
      // What the REST API alone calls, and what `argosy recover-epochs` does as the owner.
      tokens: api.tokens,
      proposals: api.proposals,
      intents: { ...controlPlane.intents, keepName: api.intents.keepName },
      directives: { ...controlPlane.directives, putFreeze, dropFreeze },
      rollouts: { ...controlPlane.rollouts, unfreeze: api.rollouts.unfreeze },
      recovery: owner.recovery,
    },
    close: () => closeAll(stores),
  };
});

describe("what the REST API calls of the store, with its login", () => {
  let world: World;
  let stores: readonly Store[];
  beforeEach(async () => {
    const opened = await openAll();
    stores = opened;
    const [controlPlane, api, owner] = opened;
    const { readUnit, readUnitsOf, readFleet: readFleetOfClass } = api.placements;
    const { listInstanceLoads, readState, listHeaviest } = api.loads;
    const { request, abort, read, list, listLive, listClusters } = api.moves;
    world = createWorld({
      ...controlPlane,
      ...{ tokens: api.tokens, proposals: api.proposals, directives: api.directives, plans: api.plans, rollouts: api.rollouts },
      ...{ operations: api.operations, decisions: api.decisions, audit: api.audit, changes: api.changes, ping: api.ping },
      intents: { ...controlPlane.intents, readByIds: api.intents.readByIds, keepName: api.intents.keepName },
      placements: { ...controlPlane.placements, readUnit, readUnitsOf, readFleet: readFleetOfClass },
      shards: { ...controlPlane.shards, readUnit: api.shards.readUnit, readApplications: api.shards.readApplications },
      fleet: { ...api.fleet, insertInstance: controlPlane.fleet.insertInstance },
      loads: { ...controlPlane.loads, listInstanceLoads, readState, listHeaviest },
      health: { ...controlPlane.health, listVerdicts: api.health.listVerdicts, readWindow: api.health.readWindow },
      members: { ...api.members, acquire: controlPlane.members.acquire, release: controlPlane.members.release },
      moves: { ...controlPlane.moves, request, abort, read, list, listLive, listClusters },
      repositoryAccess: { ...controlPlane.repositoryAccess, readOverdue: api.repositoryAccess.readOverdue },
      recovery: { ...owner.recovery, readLastEpoch: api.recovery.readLastEpoch },
    });
  });
  afterEach(() => closeAll(stores));
  const parts = [describeDirectives, describeFleet, describeHealth, describeLoads, describeMembers, describeMoves, describePlans];
  for (const part of [...parts, describeRepositoryAccess, describeRollouts, describeTokens, describeViews, describeAudit, describeRecovery])
    part(() => world);
});
