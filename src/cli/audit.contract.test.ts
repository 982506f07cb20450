import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Served, serveApi } from "../api/testing/served.ts";
import { systemClock } from "../runtime/clock.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import { anAuditEntry } from "../store/testing/builders.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../store/testing/test-server.ts";
import { soon } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { runCommand } from "./testing/run-command.ts";

const directory = mkdtempSync(join(tmpdir(), "argosy-audit-"));
afterAll(() => rmSync(directory, { recursive: true }));

describe("argosy audit", () => {
  let served: Served;
  let lines: readonly string[];
  const run = (...args: readonly string[]) =>
    runCommand(["audit", ...args], { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("approver") });
  const file = (text: string): string => {
    const path = join(directory, "audit.jsonl");
    writeFileSync(path, text);
    return path;
  };
  const verify = (changed: readonly string[], ...args: readonly string[]) => run("verify", file(`${changed.join("\n")}\n`), ...args);
  beforeAll(async () => {
    served = await serveApi();
    for (let index = 1; index <= 450; index += 1)
      await served.store.audit.append(anAuditEntry({ actor: `a-${index}`, details: { text: "one\u2028two" } }), soon());
    lines = (await run("export")).out.split("\n");
  });
  afterAll(() => served.close());

  it("exports every record in order, one a line", () => {
    expect(lines).toHaveLength(450);
    expect(lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual(Array.from({ length: 450 }, (_, index) => index + 1));
  });

  it("verifies an export and the server's own trail, and says what the last hash is", async () => {
    const { hash } = JSON.parse(lines.at(-1) ?? "") as { hash: string };
    const whole = { out: `whole: 450 records, 1 to 450\nlast hash ${hash}`, err: "", code: 0 };
    expect(await verify(lines)).toEqual(whole);
    expect(await run("verify")).toEqual(whole);
    expect(await run("verify", "--from-hash", hash)).toEqual(whole);
    expect(JSON.parse((await verify(lines, "-o", "json")).out)).toMatchObject({ ok: true, records: 450, lastHash: hash, fault: null });
  });

  it("finds a changed, a removed, a reordered and an inserted line, and names it", async () => {
    const at = (seq: number): string => lines[seq - 1] ?? "";
    const changed = lines.map((line, index) => (index === 99 ? line.replace("a-100", "b-100") : line));
    expect(await verify(changed)).toEqual({
      out: "NOT WHOLE: record 100 was changed: its hash is not that of what it says",
      err: "",
      code: 1,
    });
    const removed = lines.filter((_, index) => index !== 99);
    expect(await verify(removed)).toEqual({ out: "NOT WHOLE: record 100 is missing: line 100 is record 101", err: "", code: 1 });
    const reordered = [...lines.slice(0, 99), at(101), at(100), ...lines.slice(101)];
    expect(await verify(reordered)).toEqual({
      out: "NOT WHOLE: record 100 stands in line 101, after record 101: lines were put into another order",
      ...{ err: "", code: 1 },
    });
    const inserted = [...lines.slice(0, 100), at(100), ...lines.slice(100)];
    expect(await verify(inserted)).toEqual({
      out: "NOT WHOLE: line 101 is a second record 100: it, or the one before it, was put in",
      ...{ err: "", code: 1 },
    });
    expect(JSON.parse((await verify(changed, "-o", "json")).out)).toMatchObject({
      ok: false,
      fault: { code: "CHANGED", seq: 100, line: 100 },
    });
  });

  it("finds by a kept hash that the trail was written anew or cut", async () => {
    const { hash } = JSON.parse(lines.at(-1) ?? "") as { hash: string };
    expect(await verify(lines.slice(0, 400), "--from-hash", hash)).toMatchObject({
      code: 1,
      out: expect.stringContaining("written anew, or cut"),
    });
    expect(await run("verify", "--from-hash", "0".repeat(63))).toMatchObject({ code: 2, err: expect.stringContaining("--from-hash") });
  });

  it("lists the newest first, by who, what, how and when", async () => {
    const { out } = await run("list", "--limit", "2");
    expect(out.split("\n").map((line) => line.split(/\s{2,}/)[0])).toEqual(["NUMBER", "450", "449"]);
    expect(JSON.parse((await run("list", "--actor", "a-7", "--outcome", "ok", "--since", "1h", "-o", "json")).out)).toMatchObject([
      { seq: 7 },
    ]);
  });

  it.each([
    [["verify", join(directory, "nothing")], 2, "cannot be read"],
    [["list", "--outcome", "lost"], 2, "asked, ok, refused, failed"],
    [["list", "--token", "argosy_operator_0123456789"], 1, "needs approver"],
  ])("answers %j with exit code %i", async (args, code, err) => {
    expect(await run(...args)).toMatchObject({ code, err: expect.stringContaining(err) });
  });
});

describe("commands that go to the database, on PostgreSQL", () => {
  const actor = `${userInfo().username}@${hostname()}`;
  let server: TestServer;
  let database: TestDatabase;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    database = await server.createEmpty();
  });

  const records = async () => {
    const store = await createPostgresStore({ url: database.url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 1 });
    const found = await store.audit.list({}, { limit: 100, order: "oldest-first" }, soon());
    await store.close();
    return found;
  };
  const run = (...args: readonly string[]) => runCommand([...args, "--database", database.url], {});

  it("are in the trail with the user and host, and no token is: migrate, token create, token delete", async () => {
    expect((await run("migrate")).code).toBe(0);
    expect((await run("migrate")).code).toBe(0);
    const { out: token } = await run("token", "create", "ci", "--role", "viewer");
    expect((await run("token", "list")).code).toBe(0);
    expect((await run("token", "delete", "nobody")).code).toBe(1);
    expect((await run("token", "delete", "ci")).code).toBe(0);
    const found = await records();
    expect(found.map(({ action, target, outcome, answers, code }) => [action, target, outcome, answers, code])).toEqual([
      ["migrate", "schema", "ok", undefined, ""],
      ["createToken", "ci", "asked", undefined, ""],
      ["createToken", "ci", "ok", 2, ""],
      ["revokeToken", "nobody", "asked", undefined, ""],
      ["revokeToken", "nobody", "refused", 4, "api.no-such-token"],
      ["revokeToken", "ci", "asked", undefined, ""],
      ["revokeToken", "ci", "ok", 6, ""],
    ]);
    for (const each of found) expect(each).toMatchObject({ actor, via: "database", remote: undefined });
    expect(found[0]?.details["applied"]).toContain("0010-audit-trail");
    expect(found[1]?.details).toEqual({ role: "viewer" });
    expect(JSON.stringify(found)).not.toContain(token);
  });

  it("are in the trail where a token is the first thing made in an empty database", async () => {
    await run("token", "create", "ci", "--role", "viewer");
    expect((await records()).map(({ action }) => action)).toEqual(["migrate", "createToken", "createToken"]);
  });
});
