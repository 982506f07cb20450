import { isDeepStrictEqual } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { millis } from "../../domain/clock.ts";
import { USER_FINALIZER } from "../../domain/names.ts";
import { NAMESPACES } from "../../runtime/kube/namespaces.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { USER_DEPLOYMENTS } from "../adapters/kubernetes/user-resources.ts";
import * as say from "../api/messages.ts";
import { aSpec, REPOSITORY } from "../testing/builders.ts";
import { EVERYTHING_IS_MINE, eventually, startWorld, type World } from "../testing/world.ts";
import { FIRST_STATUS_MS, LONGEST_WAIT_MS } from "./answer-wait.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const at = (path: string) => aSpec({ source: { repoURL: REPOSITORY, path, targetRevision: "main" } });
const isSaid = (name: string, statement: string) => async () => (await world.said(name)).includes(statement);
const known = () => world.store.intents.listKnown("api", { limit: 1_000, after: "" }, world.signal);
const aNamespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const aDeployment = (namespace: string) => ({
  apiVersion: "managed-gitops.redhat.com/v1alpha1",
  kind: "GitOpsDeployment",
  metadata: { name: "app", namespace },
  spec: aSpec(),
});
/** From now on rows are listed as if another version of the program had recorded something else for these namespaces. */
const listAsOfAnother = (isOfAnother: (namespace: string) => boolean = () => true): void => {
  const { intents } = world.store;
  const list = intents.listKnown.bind(intents);
  vi.spyOn(intents, "listKnown").mockImplementation(async (...args) =>
    (await list(...args)).map((row) => (isOfAnother(row.namespace) ? { ...row, specHash: "of another" } : row)),
  );
};
/** So many namespaces with a deployment each, whose rows a controller has recorded that has stopped. */
const recordedBefore = async (count: number): Promise<readonly string[]> => {
  const standing = Array.from({ length: count }, (_, index) => `team-${1_000 + index}`);
  world.server.load(NAMESPACES, standing.map(aNamespace));
  world.server.load(USER_DEPLOYMENTS, standing.map(aDeployment));
  const first = world.startController();
  await eventually("everything is recorded", async () => (await known()).length === standing.length);
  await first.stop();
  return standing;
};
const hasRow = (name: string) => async () => (await world.row(name)) !== undefined;

