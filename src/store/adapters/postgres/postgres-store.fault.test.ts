import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DefectError, InputError, UnavailableError } from "../../../domain/errors.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { type Metrics, noMetrics } from "../../../telemetry/metrics.ts";
import type { CredentialKey, KeyRing } from "../../credential/port.ts";
import type { Store } from "../../port.ts";
import { aDecision, anIntent } from "../../testing/builders.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../../testing/test-server.ts";
import { createWorld, eventually, soon } from "../../testing/world.ts";
import { createKeyRing } from "./credentials/envelope.ts";
import { createDatabase, type Database, type Statement } from "./database.ts";
import { readMigrations } from "./migration-files.ts";
import { createPostgresStore } from "./postgres-store.ts";

let server: TestServer;
let workspaceUnit: TestDatabase;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  workspaceUnit = await server.createMigrated();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  await workspaceUnit.drop();
});

async function openStore({
  metrics = noMetrics,
  keyRing,
}: {
  readonly metrics?: Metrics;
  readonly keyRing?: KeyRing;
} = {}): Promise<Store> {
  const store = await createPostgresStore({
    url: workspaceUnit.url,
    clock: systemClock,
    log: silentLog,
    metrics,
    poolSize: 4,
    ...(keyRing === undefined ? {} : { keyRing }),
  });
  closing.push(() => store.close());
  return store;
}

function openDatabase(): Database {
  const database = createDatabase({ url: workspaceUnit.url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 4 });
  closing.push(() => database.close());
  return database;
}

/** Ends every connection of the test's own database, as a fail-over does. */
const cutAll = () =>
  server.query("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname like 'test_%'");
const statement = (text: string): Statement => ({ name: text.slice(0, 40), text });

describe("a connection that breaks", () => {
  it("makes the statement on it unavailable, and the next one works", async () => {
    const database = openDatabase();
    const sleeping = database.run(statement("select pg_sleep(600)"), [], soon());
    sleeping.catch(() => {});
    await eventually(async () =>
      expect(await server.query("select from pg_stat_activity where query = 'select pg_sleep(600)'")).toHaveLength(1),
    );
    await cutAll();
    await expect(sleeping).rejects.toMatchObject({ name: "UnavailableError", code: "store.unavailable" });
    expect(await database.run(statement("select 1 as one"), [], soon())).toEqual([{ one: 1 }]);
  });

  it("in the middle of a transaction leaves nothing of it", async () => {
    const database = openDatabase();
    const work = database.transaction(
      "test",
      async (run) => {
        await run(statement("insert into setting (key, value) values ('a', '1')"), []);
        await cutAll();
        await run(statement("insert into setting (key, value) values ('b', '2')"), []);
      },
      soon(),
    );
    await expect(work).rejects.toBeInstanceOf(UnavailableError);
    expect(await database.run(statement("select key from setting"), [], soon())).toEqual([]);
  });

  it("while it idles harms nobody", async () => {
    const store = await openStore();
    await cutAll();
    const { length: schema } = await readMigrations();
    await eventually(async () => expect(await store.ping(soon())).toMatchObject({ schema }));
  });

  it("under the hints is made again, and subscribers hear that they missed something", async () => {
    const store = await openStore();
    const heard: unknown[] = [];
    store.changes.subscribe((notifications) => void heard.push(notifications));
    await eventually(() => expect(heard).toEqual(["missed"]));
    await cutAll();
    await eventually(() => expect(heard).toEqual(["missed", "missed"]));
    expect(store.changes.isConnected()).toBe(true);
    await createWorld(store).addInstance();
    await eventually(() => expect(heard).toHaveLength(3));
  });

  it("to a server that is gone says so, for hints too, until it is there again", async () => {
    const store = await openStore();
    store.changes.subscribe(() => {});
    await eventually(() => expect(store.changes.isConnected()).toBe(true));
    const name = new URL(workspaceUnit.url).pathname.slice(1);
    await server.query(`alter database ${name} with allow_connections false`);
    await cutAll();
    await eventually(() => expect(store.changes.isConnected()).toBe(false));
    await expect(store.ping(soon())).rejects.toBeInstanceOf(UnavailableError);
    await server.query(`alter database ${name} with allow_connections true`);
    await eventually(() => expect(store.changes.isConnected()).toBe(true));
    await store.ping(soon());
  });
});

