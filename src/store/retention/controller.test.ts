import { expect, test } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, MemberId, PlanId } from "../../domain/ids.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createMemoryStore } from "../adapters/memory/memory-store.ts";
import { aDecision, anAuditEntry } from "../testing/builders.ts";
import { forgetsTheOldest } from "../testing/contract/audit.ts";
import { createWorld } from "../testing/world.ts";
import { createRetention } from "./controller.ts";

const DAY = 86_400_000;
const NOW = 100 * DAY;
const { signal } = new AbortController();

function aFleet() {
  const clock = createVirtualClock(NOW);
  const store = createMemoryStore({ clock });
  const member = (name: string) =>
    createRetention({
      store: store.retention,
      members: store.members,
      memberId: name as MemberId,
      keep: { operationDays: 1, decisionDays: 30, auditDays: 400, usageDays: 40 },
      clock,
      rng: createSeededRng(name),
      log: silentLog,
      metrics: noMetrics,
    });
  const append = (days: number) => store.decisions.append([aDecision({ at: millis(NOW - days * DAY), subject: `gone-${days}` })], signal);
  const left = async () => (await store.decisions.list({}, 100, signal)).map(({ subject }) => subject);
  return { clock, store, member, append, left };
}

test("what is older than its days goes at the start and then every hour", async () => {
  const { clock, member, append, left } = aFleet();
  await append(31);
  await append(29);
  const retention = member("a");
  retention.start(signal);
  await retention.idle();
  expect(await left()).toEqual(["gone-29"]);
  await append(40);
  await clock.advance(3_600_000);
  await retention.idle();
  expect(await left()).toEqual(["gone-29"]);
  await retention.stop();
});

test("a member leaves it to the one that is at it", async () => {
  const { store, member, append, left } = aFleet();
  await append(31);
  const lease = await store.members.acquire("retention", "b" as MemberId, 60_000, signal);
  const retention = member("a");
  retention.start(signal);
  await retention.idle();
  expect(await left()).toEqual(["gone-31"]);
  if (lease !== undefined) await store.members.release(lease, signal);
  await retention.stop();
});

test("plans go some time after they expired, as long as journal entries are kept", async () => {
  const { store, member } = aFleet();
  const record = (id: string, days: number) =>
    store.plans.record(
      {
        ...{
          id: id as PlanId,
          class: "c",
          goal: "rebalance",
          subject: "",
          snapshotHash: "",
          planHash: "",
          actor: "",
          appliedAt: undefined,
        },
        ...{ createdAt: millis(0), expiresAt: millis(NOW - days * DAY), moves: [], records: [], report: {} },
      },
      aDecision({ subject: id, kind: "plan", at: millis(NOW) }),
      signal,
    );
  await record("old", 31);
  await record("young", 29);
  const retention = member("a");
  retention.start(signal);
  await retention.idle();
  expect((await store.plans.list({}, 10, signal)).map(({ id }) => id)).toEqual(["young"]);
  await retention.stop();
});

test("the audit trail loses what is older than its days once a day, and stays whole", async () => {
  const { clock, store, member } = aFleet();
  const append = () => store.audit.append(anAuditEntry(), signal);
  const left = async () =>
    (await store.audit.list({}, { limit: 10, order: "oldest-first" }, signal)).map(({ seq, action }) => [seq, action]);
  await append();
  await clock.advance(400 * DAY);
  await append();
  const retention = member("a");
  retention.start(signal);
  await retention.idle();
  expect(await left()).toHaveLength(2);
  await clock.advance(DAY + 2 * 3_600_000);
  await retention.idle();
  expect(await left()).toEqual([
    [2, "pinWorkspace"],
    [3, "forgetAudit"],
  ]);
  await retention.stop();
});

test("retention forgets the oldest audit records in steps, after a record of each", async () => {
  const { clock, store } = aFleet();
  for (let count = 0; count < 3; count += 1) await store.audit.append(anAuditEntry(), signal);
  const old = clock.now();
  await clock.advance(31 * DAY);
  await store.audit.append(anAuditEntry(), signal);
  await forgetsTheOldest({ store, old, count: 3 });
});

test("what instances took goes after its days", async () => {
  const { store, member } = aFleet();
  const mark = (days: number) => ({ until: millis(NOW - days * DAY), processes: {} });
  const usage = { controllerCpuMs: 1, repoServerCpuMs: 0, memoryKibS: 0 };
  const sample = { instanceId: "instance-1" as InstanceId, workspaces: [], base: usage, unattributed: usage };
  await store.usages.record({ ...sample, after: undefined, mark: mark(41) }, signal);
  await store.usages.record({ ...sample, after: mark(41).until, mark: mark(39), unattributed: NO_USAGE }, signal);
  const retention = member("a");
  retention.start(signal);
  await retention.idle();
  expect(await store.usages.list({ since: millis(0), until: millis(NOW) }, signal)).toMatchObject([{ of: "base", usage }]);
  await retention.stop();
});

test("what cascades ended is kept in mind for a day", async () => {
  const { clock, store, member } = aFleet();
  const { deploy, remove } = createWorld(store);
  const { intent, applicationId, instanceId } = await deploy();
  await remove(intent);
  await store.shards.forgetApplications([applicationId], signal);
  const left = async () => (await store.shards.listEnded(instanceId, [applicationId], signal)).length;
  await clock.advance(DAY);
  const retention = member("a");
  retention.start(signal);
  await retention.idle();
  expect(await left()).toBe(1);
  await clock.advance(3_600_000);
  await retention.idle();
  expect(await left()).toBe(0);
  await retention.stop();
});