describe("a request", () => {
  it("is recorded and shown as being worked on while the instance is silent", async () => {
    world.startController();
    await world.apply("guestbook");
    await eventually("it is recorded", hasRow("guestbook"));
    expect((await world.row("guestbook"))?.application).toMatchObject({
      name: "guestbook",
      generation: 1,
      spec: { source: { repoUrl: REPOSITORY, path: "overlays/dev" } },
    });
    await eventually("its user is notified", isSaid("guestbook", "Ready=False/Reconciling"));
    expect((await world.read("guestbook"))?.status).toMatchObject({
      observedGeneration: 1,
      reconciledState: { destination: { name: "" } },
    });
  });

  it("costs one status write when the instance answers before its user would read that it is being worked on, for each of a burst", async () => {
    // It stands still until everybody was answered, however long the machine takes for that.
    const clock = createVirtualClock();
    world.startController(EVERYTHING_IS_MINE, clock);
    const names = Array.from({ length: 20 }, (_, index) => `app-${index}`);
    await Promise.all(names.map((name) => world.apply(name)));
    for (const name of names) {
      await eventually(`${name} is recorded`, hasRow(name));
      await world.answer(name);
      await eventually(`${name} is shown`, isSaid(name, "Ready=True/Synced"));
    }
    const isPublished = async () =>
      (await world.store.intents.listUnpublished("api", { limit: 100, after: "" }, world.signal)).length === 0;
    await eventually("all of it is noted", isPublished);
    expect(world.statusWrites()).toBe(names.length);
    await clock.advance(FIRST_STATUS_MS);
    await world.apply("marker");
    await eventually("those that come later are seen to", hasRow("marker"));
    expect(world.statusWrites()).toBe(names.length);
  });

  it("is not shown as being worked on before its time because a sweep finds that its user has heard nothing", async () => {
    const clock = createVirtualClock();
    world.startController(EVERYTHING_IS_MINE, clock);
    await world.apply("guestbook");
    await eventually("it is recorded", hasRow("guestbook"));
    const listUnpublished = vi.spyOn(world.store.intents, "listUnpublished");
    world.loseNotifications(false);
    await eventually("the sweep has found it", () => listUnpublished.mock.settledResults.some(({ type }) => type === "fulfilled"));
    // What comes later is written later.
    await world.apply("marker");
    await eventually("the marker is recorded", hasRow("marker"));
    await world.answer("marker");
    await eventually("the marker is shown", isSaid("marker", "Ready=True/Synced"));
    expect(world.statusWrites()).toBe(1);
    await clock.advance(2 * FIRST_STATUS_MS);
    await eventually("it is shown as being worked on", isSaid("guestbook", "Ready=False/Reconciling"));
  });

  it("changes with its resource, and is not passed off as deployed before it is", async () => {
    world.startController();
    await world.apply("guestbook");
    await eventually("it is recorded", hasRow("guestbook"));
    await world.answer("guestbook");
    await eventually("it is shown", isSaid("guestbook", "Ready=True/Synced"));
    const before = (await world.row("guestbook"))?.application;
    await world.apply("guestbook", { spec: at("overlays/prod") });
    await eventually("the change is recorded", async () => (await world.row("guestbook"))?.application.generation === 2);
    expect((await world.row("guestbook"))?.application).toMatchObject({
      id: before?.id,
      argoName: before?.argoName,
      spec: { source: { path: "overlays/prod" } },
      desiredRevision: (before?.desiredRevision ?? 0) + 1,
    });
    await eventually("it is shown as being worked on", isSaid("guestbook", "Ready=False/Reconciling"));
    expect((await world.read("guestbook"))?.status).toMatchObject({ observedGeneration: 1, sync: { status: "Synced" } });
    await world.answer("guestbook");
    await eventually("it is shown as deployed", isSaid("guestbook", "Ready=True/Synced"));
    expect((await world.read("guestbook"))?.status?.observedGeneration).toBe(2);
  });

  it("that is wrong is refused at once in words, and taken when it is mended", async () => {
    world.startController();
    await world.apply("guestbook", { spec: at("") });
    await eventually("the error is shown", isSaid("guestbook", "ErrorOccurred=True/ErrorOccurred"));
    expect((await world.read("guestbook"))?.status?.conditions?.[0]).toMatchObject({ message: say.EMPTY_PATH });
    expect(await world.row("guestbook")).toBeUndefined();
    await world.apply("guestbook", { spec: at("a") });
    await eventually("it is recorded", hasRow("guestbook"));
    await world.answer("guestbook");
    await eventually("the error is resolved", isSaid("guestbook", "ErrorOccurred=False/ErrorOccurredResolved"));
    expect(await world.said("guestbook")).toEqual(["ErrorOccurred=False/ErrorOccurredResolved", "Ready=True/Synced"]);
  });

  it("that becomes wrong keeps what is deployed, and later reports of the engine do not hide the error", async () => {
    world.startController();
    await world.apply("guestbook");
    await eventually("it is recorded", hasRow("guestbook"));
    await world.answer("guestbook");
    await eventually("it is shown", isSaid("guestbook", "Ready=True/Synced"));
    await world.apply("guestbook", { spec: at("/") });
    await eventually("the error is shown", isSaid("guestbook", "ErrorOccurred=True/ErrorOccurred"));
    expect((await world.row("guestbook"))?.application).toMatchObject({ deletion: "none", spec: { source: { path: "overlays/dev" } } });
    for (const revision of ["2", "3"]) {
      await world.answer("guestbook", { sync: { status: "Synced", revision } });
      await eventually("the new revision is shown", async () => (await world.read("guestbook"))?.status?.sync?.revision === revision);
      expect(await world.said("guestbook")).toContain("ErrorOccurred=True/ErrorOccurred");
    }
  });

  it("is not acted on while it is paused", async () => {
    world.startController();
    const annotations = { "argosy.dev/paused": "true" };
    await world.apply("guestbook", { annotations });
    await eventually("it is shown as paused", isSaid("guestbook", "Ready=False/Paused"));
    expect(await world.row("guestbook")).toBeUndefined();
    await world.apply("guestbook", { annotations: { "argosy.dev/paused": "false" } });
    await eventually("it is recorded", hasRow("guestbook"));
  });

  it("goes on after a pause and says so as soon as one that is new would", async () => {
    const clock = createVirtualClock();
    world.startController(EVERYTHING_IS_MINE, clock);
    await world.apply("guestbook");
    await eventually("it is recorded", hasRow("guestbook"));
    await world.answer("guestbook");
    await eventually("it is shown", isSaid("guestbook", "Ready=True/Synced"));
    await world.apply("guestbook", { annotations: { "argosy.dev/paused": "true" } });
    await eventually("it is shown as paused", isSaid("guestbook", "Paused=True/Paused"));
    const record = vi.spyOn(world.store.intents, "recordDeployments");
    await world.apply("guestbook", { annotations: { "argosy.dev/paused": "false" } });
    await eventually("it is judged", () => record.mock.calls.length > 0);
    await world.apply("marker");
    await eventually("and what came after it", hasRow("marker"));
    await clock.advance(2 * FIRST_STATUS_MS);
    await eventually("its status follows", async () => !(await world.said("guestbook")).includes("Paused=True/Paused"));
  });

  it("to read Git again reaches the row, once for each poke", async () => {
    world.startController();
    await world.apply("guestbook");
    await eventually("it is recorded", hasRow("guestbook"));
    const refreshes = [];
    for (const poke of ["one", "two"]) {
      const revision = (await world.row("guestbook"))?.application.desiredRevision ?? 0;
      await world.apply("guestbook", { annotations: { "argosy.dev/refreshed-at": poke } });
      await eventually("the poke is recorded", async () => (await world.row("guestbook"))?.application.desiredRevision === revision + 1);
      refreshes.push((await world.row("guestbook"))?.application.spec.refresh);
    }
    expect(new Set(refreshes).size).toBe(2);
  });

  it("waits for a pool to be declared", async () => {
    await world.applyFleet({ pools: [] });
    world.startController();
    await world.apply("guestbook");
    await eventually("it waits", isSaid("guestbook", "Ready=False/WaitingForCapacity"));
    await world.applyFleet();
    await eventually("it is recorded", hasRow("guestbook"));
  });

  it("that nobody has room for says so until somebody has", async () => {
    world.startController();
    await world.apply("guestbook");
    await eventually("it is recorded", hasRow("guestbook"));
    const unitId = (await world.row("guestbook"))?.application.unitId;
    if (unitId === undefined) throw new Error("recorded without unit");
    await world.store.placements.recordUnplaceable(
      unitId,
      {
        decision: { at: millis(0), subject: unitId, kind: "placement", verdict: "UNPLACEABLE", rule: "NOTHING_FITS", details: {} },
        reason: "full",
      },
      world.signal,
    );
    await eventually("it waits", isSaid("guestbook", "Ready=False/WaitingForCapacity"));
    await world.answer("guestbook");
    await eventually("it is deployed", isSaid("guestbook", "Ready=True/Synced"));
  });

  it("beyond the quota says so, and is taken when another goes", async () => {
    await world.applyFleet({ workspaces: { selector: {}, everyNamespace: true, quota: { deployments: 2, syncsPerMinute: 1 } } });
    world.startController();
    for (const name of ["a", "b"]) {
      await world.apply(name);
      await eventually(`${name} is recorded`, hasRow(name));
    }
    const many = Array.from({ length: 20 }, (_, index) => `more-${index}`);
    await Promise.all(many.map((name) => world.apply(name)));
    for (const name of many) await eventually("its user is notified", isSaid(name, "Ready=False/QuotaExceeded"));
    const recorded = async () =>
      (await world.store.intents.listKnown("api", { limit: 1_000, after: "" }, world.signal)).filter(
        ({ deletedAt }) => deletedAt === undefined,
      );
    expect(await recorded()).toHaveLength(2);
    await world.remove("a");
    await eventually("another one is recorded", async () => (await recorded()).length === 2);
  });

  describe("of a workspace whose class has a quota of its own", () => {
    const LARGE = "eu/large/public";
    const numbers = { quota: { deployments: 1, syncsPerMinute: 1 }, classQuotas: [{ class: LARGE, deployments: 3 }] };
    const names = ["a", "b", "c", "d"];
    const kept = async () =>
      (await world.store.intents.listKnown("api", { limit: 1_000, after: "" }, world.signal)).filter(
        ({ deletedAt }) => deletedAt === undefined,
      );
    const refused = async () =>
      (await Promise.all(names.map(async (name) => (await world.said(name)).includes("Ready=False/QuotaExceeded")))).filter(Boolean).length;
    const messagesOf = async (name: string) => ((await world.read(name))?.status?.conditions ?? []).map(({ message }) => message).join();
    const applyOneAfterTheOther = async () => {
      for (const name of names) await world.apply(name);
      await eventually("all but one are refused", async () => (await kept()).length === 1 && (await refused()) === 3);
    };

    beforeEach(() => world.applyFleet({ workspaces: { selector: {}, everyNamespace: true, ...numbers } }));

    it("is judged again when the class is assigned, and nothing is deleted when that is taken back or shrinks", async () => {
      world.startController();
      await applyOneAfterTheOther();
      await world.assign(LARGE);
      await eventually("two more are taken", async () => (await kept()).length === 3 && (await refused()) === 1);
      const inside = (await kept()).map(({ name }) => name);
      const out = names.find((name) => !inside.includes(name)) ?? "";
      await eventually("who is refused reads the new number", async () => (await messagesOf(out)).includes("at most 3 deployments"));
      expect(await messagesOf(out)).not.toMatch(/large|class|standard/);
      await world.assign("eu/shared/public");
      await eventually("who is refused reads the old number", async () => (await messagesOf(out)).includes("at most 1 deployments"));
      expect(await kept()).toHaveLength(3);
      const [last] = inside.slice(-1);
      await world.apply(last!, { spec: at("changed") });
      await eventually(
        "a change of one that it has is taken",
        async () => (await world.row(last!))?.application.spec.source.path === "changed",
      );
      await world.apply("late");
      await eventually("a new one is refused", isSaid("late", "Ready=False/QuotaExceeded"));
      expect(await kept()).toHaveLength(3);
    });

    it("has no more than the smaller of both while it is on its way, and is judged again when it has arrived", async () => {
      world.startController();
      await applyOneAfterTheOther();
      const first = (await kept())[0]!.name;
      await world.answer(first);
      await world.assign(LARGE);
      const unitId = (await world.row(first))!.application.unitId;
      const read = async () => (await world.store.placements.readUnit(unitId, world.signal))?.unit;
      await eventually("it is to have the class", async () => (await read())?.wantedClass === LARGE);
      await world.apply("marker");
      await eventually("what is new meanwhile is refused", isSaid("marker", "Ready=False/QuotaExceeded"));
      expect(await kept()).toHaveLength(1);
      await world.arrive(first, LARGE);
      await eventually("two more are taken", async () => (await kept()).length === 3);
    });

    it("is judged by the class from the start by a process that knows nothing yet", async () => {
      const controller = world.startController();
      await applyOneAfterTheOther();
      await world.assign(LARGE);
      await eventually("two more are taken", async () => (await kept()).length === 3);
      await controller.stop();
      await world.remove((await kept())[0]!.name);
      world.startController();
      await eventually("the last is taken for the one that went", async () => (await kept()).length === 3 && (await refused()) === 0);
    });
  });

  it("in numbers at once is taken up to the quota", async () => {
    await world.applyFleet({ workspaces: { selector: {}, everyNamespace: true, quota: { deployments: 7, syncsPerMinute: 1 } } });
    world.startController();
    await Promise.all(Array.from({ length: 40 }, (_, index) => world.apply(`app-${index}`)));
    const all = await world.hands.listPage<{ readonly metadata: { readonly name: string } }>(USER_DEPLOYMENTS, {}, world.signal);
    const isOut = async (name: string) => (await world.said(name)).includes("Ready=False/QuotaExceeded");
    await eventually(
      "the users of all but seven are notified",
      async () => (await Promise.all(all.items.map(({ metadata }) => isOut(metadata.name)))).filter(Boolean).length === 33,
    );
    expect(await world.store.intents.listKnown("api", { limit: 1_000, after: "" }, world.signal)).toHaveLength(7);
  });

  it("that came while no controller ran does not wait behind all that stands when one starts", async () => {
    const standing = await recordedBefore(50);
    world.server.load(NAMESPACES, [aNamespace("zz-late")]);
    world.server.load(USER_DEPLOYMENTS, [aDeployment("zz-late")]);
    listAsOfAnother();
    const record = vi.spyOn(world.store.intents, "recordDeployments");
    const recorded = () => new Set(record.mock.calls.flatMap(([intents]) => intents.map(({ uid }) => uid)));
    const clock = createVirtualClock();
    world.startController(EVERYTHING_IS_MINE, clock);
    await eventually("the new one is recorded", async () => (await known()).length === standing.length + 1);
    // The first few of those that stand are judged at once, and the others little by little, some of them together.
    expect(recorded().size).toBeLessThanOrEqual(1 + standing.length / 2);
    await clock.advance(10_000);
    await eventually("everything is recorded again", () => recorded().size === standing.length + 1);
    // As many as may run at once beside those of others.
    expect(Math.max(...record.mock.calls.map(([intents]) => intents.length))).toBeGreaterThanOrEqual(4);
  });

  it("that its row holds is not recorded again when a controller starts, but for what another version of the program made otherwise", async () => {
    const standing = await recordedBefore(30);
    const [other = ""] = standing.slice(-3);
    listAsOfAnother((namespace) => namespace === other);
    const record = vi.spyOn(world.store.intents, "recordDeployments");
    const read = vi.spyOn(world.store.intents, "readByUids");
    const clock = createVirtualClock();
    world.startController(EVERYTHING_IS_MINE, clock);
    const views = () => new Set(read.mock.calls.flatMap(([uids]) => uids));
    await eventually("all statuses are seen to", async () => {
      await clock.advance(1_000);
      return views().size === standing.length;
    });
    const uid = (await world.read("app", other))?.metadata.uid;
    await eventually("that one is recorded", () => record.mock.calls.length > 0);
    const recorded = () => record.mock.calls.flatMap(([intents]) => intents.map((intent) => intent.uid));
    expect(recorded()).toEqual([uid]);
    // From then on it does not rest on what was listed.
    await world.applyFleet({ workspaces: { selector: {}, everyNamespace: true, quota: { deployments: 77, syncsPerMinute: 1 } } });
    await eventually("everything is recorded with another declaration", () => new Set(recorded()).size === standing.length);
  });

  it("whose row and status stand is judged behind everything that is new when a controller starts", async () => {
    const first = world.startController();
    await world.apply("standing");
    await eventually("it is recorded", hasRow("standing"));
    await world.answer("standing");
    await eventually("it is shown", isSaid("standing", "Ready=True/Synced"));
    await first.stop();
    const uid = (await world.read("standing"))?.metadata.uid ?? "";
    const clock = createVirtualClock();
    listAsOfAnother();
    const record = vi.spyOn(world.store.intents, "recordDeployments");
    world.startController(EVERYTHING_IS_MINE, clock);
    await eventually("it is recorded again", () => record.mock.calls.flatMap(([intents]) => intents).some((intent) => intent.uid === uid));
    const read = vi.spyOn(world.store.intents, "readByUids");
    const isRead = () => read.mock.calls.flatMap(([uids]) => uids).includes(uid);
    await clock.advance(FIRST_STATUS_MS);
    await world.apply("new");
    await eventually("the new one is recorded", hasRow("new"));
    await world.answer("new");
    await eventually("the new one is shown", isSaid("new", "Ready=True/Synced"));
    expect(isRead()).toBe(false);
    await clock.advance(LONGEST_WAIT_MS);
    await eventually("its row is read", isRead);
    expect(world.statusWrites("standing")).toBe(1);
  });

  it("in a namespace that is no workspace is nobody's business", async () => {
    await world.applyFleet({ workspaces: { selector: { gitops: "yes" }, quota: { deployments: 9, syncsPerMinute: 1 } } });
    await world.namespace("chosen", { gitops: "yes" });
    world.startController();
    await world.apply("guestbook");
    await world.apply("guestbook", { namespace: "chosen" });
    await eventually("the user of the chosen one is notified", async () => (await world.said("guestbook", "chosen")).length > 0);
    expect(await world.row("guestbook")).toBeUndefined();
    expect(await world.said("guestbook")).toEqual([]);
    await world.hands.mergePatch(NAMESPACES, { namespace: "", name: "jane" }, { metadata: { labels: { gitops: "yes" } } }, world.signal);
    await eventually("it is recorded once its namespace is chosen", hasRow("guestbook"));
  });
});

