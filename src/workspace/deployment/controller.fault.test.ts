import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { USER_FINALIZER } from "../../domain/names.ts";
import type { Partition, ShareChange } from "../../domain/partition.ts";
import { anIntent } from "../../store/testing/builders.ts";
import { behindOnNamespaces, namespaceUid } from "../testing/behind.ts";
import { aSpec } from "../testing/builders.ts";
import { eventually, startWorld, type World } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const isSaid = (name: string, statement: string) => async () => (await world.said(name)).includes(statement);
const hasRow = (name: string) => async () => (await world.row(name)) !== undefined;
const isMarked = (uid: string) => async () => (await world.rowOf(uid))?.application.deletion === "cascade";
const uidOf = async (name: string) => (await world.read(name))?.metadata.uid ?? "";

async function deployed(name: string, finalizers?: readonly string[]): Promise<string> {
  await world.apply(name, finalizers === undefined ? {} : { finalizers });
  await eventually("it is recorded", hasRow(name));
  await world.answer(name);
  await eventually("it is shown", isSaid(name, "Ready=True/Synced"));
  return uidOf(name);
}

/** A share of the namespaces that can be changed. */
function aShare(isMine: boolean): Partition & { set(isMine: boolean): void } {
  const listeners = new Set<(change: ShareChange) => void>();
  let mine = isMine;
  return {
    isMine: () => mine,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    set(next) {
      const hasGained = next && !mine;
      mine = next;
      for (const listener of listeners) listener({ mayGain: hasGained, gained: () => hasGained });
    },
  };
}

