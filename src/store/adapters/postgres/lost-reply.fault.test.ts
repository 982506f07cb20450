import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Millis } from "../../../domain/clock.ts";
import { UnavailableError } from "../../../domain/errors.ts";
import type { MemberId } from "../../../domain/ids.ts";
import { NOT_BEGUN } from "../../../domain/sync-run.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { createVirtualClock } from "../../../runtime/testing/virtual-clock.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import type { Store } from "../../port.ts";
import { AT, aDecision, anIntent, anObject, aRun, aStatus, WIDE } from "../../testing/builders.ts";
import { type ReplyCutter, startReplyCutter } from "../../testing/reply-cutter.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../../testing/test-server.ts";
import { createWorld, soon, type World } from "../../testing/world.ts";
import { createPostgresStore } from "./postgres-store.ts";

let server: TestServer;
let workspaceUnit: TestDatabase;
let cutter: ReplyCutter;
/** By the way on which answers get lost. */
let store: Store;
/** By another way, as another member. */
let world: World;
const closing: (() => Promise<void>)[] = [];

async function openStore(url: string, clock = systemClock): Promise<Store> {
  const opened = await createPostgresStore({ url, clock, log: silentLog, metrics: noMetrics, poolSize: 2 });
  closing.push(() => opened.close());
  return opened;
}

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  workspaceUnit = await server.createMigrated();
  cutter = await startReplyCutter(workspaceUnit.url);
  closing.push(() => cutter.close());
  store = await openStore(cutter.url);
  world = createWorld(await openStore(workspaceUnit.url));
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  await workspaceUnit.drop();
});

/** Runs work whose answer gets lost, as `tag` ends it, and then once more, as the queue does. */
async function twice<Result>(tag: string, work: () => Promise<Result>): Promise<Result> {
  const before = cutter.lost();
  cutter.cutReplyTo(tag);
  await expect(work()).rejects.toBeInstanceOf(UnavailableError);
  expect(cutter.lost()).toBe(before + 1);
  return work();
}

const count = async (table: string, where = "true") =>
  (await server.query<{ readonly n: number }>(`select count(*)::int as n from ${table} where ${where}`, workspaceUnit.url))[0]?.n;

