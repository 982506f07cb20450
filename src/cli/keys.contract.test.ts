import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { systemClock } from "../runtime/clock.ts";
import { createKeyRing } from "../store/adapters/postgres/credentials/envelope.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { CredentialKey } from "../store/credential/port.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../store/testing/test-server.ts";
import { startTransitServer, type TransitServer } from "../store/testing/transit-server.ts";
import { soon } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { runCommand } from "./testing/run-command.ts";

const directory = mkdtempSync(join(tmpdir(), "argosy-keys-"));
const OLD = randomBytes(32);
const NEW = randomBytes(32);
const env = { OLD_KEY: OLD.toString("base64"), NEW_KEY: NEW.toString("base64") };
const COUNT = 250;
const keyOf = (index: number): CredentialKey => ({ id: `c-${index}` as CredentialKey["id"], owner: "w", purpose: "git" });

let server: TestServer;
let database: TestDatabase;
beforeAll(async () => {
  server = await startTestServer();
  database = await server.createMigrated();
  writeFileSync(join(directory, "kubeconfig"), "");
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});
beforeEach(async () => {
  await server.clear(database.url);
  await withStore("old", ["old", "new"], async ({ credentials }) => {
    for (let index = 0; index < COUNT; index += 1) await credentials.put(keyOf(index), `secret ${index}`, soon());
  });
});

