import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ShareChange } from "../domain/partition.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { createChangingShare } from "../runtime/testing/changing-share.ts";
import { accountName, readAccountName } from "../shard/names.ts";
import { APPLICATIONS, ROLE_OBJECTS } from "./adapters/kubernetes/types.ts";
import { deploying, type Raw } from "./testing/deploy.ts";
import { eventually } from "./testing/until.ts";
import type { World } from "./testing/world.ts";
import { startWorld } from "./testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const { deploy, applicationAt, readApplication, readOwnerBinding, isAcknowledged } = deploying(() => world);

describe("a watch that is behind", () => {
  test("is not believed about an absence: what another process made is deleted too", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    world.rows.mute(true);
    const second = await world.rows.addApplication("team-a", "second");
    const at = { namespace: deployed.instance.namespace, name: second.argoName };
    world.engineServer.faults.silenceWatches();
    // Argo CD has refreshed it: nothing is waited for but the watch.
    const status = { reconciledAt: "2026-01-01T00:00:00Z" };
    const made = { ...(await readApplication(deployed)), metadata: { ...at }, status } as KubeObject;
    await world.hands.engine.create(APPLICATIONS, made, world.signal);
    world.rows.mute(false);
    await world.rows.deleteApplication(second, "cascade");
    await eventually("it is on its way out", async () => {
      return (await world.hands.engine.get(APPLICATIONS, at, world.signal))?.metadata.deletionTimestamp !== undefined;
    });
    expect(await world.rows.application(second.id)).toBeDefined();
    world.engineServer.faults.unsilenceWatches();
    world.engineServer.faults.resetWatches();
    await eventually("the row is gone", async () => (await world.rows.application(second.id)) === undefined);
  });

  test("costs one more read, not the change", async () => {
    const deployed = await deploy();
    const reconciler = await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    await reconciler.idle();
    world.engineServer.faults.silenceWatches();
    world.apiServer.faults.silenceWatches();
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), { status: { sync: { status: "Synced" } } }, world.signal);
    const role = { namespace: "argosy-accounts", name: readAccountName(deployed.instance.id) };
    await world.hands.api.mergePatch(ROLE_OBJECTS, role, { metadata: { annotations: { seen: "no" } } }, world.signal);
    await world.rows.changeSpec(deployed.application, { type: "manual" });
    const other = await world.rows.addApplication("team-b", "web");
    await world.rows.place(other, deployed.instance.id);
    await eventually(
      "the change is acknowledged",
      async () => (await world.rows.acknowledged("application", deployed.application.id))?.appliedRevision === 2,
    );
    await eventually("the other unit stands", async () => (await world.rows.acknowledged("owner-binding", other.unitId)) !== undefined);
    const names = (await world.hands.api.get<Raw>(ROLE_OBJECTS, role, world.signal))?.rules?.[0]?.resourceNames;
    expect(names).toHaveLength(2);
  });
});

describe("a creation whose answer got lost", () => {
  test("is found though no watch shows it: one object, acknowledged under its uid", async () => {
    await world.startReconciler();
    world.engineServer.faults.silenceWatches();
    world.engineServer.faults.loseReply({ method: "POST", path: /\/applications/ });
    const deployed = await deploy();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    const page = await world.hands.engine.listPage<KubeObject>(APPLICATIONS, { namespace: deployed.instance.namespace }, world.signal);
    expect(page.items.map(({ metadata }) => metadata.uid)).toEqual([
      (await world.rows.acknowledged("application", deployed.application.id))?.uid,
    ]);
    const posts = world.engineServer.requests().filter(({ method, url }) => method === "POST" && url.includes("/applications"));
    expect(posts).toHaveLength(2);
  });
});