describe("work that was committed, and whose answer got lost", () => {
  it("is found when wishes are recorded again: one row, one unit and one operation each, and no revision raised twice", async () => {
    const requests = Array.from({ length: 3 }, (_, index) => anIntent({ namespace: `team-${index % 2}` }));
    const record = () =>
      store.intents.recordDeployments(
        requests.map((request) => ({ ...request, newIds: anIntent().newIds })),
        soon(),
      );
    const outcomes = await twice("COMMIT", record);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["unchanged", "unchanged", "unchanged"]);
    for (const [index, outcome] of outcomes.entries())
      expect(await world.application(outcome.applicationId)).toMatchObject({ uid: requests[index]?.uid, desiredRevision: 1 });
    expect([await count("application"), await count("placement_unit"), await count("workspace"), await count("operation")]).toEqual([
      3, 2, 2, 3,
    ]);
  });

  it("is found when a change or a deletion is recorded again", async () => {
    const deployed = await world.deploy();
    const changed = { ...deployed.intent, generation: 2, spec: { ...deployed.intent.spec, type: "manual" as const } };
    await twice("COMMIT", () => store.intents.recordDeployments([{ ...changed, newIds: anIntent().newIds }], soon()));
    expect(await world.application(deployed.applicationId)).toMatchObject({ desiredRevision: 2, generation: 2 });
    const deletion = () =>
      store.intents.recordDeletions([{ uid: changed.uid, deletion: "cascade", operationId: anIntent().newIds.operationId }], soon());
    await twice("COMMIT", deletion);
    expect(await world.application(deployed.applicationId)).toMatchObject({ desiredRevision: 2, deletion: "cascade" });
    expect(await count("operation", "kind = 'delete-application'")).toBe(1);
  });

  it("is found when a unit is placed again: it stays where it is, under one epoch, decided once (I7)", async () => {
    const { applicationId } = await world.record();
    const unit = await world.unit(applicationId);
    const [first, second] = [await world.addInstance(), await world.addInstance()];
    const place = (instanceId: typeof first.id) => () =>
      store.placements.commitFirstPlacement(
        { unitId: unit.id, rowVersion: unit.rowVersion, instanceId, ceiling: WIDE, decision: aDecision({ subject: unit.id }) },
        soon(),
      );
    expect(await twice("COMMIT", place(first.id))).toEqual({ kind: "stale" });
    const placed = await world.unit(applicationId);
    expect(placed.owner).toBe(first.id);
    expect(await place(second.id)()).toEqual({ kind: "stale" });
    expect(await world.unit(applicationId)).toEqual(placed);
    expect(await world.store.decisions.list({ subject: unit.id, kind: "placement" }, 10, soon())).toHaveLength(1);
  });

  it("is found when an acknowledgement or a status is recorded again, and nobody is told twice", async () => {
    const deployed = await world.deploy();
    const at = { instanceId: deployed.instanceId, epoch: deployed.epoch };
    await twice("SELECT 1", () => store.shards.acknowledge([anObject({ ...at, subject: deployed.applicationId })], soon()));
    expect(await count("operation", "state = 'Completed' and attempts = 1")).toBe(1);
    const notifications = await world.notificationsOf(() =>
      twice("SELECT 1", () => store.statuses.recordStatuses([aStatus({ ...at, applicationId: deployed.applicationId })], soon())),
    );
    expect(notifications).toEqual([`status:${deployed.applicationId}`]);
  });

  it("is found when a run is recorded, reported, cancelled, told and forgotten again", async () => {
    const { intent, applicationId, instanceId, epoch } = await world.deploy();
    const run = aRun({ deploymentUid: intent.uid });
    const { uid } = run;
    const read = async () => (await world.store.syncRuns.readViews([uid], soon()))[0];
    const report = (phase: "Running" | "Terminated", finishedAt?: Millis) =>
      store.syncRuns.recordReports([{ uid, instanceId, epoch, requestedAt: AT, progress: { ...NOT_BEGUN, phase, finishedAt } }], soon());
    await twice("SELECT 2", () => store.syncRuns.record([run], soon()));
    expect(await read()).toMatchObject({ run: { applicationId, isCancelled: false }, viewRevision: 1 });
    await twice("SELECT 1", () => report("Running"));
    await twice("SELECT 2", () => store.syncRuns.cancel([uid], soon()));
    expect(await read()).toMatchObject({ run: { isCancelled: true, progress: { phase: "Running" } } });
    await twice("SELECT 2", () => report("Terminated", AT));
    const viewRevision = (await read())?.viewRevision ?? 0;
    await twice("UPDATE 1", () => store.syncRuns.recordPublished([{ uid, hash: "h", viewRevision }], soon()));
    expect(await world.store.syncRuns.listKnown("main", soon())).toMatchObject([{ phase: "Terminated", isPublished: true }]);
    await twice("DELETE 1", () => store.syncRuns.forget([uid], soon()));
    expect(await count("sync_run")).toBe(0);
  });

  it("is found when a lease is taken again: the same one, under the same number", async () => {
    const acquire = () => store.members.acquire("key", "ada" as MemberId, 600_000, soon());
    expect(await twice("INSERT 0 1", acquire)).toMatchObject({ holder: "ada", fence: 1 });
  });
});

describe("a member whose clock is an hour off", () => {
  it.each([
    ["ahead", 3_600_000],
    ["behind", -3_600_000],
  ])("%s lives and holds leases as long as everybody else", async (_, byMs) => {
    const clock = createVirtualClock(Date.now() + byMs);
    const [ada, bob] = ["ada", "bob"] as unknown as readonly [MemberId, MemberId];
    const off = await openStore(workspaceUnit.url, clock);
    const alive = (found: ReadonlyMap<string, readonly MemberId[]>) => found.get("api");
    await off.members.heartbeat(ada, ["api"], 15_000, soon());
    expect(alive(await world.store.members.heartbeat(bob, ["api"], 15_000, soon()))).toEqual([ada, bob]);
    expect(alive(await off.members.heartbeat(ada, ["api"], 15_000, soon()))).toEqual([ada, bob]);
    const lease = await off.members.acquire("key", ada, 15_000, soon());
    expect(await world.store.members.acquire("key", bob, 15_000, soon())).toBeUndefined();
    clock.set(-2 * byMs);
    expect(await off.members.acquire("key", ada, 15_000, soon())).toEqual(lease);
    expect(await world.store.members.acquire("key", bob, 15_000, soon())).toBeUndefined();
    const [row] = await server.query<{ readonly left: number }>(
      "select extract(epoch from min(expires) - now())::float as left from member",
      workspaceUnit.url,
    );
    expect(row?.left).toBeLessThanOrEqual(15);
  });
});