async function withStore<T>(
  current: string,
  given: readonly ("old" | "new")[],
  use: (store: Awaited<ReturnType<typeof createPostgresStore>>) => Promise<T>,
) {
  const keyRing = createKeyRing(current, new Map(given.map((id) => [id, id === "old" ? OLD : NEW])));
  const store = await createPostgresStore({
    url: database.url,
    keyRing,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
    poolSize: 2,
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** The command, with these keys in its configuration. */
function keys(
  command: string,
  { current = "new", given = ["old", "new"] }: { readonly current?: string; readonly given?: readonly string[] } = {},
  ...args: string[]
) {
  const file = join(directory, "argosy.yaml");
  const encryption = { current, keys: given.map((id) => ({ id, env: `${id.toUpperCase()}_KEY` })) };
  const apiCluster = { name: "api", kubeconfig: join(directory, "kubeconfig") };
  writeFileSync(file, stringify({ roles: ["api"], stateDir: directory, apiCluster, ...(given.length === 0 ? {} : { encryption }) }));
  return runCommand(["keys", command, "-c", file, "--database", database.url, ...args], env);
}
const json = async (...args: Parameters<typeof keys>) => JSON.parse((await keys(args[0], args[1], "-o", "json")).out) as unknown;
const wrapped = (old: number, anew: number) => [
  { key: "new", isCurrent: true, isGiven: true, credentials: anew },
  { key: "old", isCurrent: false, isGiven: true, credentials: old },
];

describe("argosy keys rotate, on PostgreSQL", () => {
  it("wraps everything under the current key, says how far it is, and the old key may go", async () => {
    expect(await json("list")).toEqual(wrapped(COUNT, 0));
    const { out, err, code } = await keys("rotate");
    expect([code, out]).toEqual([0, "KEY  CURRENT  GIVEN  CREDENTIALS\nnew  yes      yes    250\nold  no       yes    0"]);
    expect(err).toMatch(/100 of 250 .*200 of 250 .*250 of 250 .*nothing is wrapped by old now/);
    await withStore("new", ["new"], async ({ credentials }) => {
      for (const index of [0, 100, COUNT - 1]) expect(await credentials.read(keyOf(index), soon())).toBe(`secret ${index}`);
    });
    expect(await json("rotate", { given: ["new"] })).toEqual({
      ...{ current: "new", rewrapped: 0, unreadable: [] },
      keys: [{ key: "new", isCurrent: true, isGiven: true, credentials: COUNT }],
    });
    const trail = await withStore("new", ["new"], ({ audit }) => audit.list({}, { limit: 10, order: "oldest-first" }, soon()));
    expect(trail.map(({ action, outcome, details }) => [action, outcome, details])).toEqual([
      ["rotateKeys", "asked", { current: "new", dataKeys: false }],
      ["rotateKeys", "ok", { rewrapped: COUNT, unreadable: [] }],
      ["rotateKeys", "asked", { current: "new", dataKeys: false }],
      ["rotateKeys", "ok", { rewrapped: 0, unreadable: [] }],
    ]);
  });

  it("does so once when several do it at once, beside a server that stores and replaces", async () => {
    const storing = withStore("old", ["old", "new"], async ({ credentials }) => {
      for (let index = 0; index < 50; index += 1) await credentials.put(keyOf(index * 5), `replaced ${index * 5}`, soon());
    });
    const runs = (await Promise.all([json("rotate"), json("rotate"), json("rotate")])) as readonly { readonly rewrapped: number }[];
    await storing;
    expect(runs.reduce((sum, { rewrapped }) => sum + rewrapped, 0)).toBeGreaterThanOrEqual(COUNT - 50);
    await json("rotate");
    expect(await json("list")).toEqual(wrapped(0, COUNT));
    await withStore("new", ["new"], async ({ credentials }) => {
      for (let index = 0; index < COUNT; index += 1)
        expect(await credentials.read(keyOf(index), soon())).toBe(index % 5 === 0 ? `replaced ${index}` : `secret ${index}`);
    });
  });

  it("goes on where another was stopped in the middle, and meanwhile everything can be read", async () => {
    await withStore("new", ["old", "new"], async ({ credentials }) => {
      await credentials.rewrap({ after: "", limit: 70 }, soon());
      for (let index = 0; index < COUNT; index += 1) expect(await credentials.read(keyOf(index), soon())).toBe(`secret ${index}`);
    });
    expect(await json("list")).toEqual(wrapped(COUNT - 70, 70));
    expect(await json("rotate")).toMatchObject({ rewrapped: COUNT - 70, keys: wrapped(0, COUNT) });
  });

  it("leaves what it cannot open, names it, does the rest, and fails", async () => {
    await server.query("update credential set data_key = '\\x00' where id = 'c-7'", database.url);
    const { err, code } = await keys("rotate");
    expect([code, err]).toEqual([1, expect.stringContaining("credential c-7, wrapped by old, stays as it is")]);
    expect(err).not.toContain("nothing is wrapped by old");
    expect(await json("list")).toEqual(wrapped(1, COUNT - 1));
  });

  it("says so where the old key is not given, and changes nothing", async () => {
    const { err, code } = await keys("rotate", { given: ["new"] });
    expect([code, err]).toEqual([1, expect.stringContaining("using the encryption key old: it was not given")]);
    expect(await json("list", { given: ["new"] })).toEqual([
      { key: "new", isCurrent: true, isGiven: true, credentials: 0 },
      { key: "old", isCurrent: false, isGiven: false, credentials: COUNT },
    ]);
  });

  it("encrypts everything anew with other data keys, so that an old key and an old copy of the database open nothing of today", async () => {
    const copy = await server.query<{ id: string; data_key: Buffer; ciphertext: Buffer }>(
      "select id, data_key, ciphertext from credential order by id",
      database.url,
    );
    const { out, err } = await keys("rotate", {}, "--data-keys", "-o", "json");
    expect(JSON.parse(out)).toMatchObject({ rewrapped: COUNT, unreadable: [], keys: wrapped(0, COUNT) });
    expect(err).toContain(`${COUNT} of ${COUNT} credentials encrypted anew`);
    const now = await server.query<{ id: string; data_key: Buffer; ciphertext: Buffer }>(
      "select id, data_key, ciphertext from credential order by id",
      database.url,
    );
    for (const [index, { ciphertext, data_key }] of now.entries()) {
      expect(ciphertext.equals(copy[index]?.ciphertext ?? ciphertext)).toBe(false);
      expect(data_key.equals(copy[index]?.data_key ?? data_key)).toBe(false);
    }
    await withStore("new", ["new"], async ({ credentials }) => {
      for (let index = 0; index < COUNT; index += 1) expect(await credentials.read(keyOf(index), soon())).toBe(`secret ${index}`);
    });
    // Once more all of it, although nothing is wrapped by an old key any more.
    expect(JSON.parse((await keys("rotate", {}, "--data-keys", "-o", "json")).out)).toMatchObject({ rewrapped: COUNT });
  });

  it("is wrong use without keys, and explains itself", async () => {
    expect(await keys("rotate", { given: [] })).toMatchObject({ code: 2, err: expect.stringContaining("names no keys") });
    expect((await runCommand(["keys", "rotate"], {})).code).toBe(2);
  });
});

describe("a key that a Vault keeps", () => {
  let vault: TransitServer;
  const tokenFile = join(directory, "vault-token");
  const config = join(directory, "vault.yaml");
  beforeAll(async () => {
    vault = await startTransitServer();
    vault.tokens.add("hvs.one");
    writeFileSync(tokenFile, "hvs.one");
  });
  afterAll(() => vault.stop());

  it("is made by a command, takes over from one in a file, and is asked for when a command or a server starts", async () => {
    const made = await runCommand(
      ["keys", "generate", "--address", vault.address, "--key", "argosy", "--token-file", tokenFile, "-o", "json"],
      {},
    );
    const key = JSON.parse(made.out) as { readonly vault: Readonly<Record<string, string>> };
    expect(key.vault).toEqual({
      ...{ address: vault.address, mount: "transit", key: "argosy", tokenFile },
      wrapped: expect.stringMatching(/^vault:v1:/),
    });
    const encryption = {
      current: "kept",
      keys: [
        { id: "old", env: "OLD_KEY" },
        { id: "kept", ...key },
      ],
    };
    const apiCluster = { name: "api", kubeconfig: join(directory, "kubeconfig") };
    writeFileSync(config, stringify({ roles: ["api"], stateDir: directory, apiCluster, encryption }));
    const rotate = () => runCommand(["keys", "rotate", "-c", config, "--database", database.url, "-o", "json"], env);
    expect(JSON.parse((await rotate()).out)).toMatchObject({ current: "kept", rewrapped: COUNT, unreadable: [] });

    // Whoever has the configuration and the database has nothing while the Vault says no.
    vault.tokens.clear();
    const refused = await rotate();
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("does not let this caller use the key argosy")]);
  });

  it.each([
    ["http://vault.example", "--address"],
    ["https://vault.example/v1", "--address"],
    ["https://user:pass@vault.example", "--address"],
  ])("is not asked of %s", async (address, path) => {
    const args = ["keys", "generate", "--address", address, "--key", "argosy", "--token-file", tokenFile];
    const { code, err } = await runCommand(args, {});
    expect([code, err]).toEqual([2, expect.stringContaining(`${path}: is none that a key can be asked of`)]);
  });
});
