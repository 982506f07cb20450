import { describe, expect, it, vi } from "vitest";
import type { RecordedRefresh, RecordedStatus } from "../domain/status.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { manifestOf } from "../shard/managed-object.ts";
import { parseApplication } from "../shard/parse-application.ts";
import { renderApplication } from "../shard/render-application.ts";
import { anApplication, anApplicationPlacement, TARGET } from "../shard/testing/builders.ts";
import { statusKey } from "./keys.ts";
import type { EngineShard } from "./port.ts";
import { createRecordStatus } from "./record-statuses.ts";

const AT = { namespace: "argocd-1", name: "web" };
const KEY = statusKey("eu-1", AT);

/** One Application that a watch shows, and what is recorded of it. `isTaken`: whether the recorded status is the refreshed one. */
function open() {
  let raw = says("Synced", 0);
  let observed = parseApplication(raw);
  const clock = createVirtualClock();
  const statuses: RecordedStatus[] = [];
  const refreshes: RecordedRefresh[] = [];
  const takes = { isTaken: true };
  const rows = {
    recordStatus: async (status: RecordedStatus) => void statuses.push(status),
    async recordRefresh(refresh: RecordedRefresh) {
      refreshes.push(refresh);
      return takes.isTaken;
    },
  };
  const read = vi.fn(async () => parseApplication(raw));
  const shard = { applications: { get: () => observed, read } } as unknown as EngineShard;
  const partition = { isMine: () => true, onChange: () => () => undefined };
  const recorder = createRecordStatus({ rows, partition, watched: new Map([["eu-1|argocd-1", shard]]), clock });
  const show = (next: object): void => {
    raw = next;
    observed = parseApplication(raw, observed);
  };
  const run = () => recorder.record(KEY, new AbortController().signal);
  return { recorder, clock, run, show, statuses, refreshes, takes, read, kept: () => observed?.report?.unrecorded };
}

/** `minutes`: when Argo CD compared it. */
function says(sync: string, minutes: number): object {
  const reconciledAt = new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString();
  const manifest = manifestOf(renderApplication(anApplicationPlacement(), anApplication(), TARGET));
  const metadata = { ...manifest.metadata, ...AT, uid: "uid-1", resourceVersion: String(minutes + 1) };
  return { ...manifest, metadata, status: { sync: { status: sync }, health: { status: "Healthy" }, reconciledAt } };
}

describe("what Argo CD says of an Application", () => {
  it("is recorded and let go of; said again it is not kept again, and noted every ten minutes without being read", async () => {
    const { run, show, statuses, refreshes, read, kept } = open();
    await run();
    expect(statuses).toMatchObject([{ status: { sync: { status: "Synced" } } }]);
    expect(kept()).toBeUndefined();
    show(says("Synced", 3));
    await run();
    show(says("Synced", 10));
    await run();
    expect(kept()).toBeUndefined();
    expect([statuses.length, refreshes.length, read.mock.calls.length]).toEqual([1, 1, 0]);
    expect(refreshes[0]).toMatchObject({ hash: statuses[0]?.hash, reconciledAt: Date.UTC(2026, 0, 1, 0, 10) });
    show(says("OutOfSync", 11));
    expect(kept()).toMatchObject({ sync: { status: "OutOfSync" } });
    await run();
    expect(statuses.map(({ status }) => status.sync.status)).toEqual(["Synced", "OutOfSync"]);
    expect(kept()).toBeUndefined();
  });

  it("is read and recorded as a whole where another process may have recorded something else", async () => {
    const { recorder, run, statuses, read } = open();
    await run();
    recorder.forgetOthers({ gained: () => true });
    await run();
    expect([statuses.length, read.mock.calls.length]).toEqual([2, 1]);
    expect(statuses[1]).toEqual(statuses[0]);
  });

  it("is recorded as a whole where a refresh finds another status recorded", async () => {
    const { run, show, statuses, refreshes, takes } = open();
    await run();
    takes.isTaken = false;
    show(says("Synced", 10));
    expect(await run()).toEqual({ requeueAfterMs: 0 });
    await run();
    expect([refreshes.length, statuses.length]).toEqual([1, 2]);
  });

  it("is kept of one that is being deleted: it says what has to go", async () => {
    const { run, show, statuses, kept } = open();
    await run();
    const raw = says("Synced", 0) as { readonly metadata: object };
    show({ ...raw, metadata: { ...raw.metadata, deletionTimestamp: "2026-01-01T00:05:00Z", resourceVersion: "2" } });
    expect(kept()).toBeDefined();
    await run();
    expect(kept()).toBeDefined();
    expect(statuses).toHaveLength(1);
  });
});

it("lets refreshes wait for each other until the full minute, and statuses for nothing", async () => {
  const { run, show, clock, statuses, refreshes } = open();
  await clock.advance(20_000);
  await run();
  expect(statuses).toHaveLength(1);
  show(says("Synced", 10));
  expect(await run()).toEqual({ requeueAfterMs: 40_000 });
  expect(refreshes).toEqual([]);
  await clock.advance(40_000);
  await run();
  expect(refreshes).toHaveLength(1);
});
