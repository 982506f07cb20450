import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type AuditRecord, auditHash, auditLine, auditText, NO_RECORD } from "../../../domain/audit.ts";
import { createAuditCheck } from "../../../domain/audit-check.ts";
import { millis } from "../../../domain/clock.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import type { Store } from "../../port.ts";
import { anAuditEntry } from "../../testing/builders.ts";
import { forgetsTheOldest } from "../../testing/contract/audit.ts";
import { createGranted, type OwnedDatabase } from "../../testing/database-logins.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { soon } from "../../testing/world.ts";
import { createPostgresStore } from "./postgres-store.ts";

let server: TestServer;
let database: OwnedDatabase;
let store: Store;
beforeAll(async () => {
  server = await startTestServer();
  database = await createGranted(server);
  // As a process has it that does not own the tables.
  store = await createPostgresStore({
    url: database.logins.controlPlane,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
    poolSize: 4,
  });
});
afterAll(async () => {
  await store.close();
  await server.stop();
});

const append = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index += 1) await store.audit.append(anAuditEntry({ actor: `a-${index}` }), soon());
};
const all = () => store.audit.list({}, { limit: 5000, order: "oldest-first" }, soon());
const report = async () => {
  const trail = createAuditCheck();
  for (const record of await all()) trail.add(auditText(auditLine(record)));
  return trail.report();
};

describe("an audit trail of three records", () => {
  beforeAll(() => append(3));
  afterAll(() => server.clear(database.url));

  it.each([
    ["an actor is changed", "update audit_record set actor = 'nobody' where seq = 2"],
    ["all rows are changed by nothing", "update audit_record set seq = seq"],
    ["the last row is deleted", "delete from audit_record where seq = 3"],
    ["a row in the middle is deleted", "delete from audit_record where seq = 2"],
    ["the first rows are deleted", "delete from audit_record where seq <= 2"],
    ["all rows are deleted", "delete from audit_record"],
    ["all rows are truncated", "truncate audit_record"],
    [
      "young rows are deleted after a record that says retention forgot them",
      `insert into audit_record (actor, via, action, target, outcome, code, count, details)
     select 'retention', 'argosy', 'forgetAudit', 'audit', 'ok', '', 1, format('{"hash":"%s","through":%s}', hash, seq) from audit_record where seq = 2;
     delete from audit_record where seq <= 2`,
    ],
    [
      "a row takes the number of another",
      "insert into audit_record select * from audit_record where seq = 1; update audit_record set seq = 1",
    ],
  ])("refuses the application's own user where %s", async (_, statement) => {
    await expect(server.query(statement, database.url)).rejects.toThrow(/of audit_record is refused/);
    expect(await report()).toMatchObject({ ok: true, records: 3 });
  });
});

describe("an audit trail", () => {
  afterEach(() => server.clear(database.url));

  it("is one chain without gaps after two processes wrote to it at once", async () => {
    const program = fileURLToPath(new URL("../../testing/append-audit.ts", import.meta.url));
    const write = (name: string, other: string) => promisify(execFile)(process.execPath, [program, database.url, name, "200", other]);
    await Promise.all([write("one", "other"), write("other", "one")]);
    expect(await report()).toMatchObject({ ok: true, records: 400, first: 1, last: 400 });
    // Their records stand between each other's: they did write at once.
    const names = (await all()).map(({ actor }) => actor);
    expect(names.filter((name, index) => name !== names[index - 1]).length).toBeGreaterThan(2);
  });

  it("is forgotten by the function of retention only as its triggers allow", async () => {
    await append(3);
    const forget = (login: "controlPlane" | "api", through: number) =>
      server.query(`select audit_forget(${through})`, database.logins[login]);
    await expect(forget("controlPlane", 2)).rejects.toThrow(/DELETE of audit_record is refused/);
    await expect(forget("api", 2)).rejects.toThrow(/permission denied for function audit_forget/);
    expect(await report()).toMatchObject({ ok: true, records: 3 });
  });

  it("gives a row that is inserted by hand its own number, time and hashes, whatever it says of them", async () => {
    await append(1);
    await server.query(
      `insert into audit_record (seq, at, hash, previous, actor, via, action, target, outcome, code, count, details)
     values (1, '2001-01-01', 'h', 'p', 'forger', 'rest', 'a', 't', 'ok', '', 1, '{}')`,
      database.url,
    );
    const [, forged] = await all();
    expect(forged).toMatchObject({ seq: 2, actor: "forger" });
    expect(forged!.at).toBeGreaterThan(Date.UTC(2025, 0));
    expect(await report()).toMatchObject({ ok: true, records: 2 });
  });

  it("is shortened by retention from its beginning, and whole all the same", async () => {
    await append(4);
    const old = millis(Date.now() - 40 * 86_400_000);
    await makeOld(3, old);
    expect(await report()).toMatchObject({ ok: true });
    await forgetsTheOldest({ store, old, count: 3 });
    // A row between others never goes, however old.
    await makeOld(3, old);
    await expect(server.query("delete from audit_record where seq = 5", database.url)).rejects.toThrow(/DELETE of audit_record is refused/);
  });
});

/** Writes the chain anew with its first records as of long ago: only who owns the table can. */
async function makeOld(count: number, at: AuditRecord["at"]): Promise<void> {
  let previous = NO_RECORD;
  await server.query("alter table audit_record disable trigger user", database.url);
  for (const [index, record] of (await all()).entries()) {
    const moved = { ...record, at: index < count ? at : record.at, previous };
    previous = auditHash(auditLine(moved));
    const time = new Date(moved.at).toISOString();
    await server.query(
      `update audit_record set at = '${time}', previous = '${moved.previous}', hash = '${previous}' where seq = ${record.seq}`,
      database.url,
    );
  }
  await server.query("alter table audit_record enable trigger user", database.url);
}