describe("when the API server is away or lies", () => {
  it("learns what users deleted meanwhile from the list it makes afterwards", async () => {
    world.startController();
    const uids = [await deployed("a"), await deployed("b")];
    const kept = await deployed("kept");
    world.server.faults.silenceWatches();
    for (const name of ["a", "b"]) await world.remove(name);
    world.server.faults.unsilenceWatches();
    world.server.faults.expireWatches();
    for (const uid of uids) await eventually("its row is marked", isMarked(uid));
    expect((await world.rowOf(kept))?.application.deletion).toBe("none");
  });

  it("does not take a namespace for gone when its watch lags: what its user deletes goes with its objects", async () => {
    world.startController();
    await deployed("first");
    const { arrive, isAsked } = behindOnNamespaces(world);
    await world.namespace("late");
    await world.apply("guestbook", { namespace: "late" });
    const uid = (await world.read("guestbook", "late"))?.metadata.uid ?? "";
    const intent = anIntent({ namespace: "late", name: "guestbook", uid });
    const workspace = { ...intent.workspace, apiCluster: "api" };
    await world.store.intents.recordDeployments([{ ...intent, workspace }], world.signal);
    await world.answer("guestbook", {}, "late");
    await world.remove("guestbook", "late");
    await eventually("the namespace is looked for", () => isAsked("late"));
    expect((await world.rowOf(uid))?.application.deletion).toBe("none");
    arrive();
    await eventually("the row is marked", async () => (await world.rowOf(uid))?.application.deletion !== "none");
    expect((await world.rowOf(uid))?.application.deletion).toBe("cascade");
  });

  it("does not give a new namespace's resource to the former namespace of that name whose end it has not heard of", async () => {
    world.startController();
    await deployed("first");
    const { arrive, renew, isAsked } = behindOnNamespaces(world);
    await renew();
    await world.apply("second");
    await eventually("the namespace is asked for", () => isAsked());
    expect(await world.row("second")).toBeUndefined();
    arrive();
    await eventually("it is recorded", hasRow("second"));
    expect((await world.row("second"))?.workspace.namespaceUid).toBe(await namespaceUid(world));
  });

  it("does not take a resource for deleted that it merely cannot see yet (I2)", async () => {
    const blind = aShare(false);
    const late = world.startController(blind);
    const other = world.startController();
    await deployed("first");
    world.server.faults.silenceWatches();
    await world.apply("second");
    world.startController();
    await eventually("another controller records it", hasRow("second"));
    const uid = await uidOf("second");
    const before = world.server.requests().length;
    blind.set(true);
    await eventually("the blind controller has asked for it", () =>
      world.server
        .requests()
        .slice(before)
        .some(({ method, url }) => method === "GET" && url.endsWith("/gitopsdeployments/second")),
    );
    await Promise.all([late.stop(), other.stop()]);
    expect((await world.rowOf(uid))?.application.deletion).toBe("none");
  });

  it("takes no deletion for granted while it cannot ask (I2)", async () => {
    const first = world.startController();
    const uid = await deployed("guestbook");
    await first.stop();
    await world.remove("guestbook");
    world.server.faults.fail({ method: "GET", path: /\/gitopsdeployments\/guestbook$/, status: 503, times: 8 });
    world.startController();
    await eventually(
      "it has been answered that it cannot be read now",
      () => world.server.requests().filter(({ method, url }) => method === "GET" && url.endsWith("/guestbook")).length >= 2,
    );
    expect((await world.rowOf(uid))?.application.deletion).toBe("none");
    await eventually("its row is marked once it could ask", isMarked(uid));
  });

  it.each(["fail", "loseReply", "breakConnection"] as const)("writes a status all the same: %s", async (fault) => {
    world.startController();
    const match = { method: "PATCH", path: /\/status/, times: 2 } as const;
    if (fault === "fail") world.server.faults.fail({ ...match, status: 500 });
    else world.server.faults[fault](match);
    await deployed("guestbook");
    await eventually("it is noted", async () => (await world.row("guestbook"))?.publishedHash !== "");
  });

  it.each([409, 500, 503])("lets a held resource go all the same: %i", async (status) => {
    world.startController();
    const uid = await deployed("guestbook", [USER_FINALIZER]);
    world.server.faults.fail({ method: "PATCH", path: /\/gitopsdeployments\/guestbook$/, status, times: 2 });
    await world.remove("guestbook");
    await eventually("the row is marked", isMarked(uid));
    await world.finishDeletion(uid);
    await eventually("it is gone", async () => (await world.read("guestbook")) === undefined);
  });

  it("never writes what one resource did on its namesake", async () => {
    world.startController();
    await deployed("guestbook");
    const release = world.server.faults.hold({ method: "PATCH", path: /\/gitopsdeployments\/guestbook\/status/ });
    await world.answer("guestbook", { sync: { status: "Synced", revision: "of the first life" } });
    await eventually("its status is on its way", () => world.statusWrites("guestbook") > 1);
    await world.remove("guestbook");
    await world.apply("guestbook", { spec: aSpec({ type: "manual" }) });
    release();
    await eventually("the new one is recorded", hasRow("guestbook"));
    await eventually("its user is notified", async () => (await world.said("guestbook")).length > 0);
    expect((await world.read("guestbook"))?.status?.sync).toBeUndefined();
    await world.answer("guestbook", { sync: { status: "Synced", revision: "of the second life" } });
    await eventually("the second life is shown", isSaid("guestbook", "Ready=True/Synced"));
    expect((await world.read("guestbook"))?.status?.sync?.revision).toBe("of the second life");
  });

  it("puts back a status that somebody wiped", async () => {
    world.startController();
    await deployed("guestbook");
    const resource = await world.read("guestbook");
    await world.hands.request(
      {
        method: "PUT",
        path: "/apis/managed-gitops.redhat.com/v1alpha1/namespaces/jane/gitopsdeployments/guestbook/status",
        body: { ...resource, status: {} },
      },
      world.signal,
    );
    await eventually("it is there again", isSaid("guestbook", "Ready=True/Synced"));
  });
});

