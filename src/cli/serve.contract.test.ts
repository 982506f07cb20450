import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { ROLES } from "../domain/role.ts";
import { startFakeApiServer } from "../runtime/kube/testing/fake-api-server.ts";
import { anAuthority, aServerCertificate } from "../runtime/testing/certificates.ts";
import { grantTo, migrate } from "../store/adapters/postgres/migrate.ts";
import { migration, readMigrations } from "../store/adapters/postgres/migration-files.ts";
import { createGranted, LOGIN_NAMES } from "../store/testing/database-logins.ts";
import { startTestServer, type TestServer } from "../store/testing/test-server.ts";
import { speakTls } from "../store/testing/tls-server.ts";
import { soon } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";

let server: TestServer;
let directory: string;
beforeAll(async () => {
  server = await startTestServer();
  directory = await mkdtemp(join(tmpdir(), "argosy-serve-"));
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

/** A cluster that is not there: a process serves without it, and says so where it matters. */
const AWAY = "https://127.0.0.1:1";
const kubeconfigOf = (server: string) => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "c", cluster: { server } }],
  users: [{ name: "u", user: { token: "token" } }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
});
const CONNECTED = { name: "database", ok: true, detail: "connected" };
const WAIT = { timeout: 60_000, interval: 50 };
const NOWHERE = "postgres://u:p@127.0.0.1:1/x";

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  await new Promise((done) => listener.close(done));
  return typeof address === "object" && address !== null ? address.port : 0;
}

interface Served {
  /** Of the API. */
  readonly url: string;
  /** Of probes and metrics. */
  readonly monitoring: string;
  log(): readonly Readonly<Record<string, unknown>>[];
  readonly exited: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<number | null>;
}

let count = 0;

