import { afterAll, beforeAll, expect, it } from "vitest";
import { type Clock, millis } from "../../../domain/clock.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import type { Store } from "../../port.ts";
import { aDecision, aToken } from "../../testing/builders.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../../testing/test-server.ts";
import { soon } from "../../testing/world.ts";
import { createPostgresStore } from "./postgres-store.ts";

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;

let server: TestServer;
let database: TestDatabase;
const stores: Store[] = [];
beforeAll(async () => {
  server = await startTestServer();
  database = await server.createMigrated();
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await server.stop();
});

/** A process whose wall clock is wrong by so much. */
async function aProcess(wrongByMs: number): Promise<Store> {
  const clock: Clock = { ...systemClock, now: () => millis(systemClock.now() + wrongByMs) };
  const store = await createPostgresStore({ url: database.url, clock, log: silentLog, metrics: noMetrics, poolSize: 2 });
  stores.push(store);
  return store;
}

it("judges the end of a token by the database's clock, whatever the clocks of processes show", async () => {
  const [right, ahead, behind] = [await aProcess(0), await aProcess(1000 * DAY_MS), await aProcess(-1000 * DAY_MS)];
  for (const [name, maker] of [["ahead", ahead] as const, ["behind", behind] as const]) {
    const made = await maker.tokens.put(aToken({ name, lifetimeMs: HOUR_MS }), undefined, soon());
    expect(Math.abs(Number(made.expiresAt) - HOUR_MS - systemClock.now())).toBeLessThan(HOUR_MS / 2);
  }
  await right.tokens.put(aToken({ name: "over", lifetimeMs: -1 }), undefined, soon());
  for (const reader of [right, ahead, behind]) {
    const found = await reader.tokens.readHashes(soon());
    expect([...found.keys()].toSorted()).toEqual(["hash-ahead", "hash-behind"]);
    for (const { endsInMs = 0 } of found.values()) expect(Math.abs(endsInMs - HOUR_MS)).toBeLessThan(HOUR_MS / 2);
    expect((await reader.tokens.list(soon())).map(({ name, state }) => `${name} ${state}`)).toEqual([
      "ahead active",
      "behind active",
      "over expired",
    ]);
  }
});

it("hides a revoked token from a program of before, which reads nothing but hashes", async () => {
  const store = await aProcess(0);
  await store.tokens.put(aToken({ name: "leaked" }), undefined, soon());
  const asBefore = async () =>
    (await server.query<{ readonly hash: string }>("select name, role, hash from api_token where name = 'leaked'", database.url))[0]?.hash;
  expect(await asBefore()).toBe("hash-leaked");
  await store.tokens.revoke("leaked", aDecision({ kind: "directive" }), soon());
  expect(await asBefore()).toBe("revoked:leaked");
});

it("leaves no hash that a program of before would find, when a role is limited", async () => {
  const store = await aProcess(0);
  const limited = { name: "narrow", role: "approver", scope: { workspaces: ["team-*"] } } as const;
  await store.tokens.put(aToken(limited), undefined, soon());
  const asBefore = await server.query("select hash from api_token where name = 'narrow'", database.url);
  expect(asBefore).toEqual([{ hash: "limited:hash-narrow" }]);
  await store.tokens.recordUse(["hash-narrow"], soon());
  expect((await store.tokens.list(soon())).find(({ name }) => name === "narrow")).toMatchObject({ lastUsedAt: expect.any(Number) });
});

it("forgets tokens a month after they ended, when another is made", async () => {
  const store = await aProcess(0);
  await store.tokens.put(aToken({ name: "long-over", lifetimeMs: -31 * DAY_MS }), undefined, soon());
  await store.tokens.put(aToken({ name: "just-over", lifetimeMs: -29 * DAY_MS }), undefined, soon());
  const names = (await store.tokens.list(soon())).map(({ name }) => name);
  expect(names).toContain("just-over");
  expect(names).not.toContain("long-over");
});
