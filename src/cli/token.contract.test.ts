import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idleDeps, type Served, serveApi } from "../api/testing/served.ts";
import { systemClock } from "../runtime/clock.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../store/testing/test-server.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { runCommand, type Seen } from "./testing/run-command.ts";

describe("argosy token", () => {
  let server: TestServer;
  let database: TestDatabase;
  let store: Awaited<ReturnType<typeof createPostgresStore>>;
  let served: Served;
  beforeAll(async () => {
    server = await startTestServer();
    database = await server.createEmpty();
  });
  afterAll(async () => {
    await served.close();
    await store.close();
    await server.stop();
  });
  const atDatabase = (...args: readonly string[]): Promise<Seen> =>
    runCommand(["token", ...args], { DATABASE_URL: database.url, USER: "anna" });
  const atServer = (token: string, ...args: readonly string[]): Promise<Seen> =>
    runCommand(["token", ...args], { ARGOSY_URL: served.url, ARGOSY_TOKEN: token, DATABASE_URL: "postgres://nowhere.example/none" });
  const json = ({ out, err }: Seen): Record<string, unknown> => {
    try {
      return JSON.parse(out) as Record<string, unknown>;
    } catch {
      throw new Error(`no JSON: ${out} ${err}`);
    }
  };

  it("makes the first token in the database, and all others at the server with that one", async () => {
    const first = await atDatabase("create", "root", "--role", "approver");
    expect(first).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^argosy_[\w-]{43}$/),
      err: expect.stringMatching(/^token root ends \d{4}-/),
    });
    store = await createPostgresStore({ url: database.url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 4 });
    served = await serveApi((memory) => ({ ...idleDeps(memory), store: { ...memory, tokens: store.tokens, decisions: store.decisions } }));

    const made = json(
      await atServer(first.out, "create", "ci", "--role", "viewer", "--expires", "30d", "--owner", "build team", "-o", "json"),
    );
    expect(made).toMatchObject({ name: "ci", role: "viewer", owner: "build team", createdBy: "root", token: expect.any(String) });
    expect(Date.parse(String(made["expiresAt"])) - Date.parse(String(made["createdAt"]))).toBe(30 * 24 * 3_600_000);
    expect(await atServer(String(made["token"]), "create", "more", "--role", "viewer")).toMatchObject({
      code: 1,
      err: expect.stringContaining("token ci has role viewer, this needs approver"),
    });

    expect(await atServer(first.out, "list")).toMatchObject({ out: expect.stringMatching(/^ci +viewer +build team +active +29d/m) });
    const [ci, root] = JSON.parse((await atDatabase("list", "-o", "json")).out) as readonly Record<string, unknown>[];
    expect(ci).toMatchObject({ name: "ci", createdBy: "root" });
    expect(root).toMatchObject({ name: "root", owner: "database:anna", createdBy: "database:anna" });
    expect(JSON.stringify([ci, root])).not.toContain(made["token"]);
  });

  it("lets a token never end only if that is said, and not together with an end", async () => {
    expect(await atDatabase("create", "old", "--role", "viewer", "--no-end")).toMatchObject({ code: 0, err: "token old never ends" });
    expect((await atDatabase("create", "old", "--role", "viewer", "--no-end", "--expires", "3d")).err).toContain(
      "--no-end that it does not",
    );
    expect((await atDatabase("create", "old", "--role", "viewer", "--expires", "soon")).err).toContain(
      "--expires: soon is no length of time",
    );
  });

  it("limits a role to classes and workspaces, and refuses what is neither", async () => {
    const limits = ["--class", "eu/shared/public", "--workspace", "shop-*", "--workspace", "till"];
    const made = json(await atDatabase("create", "shop", "--role", "operator", ...limits, "-o", "json"));
    const scope = { classes: ["eu/shared/public"], workspaces: ["shop-*", "till"] };
    expect(made).toMatchObject({ scope });
    const found = [...(await store.tokens.readHashes(AbortSignal.timeout(30_000))).values()];
    expect(found).toContainEqual(expect.objectContaining({ name: "shop", scope }));
    expect((await atDatabase("list")).out).toMatch(/^shop [^\n]+\n +shop-\*, till, eu\/shared\/public$/m);
    const wrong = await atDatabase("create", "shop", "--role", "operator", "--workspace", "*-shop");
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("*-shop is no workspace") });
    await atDatabase("revoke", "shop");
  });

  it("revokes a token at the server or in the database, and lists it afterwards only with --all", async () => {
    const root = (await atDatabase("create", "root", "--role", "approver")).out;
    expect(await atServer(root, "revoke", "ci", "-o", "json")).toMatchObject({ code: 0, out: expect.stringContaining('"revoked": true') });
    expect(await atServer(root, "revoke", "ci")).toMatchObject({ code: 1, err: expect.stringContaining("there is no token ci") });
    expect(await atDatabase("delete", "old")).toMatchObject({ code: 0, err: "token old revoked" });
    expect((await atDatabase("revoke", "nobody")).err).toContain("there is no token nobody; `argosy token list` names them");
    expect((await atServer(root, "list")).out).not.toMatch(/^(ci|old) /m);
    expect((await atServer(root, "list", "--all")).out).toMatch(/^ci +viewer +build team +revoked/m);
    const entries = await store.decisions.list({ subject: "token/ci" }, 10, AbortSignal.timeout(30_000));
    expect(entries.map(({ verdict, details }) => [verdict, details.actor])).toEqual([
      ["TOKEN_REVOKED", "root"],
      ["TOKEN_CREATED", "root"],
    ]);
    expect((await store.decisions.list({ subject: "token/old" }, 10, AbortSignal.timeout(30_000)))[0]?.details.actor).toBe("database:anna");
  });

  it("goes to the database that is typed, whatever the environment says of a server", async () => {
    const { out } = await atServer("argosy_wrong_0123456789", "list", "--database", database.url, "-o", "json");
    expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ name: "root" }));
  });
});
