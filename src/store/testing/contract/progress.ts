import { describe, expect, it } from "vitest";
import type { Blockage } from "../../../domain/blockage.ts";
import { type Millis, millis } from "../../../domain/clock.ts";
import type { ApplicationId } from "../../../domain/ids.ts";
import { OPERATION_DUE_MS } from "../../../domain/operation.ts";
import { WAITING_FOR_INSTANCE } from "../../operation/messages.ts";
import type { ProgressNote } from "../../shard/port.ts";
import { AT, anObject, aSpec } from "../builders.ts";
import { soon, type World } from "../world.ts";

const page = { limit: 10, after: "" };
const HELD: Blockage = {
  since: AT,
  held: [{ group: "", kind: "ConfigMap", namespace: "team", name: "settings", finalizers: ["example.com/hold"] }],
};
const aNote = (applicationId: ApplicationId, over: Partial<ProgressNote> = {}): ProgressNote => ({
  applicationId,
  state: "In_Progress",
  attempts: 1,
  message: "Trying again: no answer",
  blockage: undefined,
  ...over,
});

export function describeProgress(world: () => World): void {
  const list = () => world().store.operations.listOperations({}, page, soon());

  describe("telling people how far an operation is", () => {
    it("says from the start what it waits for, and when it is due", async () => {
      const { record, addInstance, place, unit } = world();
      const { applicationId } = await record();
      const [created] = await list();
      expect(created).toMatchObject({ state: "Waiting", message: "Waiting: for an instance", attempts: 0 });
      expect((created!.deadline - created!.createdAt) as Millis).toBe(millis(OPERATION_DUE_MS));
      await place((await unit(applicationId)).id, (await addInstance()).id);
      expect(await list()).toMatchObject([{ state: "Waiting", message: "Waiting: for its instance to take it" }]);
    });

    it("notes attempts that came to nothing, and ends by the acknowledgement whatever was noted before", async () => {
      const { store, deploy } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      await store.shards.recordProgress([aNote(applicationId, { attempts: 3 })], soon());
      expect(await list()).toMatchObject([{ state: "In_Progress", attempts: 3, message: "Trying again: no answer" }]);
      await store.shards.recordProgress([aNote(applicationId, { state: "Failed", message: "Refused: no" })], soon());
      expect(await list()).toMatchObject([{ state: "Failed", attempts: 4, message: "Refused: no" }]);
      await store.shards.acknowledge([anObject({ instanceId, subject: applicationId, epoch })], soon());
      expect(await list()).toMatchObject([{ state: "Completed", attempts: 5, message: "" }]);
    });

    it("says nothing about what is completed or unknown", async () => {
      const { store, deploy } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      await store.shards.acknowledge([anObject({ instanceId, subject: applicationId, epoch })], soon());
      await store.shards.recordProgress([aNote(applicationId), aNote("gone" as ApplicationId)], soon());
      await store.shards.recordProgress([], soon());
      expect(await list()).toMatchObject([{ state: "Completed", attempts: 1, message: "" }]);
    });

    it("is shown to its user too, once per change, and nothing of it where all goes its way or has ended", async () => {
      const { store, record, deploy, notificationsOf } = world();
      const waiting = await record({ namespace: "elsewhere" });
      const { applicationId, instanceId, epoch } = await deploy();
      const view = async (id = applicationId) => (await store.intents.readByIds([id], soon()))[0]!;
      const note = async (over: Partial<ProgressNote>) =>
        (await notificationsOf(() => store.shards.recordProgress([aNote(applicationId, over)], soon()))).filter((notification) =>
          notification.startsWith("status:"),
        );
      expect((await view(waiting.applicationId)).trouble).toBeUndefined();
      expect((await view()).trouble).toBeUndefined();
      expect(await note({})).toEqual([`status:${applicationId}`]);
      expect((await view()).trouble).toBe("Trying again: no answer");
      const { viewRevision } = await view();
      expect(await note({})).toEqual([]);
      expect(await note({ state: "Waiting", message: "Waiting: for it" })).toEqual([`status:${applicationId}`]);
      expect(await view()).toMatchObject({ trouble: "Waiting: for it", viewRevision: viewRevision + 1 });
      expect(await store.intents.listUnpublished("main", page, soon())).toContain(applicationId);
      await note({ state: "Waiting", message: WAITING_FOR_INSTANCE });
      expect((await view()).trouble).toBe(WAITING_FOR_INSTANCE);
      await store.shards.acknowledge([anObject({ instanceId, subject: applicationId, epoch })], soon());
      expect((await view()).trouble).toBeUndefined();
      expect(await note({})).toEqual([]);
    });

    it("starts anew with the next change of what was refused", async () => {
      const { store, deploy, again } = world();
      const { applicationId, intent } = await deploy();
      await store.shards.recordProgress([aNote(applicationId, { state: "Failed", message: "Refused: no" })], soon());
      await again(intent, { generation: 2, spec: aSpec({ path: "elsewhere" }) });
      expect(await list()).toMatchObject([{ state: "Waiting", message: "Waiting: for its instance to take it" }]);
      expect((await store.intents.readByIds([applicationId], soon()))[0]?.trouble).toBeUndefined();
    });
  });

  describe("a deletion that hangs", () => {
    it("shows its user what holds it, once per change", async () => {
      const { store, deploy, remove } = world();
      const deployed = await deploy();
      const { applicationId } = deployed;
      await remove(deployed.intent);
      const view = async () => (await store.intents.readByIds([applicationId], soon()))[0]!;
      expect((await view()).blockage).toBeUndefined();
      const { viewRevision } = await view();
      await store.shards.recordProgress([aNote(applicationId, { blockage: HELD })], soon());
      await store.shards.recordProgress([aNote(applicationId, { blockage: HELD })], soon());
      expect(await view()).toMatchObject({ blockage: HELD, viewRevision: viewRevision + 1 });
      expect(await store.intents.listUnpublished("main", page, soon())).toEqual([applicationId]);
      await store.shards.recordProgress([aNote(applicationId)], soon());
      expect(await view()).toMatchObject({ blockage: undefined, viewRevision: viewRevision + 2 });
    });

    it("is noted at the deletion, whose operation ends when it does", async () => {
      const { store, deploy, remove } = world();
      const deployed = await deploy();
      await remove(deployed.intent);
      await store.shards.recordProgress([aNote(deployed.applicationId, { message: "Deletion blocked", blockage: HELD })], soon());
      expect(await list()).toMatchObject([
        { kind: "apply-application", state: "Completed" },
        { kind: "delete-application", state: "In_Progress", message: "Deletion blocked" },
      ]);
      await store.shards.forgetApplications([deployed.applicationId], soon());
      expect((await list()).map(({ state }) => state)).toEqual(["Completed", "Completed"]);
    });
  });
}
