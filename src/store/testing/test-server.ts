import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedPostgres } from "../../runtime/embedded-postgres/embedded-postgres.ts";
import { silentLog } from "../../telemetry/log.ts";
import { migrate } from "../adapters/postgres/migrate.ts";

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export interface TestServer {
  /** Of the maintenance database. */
  readonly url: string;
  readonly pid: number;
  createEmpty(): Promise<TestDatabase>;
  /** A copy of a database that was migrated once. */
  createMigrated(): Promise<TestDatabase>;
  /** Takes every row out of a migrated database; much faster than another copy. */
  clear(url: string): Promise<void>;
  /** Runs one statement on the maintenance database, or on another. */
  query<Row extends object>(text: string, url?: string): Promise<readonly Row[]>;
  stop(): Promise<void>;
}

const TEMPLATE = "argosy_template";

/** In the order in which references allow. */
const TABLES = [
  "application",
  "workspace",
  "instance",
  "shard_object",
  "decision",
  "freeze_window",
  "rollout",
  "frozen_version",
  "kept_name",
  "class_load",
  "usage_hour",
  "usage_mark",
  "usage_label",
  "plan",
  "fleet",
  "fleet_proposal",
  "release_part",
  "setting",
  "member",
  "lease",
  "api_token",
  "credential",
  "sync_run",
  "repository_spelling",
];
/** What nobody may delete is deleted by who owns the table, and by no other way than this. */
const CLEAR_AUDIT = ["disable trigger user", "enable trigger user"].map((change) => `alter table audit_record ${change}`);
const CLEAR = [
  ...TABLES.map((table) => `delete from ${table}`),
  CLEAR_AUDIT.join(";delete from audit_record;"),
  "alter sequence epoch_seq restart",
].join(";");

/** A real PostgreSQL of the test's own, in a directory that goes with it. */
export async function startTestServer(): Promise<TestServer> {
  const stateDir = await mkdtemp(join(tmpdir(), "argosy-store-"));
  // As root the server runs as another user, who has to get in.
  await chmod(stateDir, 0o755);
  const { url, pid, stop } = await startEmbeddedPostgres({ stateDir, signal: AbortSignal.timeout(120_000), log: silentLog });
  let template: Promise<void> | undefined;
  let count = 0;

  const urlOf = (name: string): string => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const query = async <Row extends object>(text: string, at = url): Promise<readonly Row[]> => {
    const client = new pg.Client({ connectionString: at });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  };
  const create = async (from: string): Promise<TestDatabase> => {
    count += 1;
    const name = `test_${count}`;
    await query(`create database ${name} template ${from}`);
    return { url: urlOf(name), drop: async () => void (await query(`drop database ${name} with (force)`)) };
  };
  const makeTemplate = async (): Promise<void> => {
    await query(`create database ${TEMPLATE}`);
    await migrate({ url: urlOf(TEMPLATE), log: silentLog, signal: AbortSignal.timeout(60_000) });
  };
  return {
    url,
    pid,
    createEmpty: () => create("template0"),
    async createMigrated() {
      template ??= makeTemplate();
      await template;
      return create(TEMPLATE);
    },
    clear: async (at) => void (await query(CLEAR, at)),
    query,
    async stop() {
      await stop();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