describe("one that stops listening for an answer", () => {
  it("gets the signal's reason at once, and the connection does not go to the next", async () => {
    const database = openDatabase();
    const abort = new AbortController();
    const reason = new Error("enough");
    const sleeping = database.run(statement("select pg_sleep(601)"), [], abort.signal);
    await eventually(async () =>
      expect(await server.query("select from pg_stat_activity where query = 'select pg_sleep(601)'")).toHaveLength(1),
    );
    abort.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    expect(await database.run(statement("select 1 as one"), [], soon())).toEqual([{ one: 1 }]);
  });

  it("while waiting for a free connection leaves the queue", async () => {
    const database = openDatabase();
    const abort = new AbortController();
    const busy = Array.from({ length: 4 }, () => database.run(statement("select pg_sleep(602)"), [], abort.signal).catch(() => "ended"));
    const waiting = AbortSignal.any([abort.signal]);
    const queued = database.run(statement("select 1"), [], waiting);
    queued.catch(() => {});
    abort.abort(new Error("enough"));
    await expect(queued).rejects.toThrow("enough");
    expect(await Promise.all(busy)).toEqual(["ended", "ended", "ended", "ended"]);
    await database.run(statement("select 1"), [], soon());
  });
});

describe("statements that collide", () => {
  const lock = (key: string): Statement => statement(`select value from setting where key = '${key}' for update`);

  it("are sent again after a deadlock until both have happened", async () => {
    const database = openDatabase();
    await database.run(statement(`insert into setting (key, value) values ('a', '0'), ('b', '0')`), [], soon());
    let tries = 0;
    const arrivals: (() => void)[] = [];
    const both = new Promise<void>((resolve) => arrivals.push(resolve));
    const cross = (first: string, second: string) =>
      database.transaction(
        "cross",
        async (run) => {
          await run(lock(first), []);
          tries += 1;
          if (tries === 2) arrivals[0]?.();
          await both;
          await run(lock(second), []);
          await run(statement("update setting set value = to_json(value::text::integer + 1)"), []);
        },
        soon(),
      );
    await Promise.all([cross("a", "b"), cross("b", "a")]);
    expect(tries).toBeGreaterThanOrEqual(3);
    expect(await database.run(statement("select value from setting order by key"), [], soon())).toEqual([{ value: 2 }, { value: 2 }]);
  });

  it("are given up as unavailable when they collide without end", async () => {
    const database = openDatabase();
    let tries = 0;
    const collide = database.transaction(
      "collide",
      async (run) => {
        tries += 1;
        await run(statement("do $$ begin raise exception using errcode = '40001'; end $$"), []);
      },
      soon(),
    );
    await expect(collide).rejects.toMatchObject({ name: "UnavailableError", code: "store.contended" });
    expect(tries).toBe(5);
  });

  it("do not deadlock when batches overlap, in whatever order they were given", async () => {
    const store = await openStore();
    const intents = Array.from({ length: 60 }, (_, index) => anIntent({ namespace: `team-${index % 9}` }));
    const shuffled = Array.from({ length: 12 }, (_, round) =>
      intents
        .map((intent) => ({ ...intent, newIds: anIntent().newIds }))
        .sort((a, b) => ((a.uid + round).length + a.uid.charCodeAt(round % 10) < b.uid.charCodeAt(9) ? -1 : 1)),
    );
    await Promise.all(shuffled.map((batch) => store.intents.recordDeployments(batch, soon())));
    const [row] = await server.query<{ readonly deadlocks: string }>(
      `select deadlocks from pg_stat_database where datname = '${new URL(workspaceUnit.url).pathname.slice(1)}'`,
    );
    expect(row?.deadlocks).toBe("0");
  });

  it("lock a workspace before its unit, as a split and a deletion of the workspace do", async () => {
    const [store, database] = [await openStore(), openDatabase()];
    const known = anIntent();
    await store.intents.recordDeployments([known], soon());
    const added = anIntent({ namespace: known.workspace.namespace });
    const waiting = "select from pg_stat_activity where datname like 'test_%' and wait_event_type = 'Lock'";
    let recorded: Promise<unknown> = Promise.resolve();
    await database.transaction(
      "hold",
      async (run) => {
        await run(statement("select id from workspace for update"), []);
        recorded = store.intents.recordDeployments([added], soon());
        await eventually(async () => expect(await server.query(waiting)).toHaveLength(1));
        expect(await run(statement("select id from placement_unit for update nowait"), [])).toHaveLength(1);
      },
      soon(),
    );
    expect(await recorded).toMatchObject([{ kind: "created" }]);
  });
});