async function serve(databaseUrl: string, more: Readonly<Record<string, unknown>> = {}, apiServer = AWAY): Promise<Served> {
  const [port, monitoringPort] = [await freePort(), await freePort()];
  count += 1;
  const file = (name: string): string => join(directory, `${count}-${name}`);
  await writeFile(file("kubeconfig"), stringify(kubeconfigOf(apiServer)));
  const config = {
    roles: ["api"],
    stateDir: file("state"),
    apiCluster: { name: "api", kubeconfig: file("kubeconfig") },
    listen: { host: "127.0.0.1", port },
    monitoring: { port: monitoringPort },
    encryption: { keys: [{ id: "first", env: "TEST_KEY" }] },
    ...more,
  };
  await writeFile(file("argosy.yaml"), stringify(config));
  const child = spawn(process.execPath, ["src/cli/argosy.ts", "serve", "--config", file("argosy.yaml")], {
    env: { ...process.env, DATABASE_URL: databaseUrl, TEST_KEY: randomBytes(32).toString("base64") },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const exited = once(child, "close").then(([status]) => status as number | null);
  return {
    url: `http://127.0.0.1:${port}`,
    monitoring: `http://127.0.0.1:${monitoringPort}`,
    log: () =>
      said
        .split("\n")
        .filter((line) => line.startsWith("{") && line.endsWith("}"))
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    exited,
    signal: (name) => void child.kill(name),
    stop() {
      child.kill("SIGTERM");
      return exited;
    },
  };
}

interface Readiness {
  readonly status: number;
  readonly checks: readonly { readonly name: string; readonly detail: string }[];
}

async function readinessOf({ monitoring }: Served): Promise<Readiness> {
  const response = await fetch(`${monitoring}/readyz`);
  const { checks } = (await response.json()) as Pick<Readiness, "checks">;
  return { status: response.status, checks };
}

const ready = (process: Served): Promise<void> => vi.waitFor(async () => expect((await readinessOf(process)).status).toBe(200), WAIT);
const waitsFor = (process: Served, name: string, detail: RegExp): Promise<void> =>
  vi.waitFor(
    async () => expect((await readinessOf(process)).checks).toContainEqual({ name, ok: false, detail: expect.stringMatching(detail) }),
    WAIT,
  );

describe("a process that serves the API alone", () => {
  it("is ready although nobody in it acts on changes, and ends cleanly", async () => {
    const { url: database } = await server.createEmpty();
    const api = await serve(database);
    try {
      await vi.waitFor(async () => expect((await fetch(`${api.url}/readyz`)).status).toBe(200), WAIT);
    } finally {
      expect(await api.stop()).toBe(0);
    }
  });

  it("is not ready at once when it is asked to stop, and takes requests until that was seen", async () => {
    const { url: database } = await server.createEmpty();
    const api = await serve(database, { shutdown: { delayMs: 5_000 } });
    try {
      await ready(api);
      api.signal("SIGTERM");
      await waitsFor(api, "stop", /is stopping/);
      expect((await fetch(`${api.url}/v1/version`)).status).toBe(200);
      expect((await fetch(`${api.url}/readyz`)).status).toBe(503);
    } finally {
      expect(await api.exited).toBe(0);
    }
    // Others need not wait until its silence is noticed.
    expect(await server.query("select from member", database)).toEqual([]);
  });
});

describe("a process that serves the API over TLS", () => {
  it("says so in its URL, and keeps probes on plain HTTP", async () => {
    const { url: database } = await server.createEmpty();
    const { cert, key } = aServerCertificate(["127.0.0.1"]);
    const tls = { certificateFile: join(directory, "tls.crt"), keyFile: join(directory, "tls.key") };
    await writeFile(tls.certificateFile, cert);
    await writeFile(tls.keyFile, key);
    const api = await serve(database, { listen: { host: "127.0.0.1", port: await freePort(), tls } });
    try {
      await ready(api);
      const url = String(api.log().find(({ message }) => message === "Listening")?.["url"]);
      expect(url).toMatch(/^https:\/\/127\.0\.0\.1:/);
      const sent = request(`${url}/v1/version`, { ca: cert, agent: false }).end();
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      expect(response.resume().statusCode).toBe(200);
    } finally {
      expect(await api.stop()).toBe(0);
    }
  });

  it("ends at once where its certificate is not there, and names the field", async () => {
    const tls = { certificateFile: join(directory, "no.crt"), keyFile: join(directory, "no.key") };
    const served = await serve(NOWHERE, { listen: { host: "127.0.0.1", port: await freePort(), tls } });
    expect(await served.exited).toBe(1);
    expect(JSON.stringify(served.log())).toMatch(/no\.crt cannot be read.*listen\.tls\.certificateFile/);
    const scheduler = await serve(NOWHERE, { roles: ["scheduler"], listen: { tls } });
    await waitsFor(scheduler, "database", /ECONNREFUSED/);
    expect(await scheduler.stop()).toBe(0);
  });
});

describe("a process of any role", () => {
  it("answers probes and Prometheus, and serves no API where it is not to", async () => {
    const { url: database } = await server.createEmpty();
    const scheduler = await serve(database, { roles: ["scheduler"] });
    try {
      await ready(scheduler);
      expect((await fetch(`${scheduler.monitoring}/livez`)).status).toBe(200);
      expect(await (await fetch(`${scheduler.monitoring}/metrics`)).text()).toContain("argosy_store_statements_total");
      await expect(fetch(`${scheduler.url}/healthz`)).rejects.toThrow();
    } finally {
      expect(await scheduler.stop()).toBe(0);
    }
  });

  it("listens at a free port where none is configured, and logs it", async () => {
    const { url: database } = await server.createEmpty();
    const served = await serve(database, { monitoring: {} });
    try {
      const listening = () => served.log().find(({ message }) => message === "Answering probes");
      await vi.waitFor(() => expect(listening()).toBeDefined(), WAIT);
      const url = String(listening()?.["url"]);
      expect((await fetch(`${url}/livez`)).status).toBe(200);
    } finally {
      expect(await served.stop()).toBe(0);
    }
  });
});

describe("several processes of one role", () => {
  it("leave their work to the others once those are prepared for it", async () => {
    const { url: database } = await server.createEmpty();
    const cluster = await startFakeApiServer();
    const both = [
      await serve(database, { roles: ["reconciler"] }, cluster.url),
      await serve(database, { roles: ["reconciler"] }, cluster.url),
    ] as const;
    const said = (process: Served, message: string) => process.log().find((line) => line["message"] === message);
    try {
      await Promise.all(both.map(ready));
      const [first, second] = both;
      expect(await first.stop()).toBe(0);
      expect(said(first, "Leaving a role to the others")).toMatchObject({ role: "reconciler", arePrepared: true });
      expect(said(second, "Leaving a role to the others")).toBeUndefined();
      expect(await second.stop()).toBe(0);
    } finally {
      await Promise.all(both.map((each) => each.stop()));
      await cluster.close();
    }
  });
});

describe("processes with logins of their own", () => {
  it.each([
    ["api", ["api"], "api"],
    ["every other role", ROLES.filter((role) => role !== "api"), "controlPlane"],
  ] as const)("start, live and end as the login of %s, and the database refuses them nothing", async (_, roles, login) => {
    const database = await createGranted(server);
    const served = await serve(database.logins[login], { roles });
    try {
      await vi.waitFor(() => expect(served.log().map(({ message }) => message)).toContain("Serving"), WAIT);
      await vi.waitFor(async () => expect((await readinessOf(served)).checks).toContainEqual(CONNECTED), WAIT);
      const own = "select array_agg(role order by role) as roles from member, unnest(roles) role";
      await vi.waitFor(
        async () => expect(await server.query(own, database.url)).toEqual([{ roles: roles.toSorted((a, b) => (a < b ? -1 : 1)) }]),
        WAIT,
      );
      const lease = { api: [], controlPlane: [{ key: "retention" }] }[login];
      await vi.waitFor(async () => expect(await server.query("select key from lease", database.url)).toEqual(lease), WAIT);
    } finally {
      expect(await served.stop()).toBe(0);
    }
    expect(served.log().filter((line) => /permission denied|42501/.test(JSON.stringify(line)))).toEqual([]);
  });

  it("wait for their rights, and say which command gives them", async () => {
    const database = await createGranted(server);
    await server.query("revoke insert on audit_record from argosy_api", database.owner);
    const served = await serve(database.logins.api);
    try {
      await waitsFor(served, "database", /as argosy_api, who has no right to insert on audit_record\. .*`argosy database grant`/);
      await grantTo(LOGIN_NAMES, { url: database.owner, log: silentLog, signal: soon() });
      await ready(served);
    } finally {
      expect(await served.stop()).toBe(0);
    }
  });

  it("wait for a schema that their login may not bring up to date", async () => {
    const database = await createGranted(server);
    const last = (await readMigrations()).at(-1)?.name ?? "";
    await server.query(`delete from schema_migration where name = '${last}'`, database.owner);
    const served = await serve(database.logins.controlPlane, { roles: ["scheduler"] });
    try {
      await waitsFor(served, "database", /Let the owner of the tables run `argosy migrate`/);
    } finally {
      expect(await served.stop()).toBe(0);
    }
  });
});

describe("a process without a database that it works with", () => {
  it("lives, says why it is not ready, logs that once, and ends at once when it is asked to", async () => {
    const served = await serve(NOWHERE);
    await waitsFor(served, "database", /connecting to the database: connect ECONNREFUSED 127.0.0.1:1/);
    expect((await fetch(`${served.monitoring}/livez`)).status).toBe(200);
    expect(await served.stop()).toBe(0);
    expect(served.log().filter(({ waitsFor: what }) => what === "database")).toHaveLength(1);
  });

  it("goes on by itself when the database that it was given is made", async () => {
    const name = `late_${Date.now()}`;
    const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
    const served = await serve(url);
    try {
      await waitsFor(served, "database", /refuses this user, password or database name\. Correct DATABASE_URL/);
      await server.query(`create database ${name}`);
      await ready(served);
    } finally {
      expect(await served.stop()).toBe(0);
    }
  });

  it("leaves the schema to `argosy migrate` where it is configured to, and goes on when that is done", async () => {
    const { url } = await server.createEmpty();
    const served = await serve(url, { database: { migrate: "by-command" } });
    try {
      await waitsFor(served, "database", /has no schema yet\. Run `argosy migrate`/);
      expect(await server.query("select from pg_class where relname = 'schema_migration'", url)).toEqual([]);
      await migrate({ url, log: silentLog, signal: soon() });
      await ready(served);
    } finally {
      expect(await served.stop()).toBe(0);
    }
  });

  it("waits beside one that needs a newer program, and serves beside one that was only added to", async () => {
    const { url } = await server.createEmpty();
    const known = await readMigrations();
    const last = known.at(-1)?.name.slice(0, 4) ?? "";
    const added = migration("9001-added", `-- needs program: ${last}\ncreate table added (id text)`);
    const taken = migration("9002-taken", "drop table added");
    await migrate({ url, log: silentLog, signal: soon(), migrations: [...known, added] });
    const beside = await serve(url);
    await ready(beside);
    expect(await beside.stop()).toBe(0);
    await migrate({ url, log: silentLog, signal: soon(), migrations: [...known, added, taken] });
    const waiting = await serve(url);
    try {
      await waitsFor(waiting, "database", /has to know migration 9002.*Start the version that made the schema/);
    } finally {
      expect(await waiting.stop()).toBe(0);
    }
  });

  it("sends nothing to a server that is not trusted, says why, and goes on when its certificate has been renewed", async () => {
    const authority = anAuthority();
    const tls = await speakTls(server, aServerCertificate(["localhost"], anAuthority("another authority")));
    const ca = join(directory, "database-ca.crt");
    await writeFile(ca, authority.cert);
    const { url: plain } = await server.createMigrated();
    const url = `${Object.assign(new URL(plain), { hostname: "localhost" }).href}?sslmode=verify-full&sslrootcert=${ca}`;
    const processes = [
      await serve(url, { database: { requireVerifiedTls: true } }),
      await serve(url, { database: { requireVerifiedTls: true, migrate: "by-command" } }),
    ];
    try {
      for (const each of processes)
        await waitsFor(each, "database", /signed by no authority that is trusted here\. Name the file .* with sslrootcert=/);
      await tls.useCertificate(aServerCertificate(["localhost"], authority));
      for (const each of processes) await ready(each);
    } finally {
      for (const each of processes) expect(await each.stop()).toBe(0);
    }
  });

  it("ends where waiting would mend nothing, and does not wait for anything before", async () => {
    const served = await serve(NOWHERE, { apiCluster: { name: "api", kubeconfig: join(directory, "not-there") } });
    expect(await served.exited).toBe(1);
    expect(JSON.stringify(served.log())).toContain("not-there");
  });
});
