import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import type { ApplicationId } from "../../../domain/ids.ts";
import { AT, anEngineStatus, aStatus } from "../builders.ts";
import { soon, type World } from "../world.ts";

export function describeStatuses(world: () => World): void {
  const statusOf = async (id: ApplicationId) => (await world().store.intents.readByIds([id], soon()))[0]?.status;

  describe("recording statuses", () => {
    it("returns and notifies those that say something new", async () => {
      const { store, deploy, record, notificationsOf } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      const second = await record();
      const batch = [aStatus({ applicationId: second.applicationId, instanceId, epoch }), aStatus({ applicationId, instanceId, epoch })];
      const notifications = await notificationsOf(async () =>
        expect(await store.statuses.recordStatuses(batch, soon())).toEqual([second.applicationId, applicationId]),
      );
      expect(notifications).toEqual([`status:${applicationId}`, `status:${second.applicationId}`].sort());
      const third = aStatus(
        { applicationId, instanceId, epoch },
        { hash: "hash-2", status: anEngineStatus({ health: { status: "Degraded", message: "bad" } }) },
      );
      expect(
        await notificationsOf(async () => expect(await store.statuses.recordStatuses([batch[0]!, third], soon())).toEqual([applicationId])),
      ).toEqual([`status:${applicationId}`]);
      expect(await statusOf(applicationId)).toEqual(third);
      expect(await store.statuses.recordStatuses([], soon())).toEqual([]);
    });

    it("notes a mere refresh without telling anybody", async () => {
      const { store, deploy, notificationsOf } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      const status = aStatus({ applicationId, instanceId, epoch });
      await store.statuses.recordStatuses([status], soon());
      const later = { ...status, reconciledAt: millis(AT + 180_123) };
      expect(await notificationsOf(async () => expect(await store.statuses.recordStatuses([later], soon())).toEqual([]))).toEqual([]);
      expect(await statusOf(applicationId)).toEqual(later);
      expect(await store.statuses.recordStatuses([{ ...later, reconciledAt: undefined }], soon())).toEqual([]);
      expect((await statusOf(applicationId))?.reconciledAt).toBeUndefined();
    });

    it("notes refreshes of the very status that is recorded, and says which statuses have to be recorded as a whole", async () => {
      const { store, deploy, record, addInstance, notificationsOf } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      const other = await addInstance();
      const [unsaid, changed] = [await record(), await record()];
      const status = aStatus({ applicationId, instanceId, epoch });
      const another = aStatus({ applicationId: changed.applicationId, instanceId, epoch }, { hash: "another" });
      await store.statuses.recordStatuses([status, another], soon());
      const { status: _, ...refresh } = { ...status, reconciledAt: millis(AT + 600_000), version: 7 };
      const of = (over: Partial<typeof refresh>) => ({ ...refresh, ...over });
      const refreshes = [
        of({ applicationId: unsaid.applicationId }),
        of({}),
        of({ applicationId: changed.applicationId }),
        of({ applicationId: "gone" as ApplicationId }),
      ];
      expect(
        await notificationsOf(async () => expect(await store.statuses.recordRefreshes(refreshes, soon())).toEqual([applicationId])),
      ).toEqual([]);
      expect(await statusOf(applicationId)).toMatchObject({ ...status, reconciledAt: refresh.reconciledAt });
      expect(await statusOf(changed.applicationId)).toEqual(another);
      for (const over of [{ instanceId: other.id }, { epoch: epoch + 1 }, { reconciledAt: millis(AT + 599_999) }])
        expect(await store.statuses.recordRefreshes([of(over)], soon())).toEqual([]);
      expect(await statusOf(applicationId)).toMatchObject({ ...status, reconciledAt: refresh.reconciledAt });
      expect(await store.statuses.recordRefreshes([], soon())).toEqual([]);
      // What was said before the refresh is late.
      const before = { ...status, hash: "before", reconciledAt: refresh.reconciledAt, version: 6 };
      expect(await store.statuses.recordStatuses([before], soon())).toEqual([]);
    });

    it("drops what was said before what is recorded, whoever brings it late", async () => {
      const { store, deploy, notificationsOf } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      const early = aStatus({ applicationId, instanceId, epoch }, { hash: "early", reconciledAt: millis(AT) });
      const late = aStatus({ applicationId, instanceId, epoch }, { hash: "late", reconciledAt: millis(AT + 1_000) });
      await store.statuses.recordStatuses([late], soon());
      expect(await notificationsOf(async () => expect(await store.statuses.recordStatuses([early], soon())).toEqual([]))).toEqual([]);
      expect(await statusOf(applicationId)).toEqual(late);
      const [sameTime, timeless] = [
        { ...late, hash: "same time" },
        { ...early, reconciledAt: undefined },
      ];
      expect(await store.statuses.recordStatuses([sameTime], soon())).toEqual([applicationId]);
      expect(await store.statuses.recordStatuses([timeless], soon())).toEqual([applicationId]);
    });

    it("tells reports of one second apart by the Application's version, where both have one", async () => {
      const { store, deploy } = world();
      const at = await deploy();
      const said = (hash: string, version: number | undefined) => aStatus(at, { hash, version, reconciledAt: millis(AT) });
      const isTaken = async (...what: Parameters<typeof said>) =>
        (await store.statuses.recordStatuses([said(...what)], soon())).length === 1;
      expect(await isTaken("second", 20)).toBe(true);
      expect(await isTaken("first", 19)).toBe(false);
      expect(await isTaken("second again", 20)).toBe(true);
      expect(await isTaken("of no version", undefined)).toBe(true);
      expect(await isTaken("after that", 1)).toBe(true);
      const later = { ...said("of a restored cluster", 0), reconciledAt: millis(AT + 1_000) };
      expect(await store.statuses.recordStatuses([later], soon())).toHaveLength(1);
      // A mere refresh brings its version too.
      const refreshed = { ...later, reconciledAt: millis(AT + 2_000), version: 30 };
      expect(await store.statuses.recordStatuses([refreshed], soon())).toEqual([]);
      expect(await store.statuses.recordStatuses([{ ...refreshed, hash: "before the refresh", version: 29 }], soon())).toEqual([]);
    });

    it("drops what comes from another instance or epoch, or is about nothing known", async () => {
      const { store, deploy, record, addInstance, notificationsOf } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      const unplaced = await record({ namespace: "other" });
      const other = await addInstance();
      const wrong = [
        aStatus({ applicationId, instanceId: other.id, epoch }),
        aStatus({ applicationId: "gone" as ApplicationId, instanceId, epoch }),
        aStatus({ applicationId: unplaced.applicationId, instanceId, epoch }),
      ];
      expect(await notificationsOf(async () => expect(await store.statuses.recordStatuses(wrong, soon())).toEqual([]))).toEqual([]);
      for (const stale of [epoch - 1, epoch + 1])
        expect(await store.statuses.recordStatuses([aStatus({ applicationId, instanceId, epoch: stale })], soon())).toEqual([]);
      expect(await statusOf(applicationId)).toBeUndefined();
    });

    it("takes the good ones of a batch that holds bad ones too", async () => {
      const { store, deploy } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      const batch = [aStatus({ applicationId: "gone" as ApplicationId, instanceId, epoch }), aStatus({ applicationId, instanceId, epoch })];
      expect(await store.statuses.recordStatuses(batch, soon())).toEqual([applicationId]);
    });

    it("takes texts of strangers, however strange, with large lists of resources", async () => {
      const { store, deploy } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      const resource = {
        group: "",
        version: "v1",
        kind: "ConfigMap",
        namespace: "team",
        name: 'a"b\\c',
        status: "OutOfSync",
        health: { status: "Healthy", message: "{}'\u0000\ud83d\ude00" },
      };
      const status = anEngineStatus({
        resources: Array.from({ length: 500 }, () => resource),
        resourceCount: 1234,
        sync: { status: "OutOfSync", revision: "né'\"w" },
      });
      const recorded = aStatus({ applicationId, instanceId, epoch }, { status });
      expect(await store.statuses.recordStatuses([recorded], soon())).toEqual([applicationId]);
      expect(await statusOf(applicationId)).toEqual(recorded);
      const refreshed = { ...recorded, reconciledAt: millis(AT + 1) };
      await store.statuses.recordStatuses([refreshed], soon());
      expect(await statusOf(applicationId)).toEqual(refreshed);
    });

    it("lets overlapping batches in opposite order through", async () => {
      const { store, deploy, record } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      const ids = [applicationId, ...(await Promise.all(Array.from({ length: 39 }, () => record()))).map((one) => one.applicationId)];
      const rounds = Array.from({ length: 20 }, (_, round) => {
        const batch = ids.map((id) => aStatus({ applicationId: id, instanceId, epoch }, { hash: `hash-${round}` }));
        return store.statuses.recordStatuses(round % 2 === 0 ? batch : batch.toReversed(), soon());
      });
      for (const changed of await Promise.all(rounds)) expect(changed).toHaveLength(ids.length);
    });
  });
}