describe("when the database is away", () => {
  it("records requests and deletions when it is back", async () => {
    world.startController();
    const uid = await deployed("old");
    world.store.setAway(true);
    await world.apply("new");
    await world.remove("old");
    world.store.setAway(false);
    await eventually("the request is recorded", hasRow("new"));
    await eventually("the deletion is recorded", isMarked(uid));
  });

  it("opens as soon as it is there", async () => {
    world.store.setAway(true);
    world.startController();
    await world.apply("guestbook");
    world.store.setAway(false);
    await eventually("it is recorded", hasRow("guestbook"));
  });

  it("shows what instances said meanwhile, though no notification arrived", async () => {
    const controller = world.startController();
    await deployed("guestbook");
    await controller.stop();
    await world.answer("guestbook", { sync: { status: "Synced", revision: "while nobody listened" } });
    world.startController();
    await eventually("it is shown", async () => (await world.read("guestbook"))?.status?.sync?.revision === "while nobody listened");
    await eventually(
      "nothing is left to tell",
      async () => (await world.store.intents.listUnpublished("api", { limit: 10, after: "" }, world.signal)).length === 0,
    );
  });
});

describe("when notifications get lost", () => {
  it("shows what instances said all the same, and lists nothing twice", async () => {
    world.startController();
    await deployed("guestbook");
    world.loseNotifications(true);
    await world.answer("guestbook", { sync: { status: "Synced", revision: "unheard" } });
    world.loseNotifications(false);
    await eventually("it is shown", async () => (await world.read("guestbook"))?.status?.sync?.revision === "unheard");
    await eventually(
      "nothing is left to tell",
      async () => (await world.store.intents.listUnpublished("api", { limit: 10, after: "" }, world.signal)).length === 0,
    );
  });

  it("notes what was said before and after without writing it again", async () => {
    world.startController();
    await deployed("guestbook");
    await eventually(
      "nothing is left to tell",
      async () => (await world.store.intents.listUnpublished("api", { limit: 10, after: "" }, world.signal)).length === 0,
    );
    const writes = world.statusWrites();
    world.loseNotifications(true);
    await world.answer("guestbook", { sync: { status: "Synced", revision: "for a moment" } });
    await world.answer("guestbook");
    world.loseNotifications(false);
    await eventually(
      "nothing is left to tell",
      async () => (await world.store.intents.listUnpublished("api", { limit: 10, after: "" }, world.signal)).length === 0,
    );
    expect(world.statusWrites()).toBe(writes);
  });

  it("does not list for ever what cannot be reported to anybody any more", async () => {
    world.startController();
    const uid = await deployed("guestbook");
    await world.remove("guestbook");
    await eventually("the row is marked", isMarked(uid));
    const row = await world.rowOf(uid);
    world.loseNotifications(true);
    const status = { ...row?.status?.status, sync: { status: "OutOfSync", revision: "last words" } } as never;
    await world.store.statuses.recordStatuses(
      [
        {
          applicationId: row?.application.id as never,
          instanceId: row?.unit.owner as never,
          epoch: row?.unit.epoch ?? 0,
          status,
          reconciledAt: undefined,
          hash: "last words",
        },
      ],
      world.signal,
    );
    expect(await world.store.intents.listUnpublished("api", { limit: 10, after: "" }, world.signal)).toHaveLength(1);
    world.loseNotifications(false);
    await eventually(
      "nothing is listed",
      async () => (await world.store.intents.listUnpublished("api", { limit: 10, after: "" }, world.signal)).length === 0,
    );
  });

  it("lets a held resource go all the same", async () => {
    world.startController();
    const uid = await deployed("guestbook", [USER_FINALIZER]);
    await world.remove("guestbook");
    await eventually("the row is marked", isMarked(uid));
    world.loseNotifications(true);
    await world.finishDeletion(uid);
    world.loseNotifications(false);
    await eventually("it is gone", async () => (await world.read("guestbook")) === undefined);
  });
});

