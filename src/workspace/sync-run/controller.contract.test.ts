import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { OperationId } from "../../domain/ids.ts";
import type { ShareChange } from "../../domain/partition.ts";
import type { ResourceController } from "../../runtime/resource-controller/resource-controller.ts";
import { aSpec } from "../testing/builders.ts";
import { eventually, startWorld, type World } from "../testing/world.ts";
import { playRuns } from "./testing/world.ts";

let world: World;
let controllers: ResourceController[];
const runs = playRuns(() => world);
const open = (...share: Parameters<typeof runs.startController>) => {
  const controller = runs.startController(...share);
  controllers.push(controller);
  return controller;
};
beforeEach(async () => {
  world = await startWorld();
  controllers = [];
});
afterEach(async () => {
  await Promise.all(controllers.map((controller) => controller.stop()));
  await world.close();
});

const manual = aSpec({ type: "manual" });
const hasRow = (name: string) => async () => (await world.row(name)) !== undefined;

/** The deployment `guestbook`, recorded and on an instance. */
async function deployed(spec: unknown = manual): Promise<void> {
  world.startController();
  await world.apply("guestbook", { spec });
  await eventually("the deployment is recorded", hasRow("guestbook"));
  await world.answer("guestbook");
}

/** The deployment's row goes, as it does once its instance has taken it down. */
async function forgetDeployment(): Promise<void> {
  const row = await world.row("guestbook");
  if (row === undefined) throw new Error("there is no row");
  const { id, uid } = row.application;
  await world.store.intents.recordDeletions([{ uid, deletion: "cascade", operationId: "deletion" as OperationId }], world.signal);
  await world.store.shards.forgetApplications([id], world.signal);
}