describe("a deletion", () => {
  async function deployed(name: string, finalizers?: readonly string[]): Promise<string> {
    await world.apply(name, finalizers === undefined ? {} : { finalizers });
    await eventually("it is recorded", hasRow(name));
    await world.answer(name);
    await eventually("it is shown", isSaid(name, "Ready=True/Synced"));
    return (await world.read(name))?.metadata.uid ?? "";
  }
  const isMarked =
    (uid: string, deletion = "cascade") =>
    async () =>
      (await world.rowOf(uid))?.application.deletion === deletion;

  it("without finalizer runs behind the user's back", async () => {
    world.startController();
    const uid = await deployed("guestbook");
    await world.remove("guestbook");
    expect(await world.read("guestbook")).toBeUndefined();
    await eventually("the row is marked", isMarked(uid));
  });

  it("with finalizer keeps the resource until everything is gone", async () => {
    world.startController();
    const uid = await deployed("guestbook", [USER_FINALIZER, "example.com/other"]);
    await world.remove("guestbook");
    await eventually("the row is marked", isMarked(uid));
    await eventually("its user is notified", isSaid("guestbook", "Ready=False/Deleting"));
    await world.answer("guestbook", {
      conditions: [{ type: "DeletionError", message: "ConfigMap settings is held by finalizer example.com/hold" }],
    });
    await eventually("its user reads what blocks it", isSaid("guestbook", "Stalled=True/DeletionBlocked"));
    expect((await world.read("guestbook"))?.metadata.finalizers).toContain(USER_FINALIZER);
    await world.finishDeletion(uid);
    await eventually(
      "only others hold it",
      async () => (await world.read("guestbook"))?.metadata.finalizers?.join() === "example.com/other",
    );
  });

  it("of a resource that came back under its name touches the old row only", async () => {
    world.startController();
    const first = await deployed("guestbook");
    await world.remove("guestbook");
    await world.apply("guestbook", { spec: at("second") });
    const second = (await world.read("guestbook"))?.metadata.uid ?? "";
    await eventually("the old row is marked", isMarked(first));
    await eventually("the new one is recorded", async () => (await world.rowOf(second))?.application.deletion === "none");
    expect((await world.rowOf(second))?.application.argoName).not.toBe((await world.rowOf(first))?.application.argoName);
  });

  it("of a whole namespace never hangs on our finalizer, and ends the workspace", async () => {
    world.startController();
    const uid = await deployed("guestbook", [USER_FINALIZER]);
    const workspaceId = (await world.rowOf(uid))?.workspace.id;
    await world.hands.mergePatch(
      NAMESPACES,
      { namespace: "", name: "jane" },
      { metadata: { finalizers: ["example.com/hold"] } },
      world.signal,
    );
    await world.hands.delete(NAMESPACES, { namespace: "", name: "jane" }, {}, world.signal);
    await world.remove("guestbook");
    await eventually("the resource is gone", async () => (await world.read("guestbook")) === undefined);
    await eventually("the row is left to the namespace", isMarked(uid, "orphan"));
    await world.hands.mergePatch(NAMESPACES, { namespace: "", name: "jane" }, { metadata: { finalizers: [] } }, world.signal);
    await eventually("the workspace ends", async () => {
      const known = await world.store.intents.listKnownWorkspaces("api", { limit: 1_000, after: "" }, world.signal);
      return known.find((workspace) => workspace.workspaceId === workspaceId)?.state === "deleting";
    });
  });

  it("keeps the labels of its namespace that the fleet names", async () => {
    await world.applyFleet({ cost: { labels: ["team", "example.com/cost-center"] } });
    await world.hands.mergePatch(
      NAMESPACES,
      { namespace: "", name: "jane" },
      { metadata: { labels: { team: "red", other: "x" } } },
      world.signal,
    );
    world.startController();
    await world.apply("guestbook");
    const labels = async () =>
      (await world.store.intents.listKnownWorkspaces("api", { limit: 1_000, after: "" }, world.signal)).map((one) => one.labels);
    await eventually("it is recorded", hasRow("guestbook"));
    const now = { "example.com/cost-center": "7", other: null };
    await world.hands.mergePatch(NAMESPACES, { namespace: "", name: "jane" }, { metadata: { labels: now } }, world.signal);
    await eventually("its labels are recorded", async () =>
      isDeepStrictEqual(await labels(), [{ team: "red", "example.com/cost-center": "7" }]),
    );
    await world.hands.mergePatch(NAMESPACES, { namespace: "", name: "jane" }, { metadata: { labels: { team: null } } }, world.signal);
    await eventually("one that is taken away is forgotten", async () =>
      isDeepStrictEqual(await labels(), [{ "example.com/cost-center": "7" }]),
    );
  });

  it("of a whole namespace still deletes what stands on other clusters", async () => {
    world.startController();
    await world.apply("away", { spec: { ...at("first"), destination: { environment: "prod", namespace: "web" } } });
    await eventually("it is recorded", hasRow("away"));
    await world.answer("away");
    const uid = (await world.row("away"))?.application.uid ?? "";
    await world.hands.delete(NAMESPACES, { namespace: "", name: "jane" }, {}, world.signal);
    await world.remove("away");
    await eventually("its objects are being deleted", isMarked(uid, "cascade"));
  });

  it("while no controller ran is found when one starts", async () => {
    const first = world.startController();
    const gone = await deployed("gone");
    const replaced = await deployed("replaced");
    const held = await deployed("held", [USER_FINALIZER]);
    const kept = await deployed("kept");
    await first.stop();
    for (const name of ["gone", "replaced", "held"]) await world.remove(name);
    await world.apply("replaced");
    world.startController();
    for (const uid of [gone, replaced, held]) await eventually("its row is marked", isMarked(uid));
    await world.finishDeletion(held);
    await eventually("it is let go", async () => (await world.read("held")) === undefined);
    expect((await world.rowOf(kept))?.application.deletion).toBe("none");
  });
});
