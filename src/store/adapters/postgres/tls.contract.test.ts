import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runCommand } from "../../../cli/testing/run-command.ts";
import { whyNotVerifiedTls } from "../../../config/verified-tls.ts";
import { whyWaitForDatabase } from "../../../main/why-wait.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { anAuthority, aServerCertificate } from "../../../runtime/testing/certificates.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { speakTls, type TlsServer } from "../../testing/tls-server.ts";
import { soon } from "../../testing/world.ts";
import { connectionSettings } from "./connection-settings.ts";
import { migrate } from "./migrate.ts";
import { createPostgresStore } from "./postgres-store.ts";

/** A migration of an empty database takes seconds where the machine is busy. */
const WAIT = { timeout: 30_000, interval: 100 };
const [authority, another] = [anAuthority(), anAuthority("another authority")];

let server: TestServer;
let tls: TlsServer;
let directory: string;
let count = 0;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "argosy-database-tls-"));
  await writeFile(join(directory, "ca.crt"), authority.cert);
  await writeFile(join(directory, "another.crt"), another.cert);
  await writeFile(join(directory, "key.crt"), "nothing of that kind");
  server = await startTestServer();
  tls = await speakTls(server, aServerCertificate(["localhost"], authority));
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

/** A connection string: the certificate is for `localhost`, and the server listens at 127.0.0.1. */
const address = (parameters: string, { host = "localhost", database = "postgres" } = {}): string =>
  `${Object.assign(new URL(server.url), { hostname: host, pathname: `/${database}` }).href}?${parameters.replaceAll("DIR", directory)}`;
const VERIFIED = "sslmode=verify-full&sslrootcert=DIR/ca.crt";

const emptyDatabase = async (): Promise<string> => {
  count += 1;
  await server.query(`create database tls_${count}`);
  return `tls_${count}`;
};
const store = (url: string) => createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 2 });