describe("the controller for sync runs", () => {
  it("records a run with its deployment, and tells its user how far it has come", async () => {
    await deployed();
    open();
    const uid = await runs.apply("release", { revisionID: "v1", prune: true });
    await eventually("it is taken in", runs.isSaid("release", "Ready=False/Pending"));
    expect((await runs.view("release"))?.run).toMatchObject({ uid, revision: "v1", prune: true, namespace: "jane", name: "release" });
    await runs.report(uid, { phase: "Running", startedAt: millis(0), revision: "0123" });
    await eventually("it is under way", runs.isSaid("release", "Reconciling=True/Running"));
    await runs.report(uid, { phase: "Succeeded", finishedAt: millis(1000) });
    await eventually("it has ended", runs.isSaid("release", "Ready=True/Succeeded"));
    expect((await runs.read("release"))?.status).toMatchObject({
      ...{ phase: "Succeeded", revision: "0123", startedAt: "1970-01-01T00:00:00Z", finishedAt: "1970-01-01T00:00:01Z" },
    });
    await eventually("that is noted", async () => (await runs.view("release"))?.publishedHash !== "");
  });

  it("lets a run wait for its deployment, says so, and goes on when it is there", async () => {
    open();
    await runs.apply("early");
    await eventually("it waits", runs.isSaid("early", "Reconciling=True/DeploymentNotFound"));
    expect(await runs.said("early")).toContain("ErrorOccurred=True/ErrorOccurred");
    await deployed();
    await eventually("it is bound", runs.isSaid("early", "Ready=False/Pending"));
    expect(await runs.said("early")).toEqual(["Ready=False/Pending", "Reconciling=True/Pending"]);
  });

  it("refuses to sync what follows Git by itself, until it no longer does", async () => {
    await deployed(aSpec());
    open();
    await runs.apply("refused");
    await eventually("it is refused", runs.isSaid("refused", "Stalled=True/DeploymentAutomated"));
    await world.apply("guestbook", { spec: manual });
    await eventually("it goes on", runs.isSaid("refused", "Ready=False/Pending"));
  });

  it("says who goes first", async () => {
    await deployed();
    open();
    const first = await runs.apply("first");
    await eventually("the first is taken in", runs.isSaid("first", "Ready=False/Pending"));
    await runs.apply("second");
    await eventually("the second waits", runs.isSaid("second", "Reconciling=True/Queued"));
    await runs.report(first, { phase: "Succeeded", finishedAt: millis(0) });
    world.loseNotifications(false);
    await eventually("its end is shown", runs.isSaid("first", "Ready=True/Succeeded"));
  });

  it("cancels the run of a resource that goes, and forgets it once it has ended", async () => {
    await deployed();
    open();
    const uid = await runs.apply("release");
    await eventually("it is taken in", runs.isSaid("release", "Ready=False/Pending"));
    await runs.report(uid, { phase: "Running" });
    await eventually("it is under way", runs.isSaid("release", "Reconciling=True/Running"));
    await runs.remove("release");
    await eventually("it is cancelled", async () => (await runs.viewOf(uid))?.run.isCancelled === true);
    expect((await runs.viewOf(uid))?.run.progress.phase).toBe("Running");
    await runs.report(uid, { phase: "Terminated", finishedAt: millis(0) });
    await eventually("it is forgotten", async () => !(await runs.isKnown(uid)));
  });

  it("ends a run whose deployment is deleted under it, and says so, without waiting for a sweep", async () => {
    await deployed();
    open();
    const [reported, gone] = [await runs.apply("kept"), await runs.apply("gone")];
    for (const uid of [reported, gone]) await eventually(`${uid} is taken in`, () => runs.isKnown(uid));
    for (const uid of [reported, gone]) await runs.report(uid, { phase: "Running", message: "half done" });
    await runs.remove("gone");
    await eventually("one is cancelled", async () => (await runs.viewOf(gone))?.run.isCancelled === true);
    await forgetDeployment();
    await eventually("its user is notified", runs.isSaid("kept", "Stalled=True/Failed"));
    expect((await runs.read("kept"))?.status).toMatchObject({ phase: "Failed", message: "The deployment was deleted while the sync ran" });
    await eventually("nothing is left of the other", async () => !(await runs.isKnown(gone)));
  });

  it("shows the end of a run whose resource somebody's finalizer holds", async () => {
    await deployed();
    open();
    const uid = await runs.apply("held", {}, { finalizers: ["example.com/hold"] });
    await eventually("it is taken in", runs.isSaid("held", "Ready=False/Pending"));
    await runs.remove("held");
    await eventually("it is cancelled", runs.isSaid("held", "Reconciling=True/Terminating"));
    await runs.report(uid, { phase: "Terminated", finishedAt: millis(0) });
    await eventually("its end is shown", runs.isSaid("held", "Stalled=True/Terminated"));
    expect(await runs.isKnown(uid)).toBe(true);
  });

  it("deletes a finished run when its user asked for it, and no other", async () => {
    await deployed();
    open();
    const uids = [await runs.apply("kept"), await runs.apply("brief", { ttlSecondsAfterFinished: 0 })];
    for (const name of ["kept", "brief"]) await eventually(`${name} is taken in`, async () => (await runs.view(name)) !== undefined);
    for (const uid of uids) await runs.report(uid, { phase: "Succeeded", finishedAt: millis(0) });
    await eventually("the brief one is gone", async () => (await runs.read("brief")) === undefined);
    await eventually("the other is shown", runs.isSaid("kept", "Ready=True/Succeeded"));
    for (const uid of uids.slice(1)) await eventually("its row is gone", async () => !(await runs.isKnown(uid)));
    expect(await runs.isKnown(uids[0] ?? "")).toBe(true);
  });

  it("finds out after a restart what was deleted meanwhile", async () => {
    await deployed();
    const controller = open();
    const uid = await runs.apply("release");
    await eventually("it is taken in", runs.isSaid("release", "Ready=False/Pending"));
    await controller.stop();
    await runs.remove("release");
    open();
    await eventually("it is cancelled", async () => (await runs.viewOf(uid))?.run.isCancelled === true);
  });

  it("does not take a run for deleted that it merely cannot see yet (I2)", async () => {
    await deployed();
    open();
    const seen = await runs.apply("seen");
    await eventually("it is taken in", () => runs.isKnown(seen));
    world.server.faults.silenceWatches();
    const unseen = await runs.apply("unseen");
    const other = open();
    await eventually("another controller records it", () => runs.isKnown(unseen));
    await other.stop();
    const before = world.server.requests().length;
    world.store.setAway(true);
    world.store.setAway(false);
    await eventually("the blind controller has asked for it", () =>
      world.server
        .requests()
        .slice(before)
        .some(({ method, url }) => method === "GET" && url.endsWith("/gitopsdeploymentsyncruns/unseen")),
    );
    // What it would have done about that comes before what it does about this.
    await runs.report(seen, { phase: "Running" });
    await eventually("it has gone on", runs.isSaid("seen", "Reconciling=True/Running"));
    expect((await runs.viewOf(unseen))?.run.isCancelled).toBe(false);
  });

  it("takes a resource that comes back under its name for another run", async () => {
    await deployed();
    open();
    const first = await runs.apply("again");
    await eventually("it is taken in", runs.isSaid("again", "Ready=False/Pending"));
    await runs.remove("again");
    const second = await runs.apply("again");
    await eventually("the second is recorded", () => runs.isKnown(second));
    await eventually("the first is cancelled", async () => (await runs.viewOf(first))?.run.isCancelled === true);
    expect((await runs.viewOf(second))?.run.isCancelled).toBe(false);
  });

  it("begins no more syncs a minute than the quota says, tells the others that they wait, and loses none", async () => {
    const quota = (syncsPerMinute: number) =>
      world.applyFleet({ workspaces: { selector: {}, everyNamespace: true, quota: { deployments: 10, syncsPerMinute } } });
    await quota(2);
    open();
    await world.namespace("bob");
    const uids: string[] = [];
    for (const name of ["flood-1", "flood-2", "flood-3", "flood-4"]) uids.push(await runs.apply(name));
    await eventually("users of those over it are notified", runs.isSaid("flood-4", "Ready=False/QuotaExceeded"));
    await eventually("the first are taken in", async () => (await runs.isKnown(uids[0] ?? "")) && (await runs.isKnown(uids[1] ?? "")));
    expect(await runs.isKnown(uids[2] ?? "")).toBe(false);
    const other = await runs.apply("other", {}, { namespace: "bob" });
    await eventually("another workspace's is taken in", () => runs.isKnown(other));
    await quota(100);
    for (const uid of uids) await eventually("none is lost", () => runs.isKnown(uid));
  });

  it("begins those that wait by the quota of another class once their workspace is given that", async () => {
    const LARGE = "eu/large/public";
    const quota = { deployments: 10, syncsPerMinute: 1 };
    const classQuotas = [{ class: LARGE, syncsPerMinute: 100 }];
    await world.applyFleet({ workspaces: { selector: {}, everyNamespace: true, quota, classQuotas } });
    world.startController();
    await world.apply("guestbook", { spec: manual });
    await eventually("the deployment is recorded", hasRow("guestbook"));
    open();
    const uids: string[] = [];
    for (const name of ["flood-1", "flood-2", "flood-3"]) uids.push(await runs.apply(name));
    for (const name of ["flood-2", "flood-3"])
      await eventually("its user reads that it waits", runs.isSaid(name, "Ready=False/QuotaExceeded"));
    const messages = ((await runs.read("flood-3"))?.status?.conditions ?? []).map(({ message }) => message).join();
    expect(messages).toContain("may begin one sync a minute");
    expect(messages).not.toMatch(/large|class/);
    await world.assign(LARGE);
    for (const uid of uids) await eventually("none waits any more", () => runs.isKnown(uid));
  });

  it("leaves namespaces alone that are no workspaces", async () => {
    await world.applyFleet({ workspaces: { selector: { team: "yes" }, quota: { deployments: 10, syncsPerMinute: 10 } } });
    open();
    await world.namespace("ours", { team: "yes" });
    await runs.apply("foreign");
    const own = await runs.apply("own", {}, { namespace: "ours" });
    await eventually("the workspace's run is taken in", () => runs.isKnown(own));
    expect(await runs.view("foreign")).toBeUndefined();
    expect(await runs.said("foreign")).toEqual([]);
  });

  it("has no work where another process has the namespace", async () => {
    let isMine = false;
    let tell = (): void => undefined;
    const share = {
      isMine: () => isMine,
      onChange(listener: (change: ShareChange) => void) {
        tell = () => listener({ mayGain: true, gained: () => true });
        return () => undefined;
      },
    };
    open(share);
    const uid = await runs.apply("later");
    await eventually("the controller has listed the runs", () =>
      world.server.requests().some(({ url }) => url.includes("gitopsdeploymentsyncruns?")),
    );
    expect(await runs.isKnown(uid)).toBe(false);
    isMine = true;
    tell();
    await eventually("it is taken in", () => runs.isKnown(uid));
  });
});