describe("what a statement costs", () => {
  it("is four round trips for a batch of 500 intents in known workspaces, and one for acknowledgements and statuses", async () => {
    const counts = new Map<string, number>();
    const counter = {
      add: (value: number, labels: Readonly<Record<string, string>> = {}) =>
        void counts.set(labels["statement"] ?? "", (counts.get(labels["statement"] ?? "") ?? 0) + value),
    };
    const store = await openStore({ metrics: { ...noMetrics, counter: () => counter } });
    const intents = Array.from({ length: 500 }, (_, index) => anIntent({ namespace: `team-${index % 20}` }));
    await store.intents.recordDeployments(intents, soon());
    counts.clear();
    await store.intents.recordDeployments(
      intents.map((intent) => ({ ...intent, generation: 2, newIds: anIntent().newIds, spec: { ...intent.spec, type: "manual" as const } })),
      soon(),
    );
    expect(Object.fromEntries(counts)).toEqual({ begin: 1, lock_units_of_workspaces: 1, record_deployments: 1, commit: 1 });
    counts.clear();
    await store.shards.acknowledge(
      [{ instanceId: "i" as never, kind: "application", subject: "s", appliedRevision: 1, epoch: 1, uid: "", hash: "" }],
      soon(),
    );
    await store.statuses.recordStatuses([], soon());
    expect(Object.fromEntries(counts)).toEqual({ acknowledge: 1 });
  });

  it("is no forgotten connection: what throws in a transaction is rolled back and its connection used again", async () => {
    const database = openDatabase();
    for (let count = 0; count < 10; count += 1) {
      const work = database.transaction(
        "broken",
        async (run) => {
          await run(statement("insert into setting (key, value) values ('x', '1')"), []);
          throw new DefectError("failing on purpose", { code: "test.defect" });
        },
        soon(),
      );
      await expect(work).rejects.toMatchObject({ code: "test.defect" });
    }
    expect(await database.run(statement("select key from setting"), [], soon())).toEqual([]);
    await expect(database.run(statement("select nonsense"), [], soon())).rejects.toMatchObject({
      name: "DefectError",
      code: "store.statement",
    });
  });
});

describe("secrets at rest", () => {
  const KEY: CredentialKey = { id: "credential-1" as CredentialKey["id"], owner: "workspace-1", purpose: "git" };
  const OTHER: CredentialKey = { ...KEY, id: "credential-2" as CredentialKey["id"] };
  const [first, second] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const both = new Map([
    ["first", first],
    ["second", second],
  ]);
  const dump = () =>
    server.query<{ readonly key_id: string; readonly all: string }>(
      "select key_id, encode(data_key, 'escape') || encode(ciphertext, 'escape') || fingerprint as all from credential order by id",
      workspaceUnit.url,
    );

  it("S4: are nowhere readable in the table", async () => {
    const { credentials } = await openStore({ keyRing: createKeyRing("first", both) });
    await credentials.put(KEY, "very secret", soon());
    expect(JSON.stringify(await dump())).not.toContain("secret");
  });

  it("are wrapped anew by the current key, after which the old one is not needed", async () => {
    const before = await openStore({ keyRing: createKeyRing("first", both) });
    for (let index = 0; index < 150; index += 1)
      await before.credentials.put({ ...KEY, id: `credential-${index}` as CredentialKey["id"] }, `secret-${index}`, soon());
    const { credentials } = await openStore({ keyRing: createKeyRing("second", both) });
    const first = await credentials.rewrap({ after: "", limit: 100 }, soon());
    expect(first).toMatchObject({ rewrapped: 100, unreadable: [] });
    expect(await credentials.countByKey(soon())).toEqual([
      { keyId: "first", credentials: 50 },
      { keyId: "second", credentials: 100 },
    ]);
    expect(await credentials.rewrap({ after: first.next ?? "", limit: 100 }, soon())).toEqual({
      rewrapped: 50,
      unreadable: [],
      next: undefined,
    });
    expect(await credentials.rewrap({ after: "", limit: 100 }, soon())).toMatchObject({ rewrapped: 0 });
    expect(new Set((await dump()).map((row) => row.key_id))).toEqual(new Set(["second"]));
    const after = await openStore({ keyRing: createKeyRing("second", new Map([["second", second]])) });
    expect(await after.credentials.read({ ...KEY, id: "credential-149" as CredentialKey["id"] }, soon())).toBe("secret-149");
    await expect(before.credentials.read(KEY, soon())).resolves.toBe("secret-1");
  });

  it("cannot stand in for each other", async () => {
    const { credentials } = await openStore({ keyRing: createKeyRing("first", both) });
    await credentials.put(KEY, "mine", soon());
    await credentials.put(OTHER, "theirs", soon());
    await server.query(
      "update credential c set data_key = o.data_key, ciphertext = o.ciphertext from credential o where c.id = 'credential-1' and o.id = 'credential-2'",
      workspaceUnit.url,
    );
    await expect(credentials.read(KEY, soon())).rejects.toMatchObject({ name: "DefectError", code: "store.credential-tampered" });
    await server.query("update credential set owner = 'workspace-2' where id = 'credential-2'", workspaceUnit.url);
    await expect(credentials.read({ ...OTHER, owner: "workspace-2" }, soon())).rejects.toMatchObject({ code: "store.credential-tampered" });
  });

  it("need a key", async () => {
    const { credentials, decisions } = await openStore();
    await expect(credentials.put(KEY, "x", soon())).rejects.toMatchObject({ name: "InputError", code: "store.no-encryption-key" });
    const other = await openStore({ keyRing: createKeyRing("third", both) });
    await expect(other.credentials.put(KEY, "x", soon())).rejects.toBeInstanceOf(InputError);
    await decisions.append([aDecision()], soon());
  });
});