describe("two controllers at once", () => {
  it("record everything once, delete nothing that is wanted and agree on what they say", async () => {
    world.startController();
    world.startController();
    const names = Array.from({ length: 20 }, (_, index) => `app-${index}`);
    await Promise.all(names.map((name) => world.apply(name)));
    for (const name of names) await eventually(`${name} is recorded`, hasRow(name));
    const gone = await Promise.all(names.slice(0, 5).map(uidOf));
    await Promise.all(names.slice(0, 5).map((name) => world.remove(name)));
    await Promise.all(names.slice(0, 5).map((name) => world.apply(name, { finalizers: [USER_FINALIZER] })));
    for (const name of names) {
      await eventually(`${name} is recorded`, hasRow(name));
      await world.answer(name);
      await eventually(`${name} is shown`, isSaid(name, "Ready=True/Synced"));
    }
    // The first five never had an instance before they went, unless they were placed with the rest of their workspace.
    for (const uid of gone)
      await eventually("the old row is on its way", async () => (await world.rowOf(uid))?.application.deletion !== "none");
    for (const name of names) expect((await world.row(name))?.application.deletion).toBe("none");
  });

  it("do not write one against the other: a settled status stays as it is", async () => {
    world.startController();
    world.startController();
    await deployed("guestbook");
    await eventually(
      "nothing is left to tell",
      async () => (await world.store.intents.listUnpublished("api", { limit: 10, after: "" }, world.signal)).length === 0,
    );
    const version = (await world.read("guestbook"))?.metadata.resourceVersion;
    const third = world.startController();
    await world.apply("marker");
    await eventually("all have observed it", hasRow("marker"));
    await world.answer("marker");
    await eventually("all have shown it", isSaid("marker", "Ready=True/Synced"));
    await third.stop();
    expect((await world.read("guestbook"))?.metadata.resourceVersion).toBe(version);
  });

  it("tell of what the other has recorded", async () => {
    const mine = aShare(true);
    const first = world.startController(mine);
    await world.apply("guestbook");
    await eventually("it is recorded", hasRow("guestbook"));
    world.server.faults.silenceWatches();
    const second = world.startController();
    world.server.faults.unsilenceWatches();
    await eventually("the other one shows it too", isSaid("guestbook", "Ready=False/Reconciling"));
    await first.stop();
    await world.answer("guestbook");
    await eventually("it tells the user", isSaid("guestbook", "Ready=True/Synced"));
    await second.stop();
  });

  it("record what was asked for while namespaces changed hands before they have compared all rows", async () => {
    const { intents } = world.store;
    const { listKnown } = intents;
    const share = aShare(false);
    const listed = vi.spyOn(intents, "listKnown");
    world.startController(share);
    await eventually("rows were compared once", () => listed.mock.settledResults.some(({ type }) => type === "fulfilled"));
    await world.apply("asked-between");
    const held = Promise.withResolvers<void>();
    listed.mockImplementation(async (...args) => {
      await held.promise;
      return listKnown(...args);
    });
    await eventually("it is recorded once the watch shows it", async () => {
      share.set(true);
      share.set(false);
      return hasRow("asked-between")();
    });
    held.resolve();
  });

  it("record anew what was gained and may have been recorded otherwise since rows were listed", async () => {
    const { intents } = world.store;
    const { listKnown } = intents;
    const first = world.startController();
    const uid = await deployed("guestbook");
    const share = aShare(false);
    const listed = vi.spyOn(intents, "listKnown");
    const record = vi.spyOn(intents, "recordDeployments");
    const second = world.startController(share);
    await eventually("rows were compared once", () => listed.mock.settledResults.some(({ type }) => type === "fulfilled"));
    const held = Promise.withResolvers<void>();
    listed.mockImplementation(async (...args) => {
      await held.promise;
      return listKnown(...args);
    });
    await first.stop();
    share.set(true);
    await world.applyFleet({ workspaces: { selector: {}, everyNamespace: true, quota: { deployments: 77, syncsPerMinute: 1 } } });
    await eventually("it is recorded", () => record.mock.calls.some(([batch]) => batch.some((intent) => intent.uid === uid)));
    held.resolve();
    await second.stop();
  });

  it("leave each other's namespaces alone, and take over what the other leaves", async () => {
    const [mine, other] = [aShare(true), aShare(false)];
    const first = world.startController(mine);
    world.startController(other);
    const uid = await deployed("guestbook", [USER_FINALIZER]);
    await first.stop();
    await world.remove("guestbook");
    await world.apply("new");
    other.set(true);
    await eventually("the deletion is found", isMarked(uid));
    await eventually("the new one is recorded", hasRow("new"));
    await world.finishDeletion(uid);
    await eventually("the held one is let go", async () => (await world.read("guestbook")) === undefined);
  });
});
