import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import type { ApplicationId } from "../../../domain/ids.ts";
import type { RunProgress } from "../../../domain/sync-run.ts";
import { AT, aRun } from "../builders.ts";
import { type Deployed, soon, type World } from "../world.ts";

const hook = { kind: "Job", namespace: "team", name: "migrate", type: "PreSync", phase: "Succeeded", message: "é\"'\u0000" };
const running: RunProgress = {
  phase: "Running",
  message: "begun",
  revision: "0123",
  startedAt: millis(AT + 1000),
  finishedAt: undefined,
  hooks: [hook],
};
const succeeded: RunProgress = { ...running, phase: "Succeeded", message: "", finishedAt: millis(AT + 2000) };

export function describeSyncRuns(world: () => World): void {
  const runs = () => world().store.syncRuns;
  const view = async (uid: string) => (await runs().readViews([uid], soon()))[0];
  const known = async () => (await runs().listKnown("main", soon())).map(({ uid }) => uid);
  const queue = async (id: ApplicationId) => (await runs().readQueues([id], soon())).map(({ uid }) => uid);
  const report = ({ instanceId, epoch }: Pick<Deployed, "instanceId" | "epoch">, uid: string, progress: RunProgress) =>
    runs().recordReports([{ uid, instanceId, epoch, requestedAt: millis(AT), progress }], soon());
  const runOf = async ({ intent }: Deployed, over: Parameters<typeof aRun>[0] = {}) => {
    const request = aRun({ deploymentUid: intent.uid, ...over });
    await runs().record([request], soon());
    return request.uid;
  };

  /** Notifications about runs; those of what went before may still be on their way. */
  const notificationsOf = async (work: () => Promise<unknown>) =>
    (await world().notificationsOf(work)).filter((notification) => notification.startsWith("sync-"));

  describe("runs of syncs", () => {
    it("are recorded once, with all they ask for, and tell their queue", async () => {
      const { deploy } = world();
      const deployed = await deploy();
      const request = aRun({ deploymentUid: deployed.intent.uid, revision: 'né"w', prune: true });
      expect(await notificationsOf(() => runs().record([request], soon()))).toEqual([
        `sync-queue:${deployed.applicationId}`,
        `sync-run:${request.uid}`,
      ]);
      expect(await notificationsOf(() => runs().record([{ ...request, revision: "other" }], soon()))).toEqual([]);
      const { uid, namespace, name, revision, prune, createdAt } = request;
      expect(await view(uid)).toMatchObject({
        run: { uid, namespace, name, revision, prune, createdAt, applicationId: deployed.applicationId, isCancelled: false },
        application: { id: deployed.applicationId, name: deployed.intent.name },
        isPlaced: true,
        ahead: 0,
        publishedHash: "",
      });
      expect((await view(uid))?.run.progress).toEqual({
        ...{ phase: "Pending", message: "", revision: "", hooks: [] },
        ...{ startedAt: undefined, finishedAt: undefined },
      });
      expect(await view("nobody's")).toBeUndefined();
      await runs().record([], soon());
    });

    it("say since when they are recorded, however old their resources are and however often they are recorded", async () => {
      const request = aRun({ deploymentUid: "later", createdAt: millis(AT - 86_400_000) });
      await runs().record([request], soon());
      const since = (await view(request.uid))?.run.recordedAt;
      expect(since).toBeGreaterThanOrEqual(AT);
      await world().record({ uid: "later" });
      await runs().record([request], soon());
      expect((await view(request.uid))?.run).toMatchObject({
        createdAt: request.createdAt,
        recordedAt: since,
        applicationId: expect.any(String),
      });
    });

    it("wait without an application until the deployment they name is recorded", async () => {
      const { record, unit, application } = world();
      const request = aRun({ deploymentUid: "later" });
      expect(await notificationsOf(() => runs().record([request], soon()))).toEqual([`sync-run:${request.uid}`]);
      expect(await view(request.uid)).toMatchObject({ run: { applicationId: undefined }, application: undefined, isPlaced: false });
      const { applicationId } = await record({ uid: "later" });
      expect(await notificationsOf(() => runs().record([request], soon()))).toEqual([
        `sync-queue:${applicationId}`,
        `sync-run:${request.uid}`,
      ]);
      expect(await view(request.uid)).toMatchObject({ application: await application(applicationId), isPlaced: false });
      expect((await unit(applicationId)).owner).toBeUndefined();
    });

    it("go over to the namesake of a deployment that was deleted before they began, and stay once they have", async () => {
      const { deploy, remove } = world();
      const [first, second] = [await deploy(), await deploy({ namespace: "other" })];
      const [waiting, begun] = [await runOf(first), await runOf(first)];
      await report(first, begun, running);
      const again = async () => {
        for (const uid of [waiting, begun]) await runs().record([aRun({ uid, deploymentUid: second.intent.uid })], soon());
        return Promise.all([waiting, begun].map(async (uid) => (await view(uid))?.run.applicationId));
      };
      expect(await again()).toEqual([first.applicationId, first.applicationId]);
      await remove(first.intent);
      expect(await again()).toEqual([second.applicationId, first.applicationId]);
    });

    it("queue in the order of their creation, within one second in that of their recording, behind what runs and what is cancelled", async () => {
      const { deploy } = world();
      const deployed = await deploy();
      const other = await deploy({ namespace: "other" });
      const at = (seconds: number) => ({ createdAt: millis(AT + seconds * 1000) });
      const late = await runOf(deployed, at(3));
      const [twin, sister] = [await runOf(deployed, at(2)), await runOf(deployed, at(2))];
      const early = await runOf(deployed, at(1));
      const foreign = await runOf(other);
      expect(await queue(deployed.applicationId)).toEqual([early, twin, sister, late]);
      expect((await view(late))?.ahead).toBe(3);
      expect((await view(sister))?.ahead).toBe(2);
      await report(deployed, sister, running);
      await runs().cancel([late], soon());
      expect(await queue(deployed.applicationId)).toEqual([sister, late, early, twin]);
      await report(deployed, sister, succeeded);
      expect(await queue(deployed.applicationId)).toEqual([late, early, twin]);
      expect((await runs().readQueues([other.applicationId, deployed.applicationId], soon())).map(({ uid }) => uid)).toEqual([
        ...[foreign, late, early, twin],
      ]);
      expect(await runs().listBusy([deployed.instanceId], 10, soon())).toEqual([deployed.applicationId]);
      expect(await runs().listBusy([deployed.instanceId], 0, soon())).toEqual([]);
    });

    it("keep how far they have come, texts of strangers among it, and what has ended stays as it ended", async () => {
      const { deploy } = world();
      const deployed = await deploy();
      const uid = await runOf(deployed);
      expect(await notificationsOf(() => report(deployed, uid, running))).toEqual([`sync-run:${uid}`]);
      expect((await view(uid))?.run).toMatchObject({ progress: running, requestedAt: AT });
      expect(await notificationsOf(() => report(deployed, uid, succeeded))).toEqual([
        `sync-queue:${deployed.applicationId}`,
        `sync-run:${uid}`,
      ]);
      expect(
        await notificationsOf(async () => {
          await report(deployed, uid, running);
          await runs().cancel([uid], soon());
          await runs().giveUp([{ uid, message: "too late" }], soon());
        }),
      ).toEqual([]);
      expect((await view(uid))?.run).toMatchObject({ progress: succeeded, isCancelled: false });
    });

    it("believe nobody but the instance that holds the application, under its epoch (I7)", async () => {
      const { deploy, addInstance } = world();
      const deployed = await deploy();
      const other = await addInstance();
      const uid = await runOf(deployed);
      await report({ ...deployed, instanceId: other.id }, uid, running);
      await report({ ...deployed, epoch: deployed.epoch - 1 }, uid, running);
      await report({ ...deployed, epoch: deployed.epoch + 1 }, uid, running);
      await report(deployed, "nobody's", running);
      expect((await view(uid))?.run.progress.phase).toBe("Pending");
    });

    it("that are cancelled are left to the instance that may have begun, and end at once where there is none", async () => {
      const { deploy, record } = world();
      const deployed = await deploy();
      const unplaced = await record({ namespace: "other" });
      const held = await runOf(deployed);
      const loose = await runOf({ ...deployed, intent: unplaced });
      const lost = await runOf({ ...deployed, intent: { ...unplaced, uid: "unknown" } });
      expect(await notificationsOf(() => runs().cancel([held, loose, lost, "nobody's"], soon()))).toEqual(
        [
          ...[held, loose, lost].map((uid) => `sync-run:${uid}`),
          ...[deployed, unplaced].map((one) => `sync-queue:${one.applicationId}`),
        ].sort(),
      );
      expect((await view(held))?.run).toMatchObject({ isCancelled: true, progress: { phase: "Pending" } });
      for (const uid of [loose, lost]) {
        expect((await view(uid))?.run.progress.phase).toBe("Terminated");
        expect((await view(uid))?.run.progress.finishedAt).toBeDefined();
      }
      await runs().forget([held, loose, lost], soon());
      expect(await known()).toEqual([held]);
      expect(await notificationsOf(() => runs().cancel([held], soon()))).toEqual([]);
    });

    it("that are cancelled end at once too when the instance that may have begun has lost their application", async () => {
      const { deploy, remove } = world();
      const deployed = await deploy();
      const uid = await runOf(deployed);
      await report(deployed, uid, running);
      await runs().cancel([uid], soon());
      await remove(deployed.intent);
      await world().store.shards.forgetApplications([deployed.applicationId], soon());
      expect((await view(uid))?.run.progress.phase).toBe("Running");
      await runs().cancel([uid], soon());
      expect((await view(uid))?.run).toMatchObject({ isCancelled: true, progress: { phase: "Terminated" } });
      await runs().forget([uid], soon());
      expect(await known()).toEqual([]);
    });

    it("can be given up where no instance holds their application, and nowhere else", async () => {
      const { deploy, remove } = world();
      const deployed = await deploy();
      const [held, lost] = [await runOf(deployed), await runOf({ ...deployed, intent: { ...deployed.intent, uid: "unknown" } })];
      const giveUp = () =>
        runs().giveUp(
          [held, lost].map((uid) => ({ uid, message: "enough" })),
          soon(),
        );
      await giveUp();
      expect((await view(held))?.run.progress.phase).toBe("Pending");
      expect((await view(lost))?.run.progress).toMatchObject({ phase: "Failed", message: "enough" });
      const over = await runOf(deployed);
      await report(deployed, over, succeeded);
      await remove(deployed.intent);
      const forget = () => world().store.shards.forgetApplications([deployed.applicationId], soon());
      expect(await notificationsOf(forget)).toEqual([`sync-run:${held}`]);
      expect(await view(held)).toMatchObject({ application: undefined, isPlaced: false });
      await giveUp();
      expect((await view(held))?.run.progress).toMatchObject({ phase: "Failed", message: "enough" });
    });

    it("are listed with whether their user has heard the latest", async () => {
      const { deploy } = world();
      const deployed = await deploy();
      const uid = await runOf(deployed);
      await runs().record([aRun({ apiCluster: "another" })], soon());
      const listed = async () => runs().listKnown("main", soon());
      const published = async () => {
        const { viewRevision = 0 } = (await view(uid)) ?? {};
        return () => runs().recordPublished([{ uid, hash: "h", viewRevision }], soon());
      };
      expect(await listed()).toMatchObject([{ uid, namespace: "team", name: uid, phase: "Pending", isPublished: false }]);
      const early = await published();
      await report(deployed, uid, succeeded);
      await early();
      expect(await listed()).toMatchObject([{ phase: "Succeeded", finishedAt: succeeded.finishedAt, isPublished: false }]);
      await (await published())();
      expect(await listed()).toMatchObject([{ isPublished: true }]);
      await early();
      expect(await listed()).toMatchObject([{ isPublished: true }]);
      expect((await view(uid))?.publishedHash).toBe("h");
    });

    it("let overlapping batches in opposite order through", async () => {
      const { deploy } = world();
      const deployed = await deploy();
      const requests = Array.from({ length: 20 }, () => aRun({ deploymentUid: deployed.intent.uid }));
      const { instanceId, epoch } = deployed;
      const rounds = Array.from({ length: 10 }, async (_, round) => {
        const batch = round % 2 === 0 ? requests : requests.toReversed();
        await runs().record(batch, soon());
        await runs().recordReports(
          batch.map(({ uid }) => ({ uid, instanceId, epoch, requestedAt: undefined, progress: running })),
          soon(),
        );
      });
      await Promise.all(rounds);
      expect(await queue(deployed.applicationId)).toHaveLength(20);
    });
  });
}