/** Whether a connection came about as the driver makes it, and over TLS; or the code with which it failed. */
async function connect(url: string): Promise<string> {
  try {
    const client = new pg.Client(connectionSettings(url));
    await client.connect();
    const { rows } = await client.query<{ readonly ssl: boolean }>("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
    await client.end();
    return rows[0]?.ssl === true ? "TLS" : "plain";
  } catch (error) {
    return String((error as { readonly code?: string }).code);
  }
}

describe("what the driver makes of a connection string", () => {
  const stranger = { host: "127.0.0.1" };
  it.each([
    ["a=b", "plain", "plain"],
    ["sslmode=disable", "plain", "plain"],
    ["sslmode=no-verify", "TLS", "TLS"],
    ["sslmode=prefer&uselibpqcompat=true", "TLS", "TLS"],
    ["sslmode=require&uselibpqcompat=true", "TLS", "TLS"],
    ["sslmode=verify-ca&uselibpqcompat=true&sslrootcert=DIR/ca.crt", "TLS", "TLS"],
    ["sslmode=verify-full&sslmode=no-verify", "TLS", "TLS"],
    ["sslmode=prefer&sslrootcert=DIR/ca.crt", "TLS", "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["sslmode=require&sslrootcert=DIR/ca.crt", "TLS", "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["sslmode=verify-ca&sslrootcert=DIR/ca.crt", "TLS", "ERR_TLS_CERT_ALTNAME_INVALID"],
    [VERIFIED, "TLS", "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["sslmode=verify-full&sslrootcert=DIR/another.crt", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["sslmode=verify-full", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ])("%s: %s at the host of the certificate, %s at another", async (parameters, own, other) => {
    expect(await connect(address(parameters))).toBe(own);
    expect(await connect(address(parameters, stranger))).toBe(other);
    // What `database.requireVerifiedTls` lets through never leads to a server that is another one.
    if (whyNotVerifiedTls(address(parameters)) === undefined) expect(["TLS", "plain"]).not.toContain(other);
  });
});

describe("a database whose certificate is verified", () => {
  it("is migrated, and used with pool and notifications, over TLS alone", async () => {
    const url = address(VERIFIED, { database: await emptyDatabase() });
    await tls.requireTls(true);
    try {
      expect(await runCommand(["migrate"], { DATABASE_URL: url })).toMatchObject({ code: 0 });
      const opened = await store(url);
      opened.changes.subscribe(() => undefined);
      await vi.waitFor(() => expect(opened.changes.isConnected()).toBe(true));
      const sessions = await server.query(
        "select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name like 'argosy%'",
        address(VERIFIED),
      );
      await opened.close();
      expect(sessions).toEqual([{ ssl: true }]);
    } finally {
      await tls.requireTls(false);
    }
  });

  it("is trusted again once its certificate has been renewed, without another address", async () => {
    const url = address(VERIFIED, { database: await emptyDatabase() });
    await tls.useCertificate(aServerCertificate(["localhost"], authority, Date.now() - 3_600_000));
    const { code, err } = await vi.waitFor(async () => {
      const seen = await runCommand(["migrate"], { DATABASE_URL: url });
      expect(seen.code).toBe(1);
      return seen;
    }, WAIT);
    expect([code, err]).toEqual([1, expect.stringContaining("connecting to the database: its certificate has expired. Give the server")]);
    await tls.useCertificate(aServerCertificate(["localhost"], authority));
    await vi.waitFor(async () => expect(await runCommand(["migrate"], { DATABASE_URL: url })).toMatchObject({ code: 0 }), WAIT);
  });
});

describe("a server that is not the one in the connection string", () => {
  const OF_ANOTHER = "sslmode=verify-full&sslrootcert=DIR/another.crt";
  const UNTRUSTED =
    "its certificate is signed by no authority that is trusted here. Name the file with its authority's certificate with sslrootcert=/path in DATABASE_URL.";
  const OTHER_HOST =
    "its certificate is for localhost, which is not the host in the address. Correct the host in DATABASE_URL, or give the server a certificate for that host.";

  it.each([
    ["another authority's certificate", OF_ANOTHER, "localhost", UNTRUSTED],
    ["a private authority's, where the public ones count", "sslmode=verify-full", "localhost", UNTRUSTED],
    ["a certificate for another host", VERIFIED, "127.0.0.1", OTHER_HOST],
  ])("is refused by `argosy migrate` in one sentence: %s", async (_what, parameters, host, sentence) => {
    const url = address(parameters, { host, database: await emptyDatabase() });
    const expected = { code: 1, out: "", err: `database.url: connecting to the database: ${sentence}` };
    expect(await runCommand(["migrate"], { DATABASE_URL: url })).toEqual(expected);
    expect(await runCommand(["migrate", "--check", "--wait", "5m"], { DATABASE_URL: url })).toEqual(expected);
  });

  it("is not sent anything by pool, notifications and migrations, and is waited for with what to do", async () => {
    const database = await emptyDatabase();
    await migrate({ url: address(VERIFIED, { database }), log: silentLog, signal: soon() });
    const url = address(OF_ANOTHER, { database });
    for (const open of [() => store(url), () => migrate({ url, log: silentLog, signal: soon() })]) {
      const error = await open().then(
        () => undefined,
        (cause: unknown) => cause,
      );
      expect(error).toMatchObject({ name: "InputError", code: "store.untrusted", path: "database.url" });
      expect(`${whyWaitForDatabase(error)?.sentence}.`).toBe(`connecting to the database: ${UNTRUSTED}`);
    }
    const sessions = await server.query(`select from pg_stat_activity where datname = '${database}'`);
    expect(sessions).toEqual([]);
  });

  it("loses connections that are made later, which is the database being away", async () => {
    const database = await emptyDatabase();
    const file = join(directory, "changing.crt");
    await writeFile(file, authority.cert);
    const url = address(`sslmode=verify-full&sslrootcert=${file}`, { database });
    await migrate({ url, log: silentLog, signal: soon() });
    const opened = await store(url);
    // The file is read for each connection: those of the pool that are there go on.
    await writeFile(file, another.cert);
    opened.changes.subscribe(() => undefined);
    const asked = Promise.all([1, 2].map(() => opened.ping(soon())));
    await expect(asked).rejects.toMatchObject({ name: "UnavailableError", code: "store.unavailable" });
    expect(opened.changes.isConnected()).toBe(false);
    await writeFile(file, authority.cert);
    await vi.waitFor(() => expect(opened.changes.isConnected()).toBe(true), { timeout: 30_000 });
    await opened.close();
  });

  it("offers no TLS", async () => {
    const plain = createServer((socket) => socket.once("data", () => socket.end("N"))).listen(0, "127.0.0.1");
    await once(plain, "listening");
    const at = plain.address();
    const url = `postgres://u:geheim@localhost:${typeof at === "object" ? at?.port : 0}/x?sslmode=verify-full`;
    expect(await runCommand(["migrate", "--check"], { DATABASE_URL: url })).toEqual({
      code: 1,
      out: "",
      err: "database.url: connecting to the database: it offers no TLS, and the address asks for it. Turn TLS on at the server; the address of another machine asks for it unless it has sslmode=disable.",
    });
    plain.close();
  });
});

describe("a connection string whose verification is incomplete", () => {
  it.each([
    ["sslrootcert=DIR/not-there.crt", "sslrootcert in the database's address names cannot be read"],
    ["sslrootcert=DIR/key.crt", "sslrootcert in the database's address names holds nothing in PEM"],
    ["sslcert=DIR/not-there.crt", "sslcert in the database's address names cannot be read"],
  ])("is refused because of its files: %s", async (parameter, message) => {
    const { code, err } = await runCommand(["migrate"], { DATABASE_URL: address(`sslmode=verify-full&${parameter}`) });
    expect([code, err]).toEqual([1, expect.stringContaining(`database.url: the file that ${message}. Name a file in PEM`)]);
  });

  it("is refused by `argosy migrate`, `keys` and `recover-epochs` where the configuration requires verification, typed or not", async () => {
    const file = join(directory, "argosy.yaml");
    const key = Buffer.alloc(32, 7).toString("base64");
    await writeFile(file, `database: {url: "${address(VERIFIED)}", requireVerifiedTls: true}\nencryption: {keys: [{id: a, env: KEY}]}\n`);
    const other = address("sslmode=no-verify");
    const typed = ["-c", file, "--database", other];
    for (const command of [
      ["migrate", "--check"],
      ["keys", "list"],
      ["recover-epochs", "--dry-run"],
    ]) {
      const seen = await runCommand([...command, ...typed], { KEY: key });
      expect([seen.code, seen.err]).toEqual([1, expect.stringContaining("DATABASE_URL: has another sslmode than verify-full")]);
      const fromEnvironment = await runCommand([...command, "-c", file], { KEY: key, DATABASE_URL: other });
      expect(fromEnvironment.err).toContain("DATABASE_URL: has another sslmode than verify-full");
    }
    expect((await runCommand(["migrate", "--check", "-c", file], {})).out).toContain("has no schema");
  });
});