describe("several reconcilers and old rows", () => {
  test("end in the same state when two work on everything at once", async () => {
    const deployed = await deploy();
    const both = await Promise.all([world.startReconciler(), world.startReconciler()]);
    for (let round = 0; round < 5; round += 1)
      await world.rows.changeSpec(deployed.application, { source: { ...deployed.application.spec.source, path: `round-${round}` } });
    await eventually(
      "the last change is acknowledged",
      async () => (await world.rows.acknowledged("application", deployed.application.id))?.appliedRevision === 6,
    );
    await Promise.all(both.map((reconciler) => reconciler.idle()));
    expect((await readApplication(deployed))?.spec).toMatchObject({ source: { path: "round-4" } });
    expect(await readOwnerBinding()).toMatchObject({ subjects: [{ name: accountName(deployed.unit.id, deployed.instance.id) }] });
  });

  test("keep to their share, and take up what becomes theirs", async () => {
    let isMine = false;
    const listeners: ((change: ShareChange) => void)[] = [];
    const deployed = await deploy();
    const reconciler = await world.startReconciler({
      isMine: () => isMine,
      onChange(listener) {
        listeners.push(listener);
        return () => undefined;
      },
    });
    const second = await world.rows.addApplication("team-a", "second");
    await eventually("the notification was followed", () => (world.rows.statements()["readApplications"] ?? 0) > 0);
    await reconciler.idle();
    expect(world.engineServer.requests().filter(({ method }) => method !== "GET")).toEqual([]);
    isMine = true;
    for (const listener of listeners) listener({ mayGain: true, gained: () => true });
    await eventually("both stand", async () => (await isAcknowledged(deployed)) && isAcknowledged({ ...deployed, application: second }));
  });

  test("compare what they gained and nothing else, and do nothing where they only lost", async () => {
    const deployed = await deploy();
    const other = { application: await world.rows.addApplication("team-b", "web"), instance: await world.rows.addInstance("two") };
    await world.rows.place(other.application, other.instance.id);
    const share = createChangingShare([deployed.instance.id]);
    const reconciler = await world.startReconciler(share);
    const settled = async (read: string): Promise<number> => {
      await reconciler.idle();
      return world.rows.statements()[read] ?? 0;
    };
    await eventually("the first stands", () => isAcknowledged(deployed));
    expect(await settled("listOwned")).toBe(1);

    share.set([deployed.instance.id, other.instance.id]);
    await eventually("the other one stands", () => isAcknowledged({ ...deployed, ...other }));
    expect(await settled("listOwned")).toBe(2);

    const reads = await settled("listInstances");
    share.set([deployed.instance.id]);
    expect(await settled("listInstances")).toBe(reads);

    share.set([deployed.instance.id, other.instance.id]);
    await eventually("what was lost and gained again is compared again", async () => (await settled("listOwned")) === 3);
  });

  test("record anew what another one has recorded meanwhile, also where the Application says the same as before", async () => {
    const deployed = await deploy();
    const share = createChangingShare([deployed.instance.id]);
    await world.startReconciler(share);
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    const say = (sync: string) =>
      world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), { status: { sync: { status: sync } } }, world.signal);
    const isRecorded = (sync: string) => async () => (await world.rows.status(deployed.application.id))?.status.sync.status === sync;
    await say("Synced");
    await eventually("it is recorded", isRecorded("Synced"));

    share.set([]);
    const other = await world.startReconciler();
    await say("OutOfSync");
    await eventually("the other one records it", isRecorded("OutOfSync"));
    await other.stop();
    await say("Synced");
    share.set([deployed.instance.id]);
    await eventually("it is recorded again", isRecorded("Synced"));
  });

  test.each(["changed", "deleted"] as const)("leave alone what was written under a later epoch when it is to be %s (I7)", async (fate) => {
    const deployed = await deploy();
    const reconciler = await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    await world.hands.engine.mergePatch(
      APPLICATIONS,
      applicationAt(deployed),
      { metadata: { annotations: { "argosy.dev/epoch": "900" } } },
      world.signal,
    );
    await reconciler.idle();
    const observations = () => world.rows.statements()["readApplications"] ?? 0;
    const before = observations();
    if (fate === "changed") await world.rows.changeSpec(deployed.application, { type: "manual" });
    else await world.rows.deleteApplication(deployed.application, "cascade");
    // A row is read before its turn comes. Once a second reading begins, the turn of the first one is taken or under way.
    await eventually("it was compared again", () => {
      world.rows.missNotifications();
      return observations() >= before + 2;
    });
    await reconciler.idle();
    const found = await readApplication(deployed);
    expect(found?.spec).toHaveProperty("syncPolicy.automated");
    expect(found?.metadata).not.toHaveProperty("deletionTimestamp");
  });
});

describe("an application that is deleted while it waits for its unit", () => {
  test("is not made after all when the unit stands, though its row is long gone", async () => {
    const release = world.engineServer.faults.hold({ method: "POST", path: /appprojects/ });
    const deployed = await deploy();
    const reconciler = await world.startReconciler();
    await eventually("its unit is on its way", () =>
      world.engineServer.requests().some(({ method, url }) => method === "POST" && url.includes("appprojects")),
    );
    await world.rows.deleteApplication(deployed.application, "cascade");
    await eventually("its row is gone", async () => (await world.rows.application(deployed.application.id)) === undefined);
    release();
    await eventually("the unit stands", async () => (await world.rows.acknowledged("project", deployed.unit.id)) !== undefined);
    await reconciler.idle();
    expect(world.engineServer.requests().some(({ method, url }) => method === "POST" && /\/applications(\?|$)/.test(url))).toBe(false);
    expect(await readApplication(deployed)).toBeUndefined();
  });
});

describe("bringing status back", () => {
  test("records at the start what was said while nobody watched", async () => {
    const deployed = await deploy();
    const first = await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    await first.stop();
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), { status: { sync: { status: "Synced" } } }, world.signal);
    await world.startReconciler();
    await eventually("it is recorded", async () => (await world.rows.status(deployed.application.id))?.status.sync.status === "Synced");
  });

  test("records what Argo CD says, and not that it refreshed again", async () => {
    const deployed = await deploy();
    const reconciler = await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    await reconciler.idle();
    const before = world.rows.statements();
    const status = { sync: { status: "Synced", revision: "abc" }, health: { status: "Healthy" }, reconciledAt: "2026-01-01T00:00:00Z" };
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), { status }, world.signal);
    await eventually("it is recorded", async () => (await world.rows.status(deployed.application.id))?.status.sync.status === "Synced");
    await world.hands.engine.mergePatch(
      APPLICATIONS,
      applicationAt(deployed),
      { status: { reconciledAt: "2026-01-01T00:03:00Z" } },
      world.signal,
    );
    await world.hands.engine.mergePatch(
      APPLICATIONS,
      applicationAt(deployed),
      { status: { health: { status: "Degraded" } } },
      world.signal,
    );
    await eventually(
      "the change is recorded",
      async () => (await world.rows.status(deployed.application.id))?.status.health.status === "Degraded",
    );
    await reconciler.idle();
    const after = world.rows.statements();
    expect((after["recordStatuses"] ?? 0) - (before["recordStatuses"] ?? 0)).toBe(2);
    expect((after["readApplications"] ?? 0) - (before["readApplications"] ?? 0)).toBe(0);
  });
});
