import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import type { ApplicationId, EnvironmentId, WorkspaceId } from "../../../domain/ids.ts";
import { AT, aDecision, anEngineStatus, aStatus, CLASS } from "../builders.ts";
import { soon, type World } from "../world.ts";

export function describeViews(world: () => World): void {
  describe("telling users how things stand", () => {
    it("shows the row with its workspace, its place and no status at first", async () => {
      const { store, record, application } = world();
      const intent = await record();
      const expected = {
        application: await application(intent.applicationId),
        workspace: { id: intent.newIds.workspaceId, state: "active", ...intent.workspace },
        unit: { owner: undefined, epoch: 0, phase: "UNPLACED" },
        isUnplaceable: false,
        status: undefined,
        publishedHash: "",
        viewRevision: 1,
      };
      expect(await store.intents.readByUids([intent.uid], soon())).toEqual([expected]);
      expect(await store.intents.readByIds([intent.applicationId], soon())).toEqual([expected]);
    });

    it("answers in the order it was asked and leaves out what is not there", async () => {
      const { store, record } = world();
      const [a, b] = [await record(), await record()];
      const found = await store.intents.readByUids([b.uid, "nobody", a.uid], soon());
      expect(found.map((view) => view.application.uid)).toEqual([b.uid, a.uid]);
      expect(
        (await store.intents.readByIds(["x" as ApplicationId, b.applicationId, a.applicationId], soon())).map(
          (view) => view.application.id,
        ),
      ).toEqual([b.applicationId, a.applicationId]);
      expect(await store.intents.readByIds([], soon())).toEqual([]);
    });

    it("shows the status exactly as it was recorded", async () => {
      const { store, deploy } = world();
      const { applicationId, instanceId, epoch, intent } = await deploy();
      const status = anEngineStatus({
        conditions: [{ type: "ComparisonError", message: 'strange \u0000 "text" \\ é {}' }],
        operationState: { phase: "Succeeded", syncResult: { revision: "abc", nested: [1, null, { a: true }] } },
        health: { status: "Degraded", message: "a\nb" },
      });
      const recorded = aStatus({ applicationId, instanceId, epoch }, { status, hash: "h" });
      await store.statuses.recordStatuses([recorded], soon());
      const [view] = await store.intents.readByUids([intent.uid], soon());
      expect(view?.status).toEqual(recorded);
    });

    it("lists syncs that are under way or said to have failed, of a workspace, of an instance or of all", async () => {
      const { store, deploy } = world();
      const [running, failed, complained] = [
        await deploy({ namespace: "a" }),
        await deploy({ namespace: "b" }),
        await deploy({ namespace: "c" }),
      ];
      const [done, never] = [await deploy({ namespace: "d" }), await deploy({ namespace: "e" })];
      const said = async ({ applicationId, instanceId, epoch }: typeof running, over: Parameters<typeof anEngineStatus>[0]) =>
        store.statuses.recordStatuses([aStatus({ applicationId, instanceId, epoch }, { status: anEngineStatus(over) })], soon());
      await said(running, { operationState: { phase: "Running" } });
      await said(failed, { operationState: { phase: "Failed", message: "a \u0000 in it" } });
      await said(complained, { operationState: undefined, conditions: [{ type: "SyncError", message: "no more" }] });
      await said(done, {
        operationState: { phase: "Succeeded" },
        conditions: [{ type: "ComparisonError", message: "like SyncError \u0000" }],
      });
      const list = async (filter: Parameters<typeof store.operations.listSyncs>[0], after = "", limit = 10) =>
        (await store.operations.listSyncs(filter, { limit, after }, soon())).map(({ application }) => application.id);
      const all = [running, failed, complained].map(({ applicationId }) => applicationId).sort();
      expect(await list({})).toEqual(all);
      expect(await list({}, all[0], 1)).toEqual([all[1]]);
      const own = all.filter((id) =>
        [running, failed, complained].some((each) => each.applicationId === id && each.workspaceId === failed.workspaceId),
      );
      expect(await list({ workspaceId: failed.workspaceId })).toEqual(own);
      const there = all.filter((id) =>
        [running, failed, complained].some((each) => each.applicationId === id && each.instanceId === failed.instanceId),
      );
      expect(await list({ owner: failed.instanceId })).toEqual(there);
      expect(await list({ workspaceId: "nobody" as WorkspaceId })).toEqual([]);
      expect(all).not.toContain(never.applicationId);
    });

    it("lists the kinds that applications have in their own namespaces, each with how many have it", async () => {
      const { store, deploy } = world();
      let count = 0;
      const said = async (kinds: readonly string[], environmentId?: EnvironmentId) => {
        count += 1;
        const { applicationId, instanceId, epoch } = await deploy({ namespace: `kinds-${count}` });
        const resources = kinds.map((each, index) => {
          const [group = "", kind = ""] = each.split("/");
          return { group, version: "v1", kind, namespace: kind === "Node" ? "" : "team", name: `n${index}`, status: "Synced" };
        });
        const comparedTo = { ...anEngineStatus().comparedTo, ...(environmentId === undefined ? {} : { environmentId }) };
        await store.statuses.recordStatuses(
          [aStatus({ applicationId, instanceId, epoch }, { status: anEngineStatus({ resources, comparedTo }) })],
          soon(),
        );
      };
      await said(["/Secret", "/Secret", "b.example/Widget", "/Node"]);
      await said(["a.example/\u0000Gadget", "/Secret"]);
      await said(["far.example/Thing"], "an-environment" as EnvironmentId);
      const kinds = await store.operations.listDeployedKinds(soon());
      expect(kinds.map(({ group, kind, applications }) => `${group}/${kind.slice(-6)} ${applications}`)).toEqual([
        "/Secret 2",
        "a.example/Gadget 1",
        "b.example/Widget 1",
      ]);
    });

    it("lists everything of one API cluster, what is being deleted included", async () => {
      const { store, deploy, record, remove } = world();
      const { intent, applicationId, workspaceId } = await deploy();
      const foreign = await record({ namespace: "other", workspace: { ...intent.workspace, apiCluster: "second" } });
      await remove(intent);
      const [known, ...rest] = await store.intents.listKnown("main", { limit: 1_000, after: "" }, soon());
      expect(rest).toEqual([]);
      expect(known).toEqual({
        generation: 1,
        applicationId,
        uid: intent.uid,
        namespace: "team",
        name: intent.name,
        deletedAt: expect.any(Number),
      });
      expect((await store.intents.listKnown("second", { limit: 1_000, after: "" }, soon())).map((one) => one.deletedAt)).toEqual([
        undefined,
      ]);
      expect(await store.intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, soon())).toEqual([
        { workspaceId, namespace: "team", namespaceUid: "uid-of-team", state: "active", classes: [CLASS] },
      ]);
      expect(foreign.newIds.workspaceId).not.toBe(workspaceId);
    });
  });

  describe("publishing", () => {
    it("lists a new application until its status was published first", async () => {
      const { store, record } = world();
      const { applicationId, uid } = await record();
      expect(await store.intents.listUnpublished("main", { limit: 10, after: "" }, soon())).toEqual([applicationId]);
      expect(await store.intents.listUnpublished("second", { limit: 10, after: "" }, soon())).toEqual([]);
      await store.intents.recordPublished([{ applicationId, hash: "h1", viewRevision: 1 }], soon());
      expect(await store.intents.listUnpublished("main", { limit: 10, after: "" }, soon())).toEqual([]);
      expect((await store.intents.readByUids([uid], soon()))[0]?.publishedHash).toBe("h1");
    });

    it("lists it again after a change of status, of place and of hope, and not after a mere refresh", async () => {
      const { store, record, addInstance, place, unit } = world();
      const { applicationId } = await record();
      const publish = async (): Promise<void> => {
        expect(await store.intents.listUnpublished("main", { limit: 10, after: "" }, soon())).toEqual([applicationId]);
        await store.intents.recordPublished([{ applicationId, hash: "h" }], soon());
        expect(await store.intents.listUnpublished("main", { limit: 10, after: "" }, soon())).toEqual([]);
      };
      await publish();
      const unplaceable = { decision: aDecision({ verdict: "UNPLACEABLE" }), reason: "full" };
      await store.placements.recordUnplaceable((await unit(applicationId)).id, unplaceable, soon());
      await publish();
      const { id: instanceId } = await addInstance();
      const epoch = await place((await unit(applicationId)).id, instanceId);
      await publish();
      await store.statuses.recordStatuses([aStatus({ applicationId, instanceId, epoch })], soon());
      await publish();
      await store.statuses.recordStatuses([aStatus({ applicationId, instanceId, epoch }, { reconciledAt: undefined })], soon());
      expect(await store.intents.listUnpublished("main", { limit: 10, after: "" }, soon())).toEqual([]);
    });

    it("keeps it listed when the status changed between reading and publishing", async () => {
      const { store, deploy } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      const [view] = await store.intents.readByIds([applicationId], soon());
      await store.statuses.recordStatuses([aStatus({ applicationId, instanceId, epoch })], soon());
      await store.intents.recordPublished([{ applicationId, hash: "old", viewRevision: view!.viewRevision }], soon());
      expect(await store.intents.listUnpublished("main", { limit: 10, after: "" }, soon())).toEqual([applicationId]);
    });

    it("never takes back what was published later, and ignores what is gone", async () => {
      const { store, record } = world();
      const { applicationId } = await record();
      await store.intents.recordPublished(
        [
          { applicationId, hash: "b", viewRevision: 1 },
          { applicationId: "gone" as ApplicationId, hash: "x" },
        ],
        soon(),
      );
      await store.intents.recordPublished([{ applicationId, hash: "a", viewRevision: 0 }], soon());
      expect(await store.intents.listUnpublished("main", { limit: 10, after: "" }, soon())).toEqual([]);
      await store.intents.recordPublished([], soon());
    });

    it("pages by key", async () => {
      const { store, record } = world();
      const made: string[] = [];
      for (let index = 0; index < 5; index += 1) made.push((await record()).applicationId);
      const page = await store.intents.listUnpublished("main", { limit: 3, after: "" }, soon());
      expect(page).toHaveLength(3);
      const rest = await store.intents.listUnpublished("main", { limit: 3, after: page.at(-1)! }, soon());
      expect([...page, ...rest]).toEqual(made.toSorted());
    });
  });

  describe("the journal", () => {
    it("is read newest first, by subjects, kind, verdict and age", async () => {
      const { decisions } = world().store;
      const entry = (subject: string, over: Parameters<typeof aDecision>[0], minutes: number) =>
        aDecision({ subject, at: millis(AT + minutes * 60_000), ...over });
      const [a, b, c] = [
        entry("a", { kind: "plan", verdict: "PROPOSED" }, 1),
        entry("b", { kind: "plan", verdict: "APPLIED" }, 2),
        entry("c", { kind: "directive", verdict: "PINNED" }, 3),
      ];
      await decisions.append([a, b, c], soon());
      expect(await decisions.list({}, 10, soon())).toEqual([c, b, a]);
      expect(await decisions.list({}, 2, soon())).toEqual([c, b]);
      expect(await decisions.list({ subject: "a" }, 10, soon())).toEqual([a]);
      expect(await decisions.list({ subjects: ["c", "a", 'no"body'] }, 10, soon())).toEqual([c, a]);
      expect(await decisions.list({ subjects: [] }, 10, soon())).toEqual([]);
      expect(await decisions.list({ kind: "plan" }, 10, soon())).toEqual([b, a]);
      expect(await decisions.list({ kind: "plan", verdict: "APPLIED" }, 10, soon())).toEqual([b]);
      expect(await decisions.list({ since: b.at }, 10, soon())).toEqual([c, b]);
      expect(await decisions.list({ subjects: ["a", "b"], since: b.at, verdict: "APPLIED" }, 10, soon())).toEqual([b]);
    });
  });

  describe("showing SREs", () => {
    it("pages by key", async () => {
      const { store, record } = world();
      for (const namespace of ["a", "b", "c"]) for (let index = 0; index < 3; index += 1) await record({ namespace });
      const pages = async <Row>(
        list: (after: string) => Promise<readonly Row[]>,
        key: (row: Row) => string,
      ): Promise<readonly string[]> => {
        const keys: string[] = [];
        for (let after = "", rows = await list(after); rows.length > 0; rows = await list(after)) {
          expect(rows.length).toBeLessThanOrEqual(2);
          keys.push(...rows.map(key));
          after = key(rows.at(-1)!);
        }
        return keys;
      };
      const { operations } = store;
      const all = await pages(
        (after) => operations.listApplications({}, { limit: 2, after }, soon()),
        (row) => row.application.id,
      );
      expect(all).toHaveLength(9);
      expect(all).toEqual(all.toSorted());
      expect(
        await pages(
          (after) => operations.listWorkspaces({}, { limit: 2, after }, soon()),
          (row) => row.workspace.id,
        ),
      ).toHaveLength(3);
      expect(
        await pages(
          (after) => operations.listOperations({}, { limit: 2, after }, soon()),
          (row) => row.id,
        ),
      ).toHaveLength(9);
    });

    it("finds by namespace, name, state and workspace", async () => {
      const { store, record, deploy, remove } = world();
      await record({ namespace: "a", name: "web" });
      const other = await record({ namespace: "b", name: "web" });
      await record({ namespace: "b", name: "db" });
      const page = { limit: 10, after: "" };
      expect(await store.operations.listApplications({ namespace: "b" }, page, soon())).toHaveLength(2);
      expect(await store.operations.listApplications({ name: "web" }, page, soon())).toHaveLength(2);
      const [found, ...rest] = await store.operations.listApplications({ namespace: "b", name: "web" }, page, soon());
      expect(rest).toEqual([]);
      expect(found).toMatchObject({
        application: { id: other.applicationId },
        workspace: { namespace: "b" },
        unit: { epoch: 0 },
        status: undefined,
      });
      expect(await store.operations.listWorkspaces({ namespace: "b" }, page, soon())).toMatchObject([
        { applications: 2, units: [{ bucket: 0 }] },
      ]);
      const deployed = await deploy({ namespace: "c" });
      await remove(deployed.intent);
      expect(await store.operations.listOperations({ state: "Completed" }, page, soon())).toHaveLength(1);
      expect(await store.operations.listOperations({ workspaceId: deployed.workspaceId, state: "Waiting" }, page, soon())).toMatchObject([
        { kind: "delete-application" },
      ]);
    });
  });
}
