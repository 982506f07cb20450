import { expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { Partition } from "../../domain/partition.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { aDecision, anInstance, anIntent, aSpec, WIDE } from "../../store/testing/builders.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { GIVE_UP_AFTER_MS, givenUp } from "./give-up.ts";
import { createOverdueSweep } from "./sweep-overdue.ts";

const { signal } = new AbortController();
const EVERYTHING: Partition = { isMine: () => true, onChange: () => () => undefined };

/** A namespace that goes, with one deployment in it and two on the cluster of an environment. */
async function aWorld(partition = EVERYTHING) {
  const clock = createVirtualClock(1_000_000_000);
  const store = createMemoryStore({ clock });
  const ids = createCountingIds();
  const elsewhere = { ...aSpec(), destination: { environment: "prod", namespace: "web" } };
  const requests = [anIntent({ name: "own" }), anIntent({ name: "b", spec: elsewhere }), anIntent({ name: "a", spec: elsewhere })];
  const [first] = await store.intents.recordDeployments(requests, signal);
  const [row] = await store.shards.readApplications([first?.applicationId ?? ("" as never)], signal);
  const instance = anInstance();
  await store.fleet.insertInstance(instance, aDecision(), signal);
  const place = { unitId: row?.unit.id ?? ("" as never), rowVersion: row?.unit.rowVersion ?? 0, instanceId: instance.id };
  await store.placements.commitFirstPlacement({ ...place, ceiling: WIDE, decision: aDecision() }, signal);
  const deletions = requests.map(({ uid }) => ({ uid, deletion: "with-namespace", operationId: ids.next<never>() }) as const);
  await store.intents.recordDeletions(deletions, signal);
  const sweep = createOverdueSweep({ ...store, apiCluster: "main", partition, clock, ids, log: silentLog, metrics: noMetrics });
  const endWorkspace = () => store.intents.recordWorkspaceEnds([row?.workspace.id ?? ("" as never)], signal);
  const ends = async () =>
    (
      await store.intents.readByUids(
        requests.map(({ uid }) => uid),
        signal,
      )
    ).map(({ application }) => `${application.name} ${application.deletion}`);
  const reported = () => store.decisions.list({ kind: "deletion" }, 10, signal);
  return { clock, store, sweep, endWorkspace, ends, reported };
}
const CASCADING = ["own orphan", "b cascade", "a cascade"];

it("what does not go in time once its namespace is gone stays, and is reported to SREs once", async () => {
  const { clock, sweep, endWorkspace, ends, reported } = await aWorld();
  await endWorkspace();
  await clock.advance(GIVE_UP_AFTER_MS);
  await sweep(signal);
  expect([await ends(), await reported()]).toEqual([CASCADING, []]);
  await clock.advance(1);
  await sweep(signal);
  await sweep(signal);
  expect(await ends()).toEqual(["own orphan", "b orphan", "a orphan"]);
  expect(await reported()).toMatchObject([
    {
      verdict: "ORPHANED",
      details: {
        deployments: ["a", "b"],
        reason:
          "namespace team is gone, and what 2 of its deployments put on the cluster of its environment prod could not be deleted in 30 minutes: it stays there",
      },
    },
  ]);
});

it("nothing is given up while the namespace is there, nor in another process's share", async () => {
  const there = await aWorld();
  await there.clock.advance(2 * GIVE_UP_AFTER_MS);
  await there.sweep(signal);
  expect(await there.ends()).toEqual(CASCADING);
  const others = await aWorld({ ...EVERYTHING, isMine: () => false });
  await others.endWorkspace();
  await others.clock.advance(2 * GIVE_UP_AFTER_MS);
  await others.sweep(signal);
  expect(await others.ends()).toEqual(CASCADING);
});

it("whoever dies between telling and giving up does both again", async () => {
  const { clock, store, sweep, endWorkspace, ends, reported } = await aWorld();
  await endWorkspace();
  await clock.advance(2 * GIVE_UP_AFTER_MS);
  const { recordDeletions } = store.intents;
  Object.assign(store.intents, { recordDeletions: () => Promise.reject(new Error("killed")) });
  await expect(sweep(signal)).rejects.toThrow("killed");
  Object.assign(store.intents, { recordDeletions });
  expect([await ends(), (await reported()).length]).toEqual([CASCADING, 1]);
  await sweep(signal);
  expect([await ends(), (await reported()).length]).toEqual([["own orphan", "b orphan", "a orphan"], 2]);
});

it("an entry names few of many deployments, and one environment of one namespace", () => {
  const overdue = Array.from({ length: 50 }, (_, index) => ({
    ...{ name: `d-${index}`, workspaceId: "w" as never, namespace: "team" },
    environment: index % 2 === 0 ? "prod" : undefined,
  }));
  const reported = givenUp(overdue, millis(0));
  expect(reported.map(({ details }) => [details["environment"], details["count"]])).toEqual([
    [null, 25],
    ["prod", 25],
  ]);
  expect(reported.every(({ details }) => (details["deployments"] as unknown[]).length === 20)).toBe(true);
});

it("finds what is its own behind any number that other processes have", async () => {
  const { clock, store, sweep, endWorkspace, ends } = await aWorld({ ...EVERYTHING, isMine: (namespace) => namespace === "team" });
  const elsewhere = { ...aSpec(), destination: { environment: "prod", namespace: "web" } };
  const others = Array.from({ length: 600 }, (_, index) => anIntent({ namespace: "others", name: `n-${index}`, spec: elsewhere }));
  const requests = others.map((intent, index) => ({ ...intent, uid: `0000-${String(index).padStart(4, "0")}` }));
  const [first] = await store.intents.recordDeployments(requests, signal);
  const [row] = await store.shards.readApplications([first?.applicationId ?? ("" as never)], signal);
  const instance = anInstance();
  await store.fleet.insertInstance(instance, aDecision(), signal);
  const place = { unitId: row?.unit.id ?? ("" as never), rowVersion: row?.unit.rowVersion ?? 0, instanceId: instance.id };
  await store.placements.commitFirstPlacement({ ...place, ceiling: WIDE, decision: aDecision() }, signal);
  const deletions = requests.map(
    ({ uid }) => ({ uid, deletion: "with-namespace", operationId: createCountingIds().next<never>() }) as const,
  );
  await store.intents.recordDeletions(deletions, signal);
  await store.intents.recordWorkspaceEnds([row?.workspace.id ?? ("" as never)], signal);
  await endWorkspace();
  await clock.advance(GIVE_UP_AFTER_MS + 1);
  await sweep(signal);
  expect(await ends()).toEqual(["own orphan", "b orphan", "a orphan"]);
  const [other] = await store.intents.readByUids([requests[0]?.uid ?? ""], signal);
  expect(other?.application.deletion).toBe("cascade");
});
