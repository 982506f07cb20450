import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import { contentHash } from "../../../domain/hash.ts";
import type { ApplicationId, MoveId } from "../../../domain/ids.ts";
import { AT, aDecision, anIntent, anObject, aSpec, aStatus, WIDE } from "../builders.ts";
import { soon, type World } from "../world.ts";

export function describeDeletions(world: () => World): void {
  describe("deleting applications", () => {
    it("marks an application that stands somewhere, once, and notifies it", async () => {
      const { deploy, remove, application, notificationsOf } = world();
      const { intent, applicationId } = await deploy();
      expect(await notificationsOf(() => remove(intent))).toEqual([`application:${applicationId}`]);
      const marked = await application(applicationId);
      expect(marked.deletion).toBe("cascade");
      expect(marked.deletedAt).toEqual(expect.any(Number));
      expect(await notificationsOf(() => remove(intent))).toEqual([]);
      expect(await application(applicationId)).toEqual(marked);
    });

    it("ignores uids nobody knows", async () => {
      const { remove, notificationsOf } = world();
      expect(await notificationsOf(() => remove(anIntent()))).toEqual([]);
    });

    it("lets a cascade become an orphan, never an orphan a cascade", async () => {
      const { deploy, remove, application, notificationsOf } = world();
      const { intent, applicationId } = await deploy();
      await remove(intent, "cascade");
      const { deletedAt } = await application(applicationId);
      expect(await notificationsOf(() => remove(intent, "orphan"))).toEqual([`application:${applicationId}`]);
      expect(await application(applicationId)).toMatchObject({ deletion: "orphan", deletedAt });
      expect(await notificationsOf(() => remove(intent, "cascade"))).toEqual([]);
      expect(await application(applicationId)).toMatchObject({ deletion: "orphan" });
    });

    it("does not revive a row that is being deleted", async () => {
      const { deploy, remove, again, application } = world();
      const { intent, applicationId } = await deploy();
      await remove(intent);
      expect(await again(intent, { generation: 9, spec: aSpec({ path: "new" }) })).toEqual([{ kind: "deleting", applicationId }]);
      expect(await application(applicationId)).toMatchObject({ generation: 1, deletion: "cascade" });
    });

    it("is told apart from a change by what is listed of its row", async () => {
      const { store, deploy, again } = world();
      const { intent } = await deploy();
      const listed = async () => (await store.intents.listKnown("main", { limit: 1_000, after: "" }, soon()))[0];
      expect(await listed()).toMatchObject({ uid: intent.uid, generation: 1 });
      expect(await listed()).not.toHaveProperty("refresh");
      await again(intent, { generation: 2, spec: { ...intent.spec, refresh: "poke" } });
      expect(await listed()).toMatchObject({ uid: intent.uid, generation: 2, refresh: "poke" });
      // Nothing but its generation is another: that is recorded too.
      await again(intent, { generation: 3, spec: { ...intent.spec, refresh: "poke" } });
      expect(await listed()).toMatchObject({ generation: 3 });
    });

    it.each([
      ["plain", "text"],
      ["strange", 'é 𝄞 "\\ \n'],
    ])("is listed with a hash of what was recorded last, %s text too", async (_what, text) => {
      const { store, deploy, again, remove } = world();
      const { intent, workspaceId } = await deploy();
      const hashes = async () =>
        (await store.intents.listKnown("main", { limit: 1_000, after: "" }, soon())).map(({ specHash }) => specHash);
      expect(await hashes()).toEqual([contentHash(intent.spec)]);
      const spec = aSpec({ path: `new ${text}` });
      await again(intent, { generation: 2, spec });
      expect(await hashes()).toEqual([contentHash(spec)]);
      await store.intents.recordWorkspaceEnds([workspaceId], soon());
      expect(await hashes()).toEqual([undefined]);
      await again(intent, { generation: 2, spec });
      expect(await hashes()).toEqual([contentHash(spec)]);
      await remove(intent);
      expect(await hashes()).toEqual([undefined]);
    });

    it("makes no row anew for what a cascade ended a moment ago, and has heard nothing of it later", async () => {
      const { store, deploy, remove, again } = world();
      const { intent, applicationId } = await deploy();
      await remove(intent);
      await store.shards.forgetApplications([applicationId], soon());
      const ended = { kind: "deleting", applicationId };
      expect(await again(intent, {})).toEqual([ended]);
      const other = { ...anIntent({ name: "other" }), workspace: intent.workspace };
      expect(await store.intents.recordDeployments([intent, other], soon())).toMatchObject([ended, { kind: "created" }]);
      expect((await store.intents.listKnown("main", { limit: 1_000, after: "" }, soon())).map(({ uid }) => uid)).toEqual([other.uid]);
      await store.retention.forgetEnded(millis(Date.now() + 60_000), 10, soon());
      expect(await again(intent, {})).toMatchObject([{ kind: "created" }]);
    });

    it("ends the operation that the deletion overtook and opens one of its own", async () => {
      const { store, deploy, remove } = world();
      const { intent, instanceId } = await deploy();
      await remove(intent);
      const operations = await store.operations.listOperations({}, { limit: 10, after: "" }, soon());
      expect(operations).toMatchObject([
        { kind: "apply-application", state: "Completed", message: expect.stringContaining("deleted") },
        { kind: "delete-application", state: "Waiting", instanceId },
      ]);
    });

    it("removes at once what was never placed, and says so", async () => {
      const { store, record, remove, notificationsOf } = world();
      const intent = await record();
      const { unitId } = (await store.shards.readApplications([intent.applicationId], soon()))[0]!.application;
      expect(await notificationsOf(() => remove(intent))).toContain(`status:${intent.applicationId}`);
      expect(await store.intents.readByIds([intent.applicationId], soon())).toEqual([]);
      expect((await store.placements.readUnit(unitId, soon()))?.unit.load.applications).toBe(0);
    });

    it("with its namespace is an orphan there, and a cascade elsewhere", async () => {
      const { deploy, remove, application, notificationsOf } = world();
      const [workspaceUnit, away] = [
        await deploy(),
        await deploy({ namespace: "other", spec: { ...aSpec(), destination: { environment: "prod", namespace: "web" } } }),
      ];
      for (const { intent } of [workspaceUnit, away]) await remove(intent, "with-namespace");
      expect(await application(workspaceUnit.applicationId)).toMatchObject({ deletion: "orphan", deletedAt: expect.any(Number) });
      expect(await application(away.applicationId)).toMatchObject({ deletion: "cascade", deletedAt: expect.any(Number) });
      for (const { intent } of [workspaceUnit, away]) expect(await notificationsOf(() => remove(intent, "with-namespace"))).toEqual([]);
      const late = await deploy({ namespace: "late" });
      await remove(late.intent, "cascade");
      await remove(late.intent, "with-namespace");
      expect(await application(late.applicationId)).toMatchObject({ deletion: "orphan" });
    });

    it("lists cascades that outlast their namespace, and no others", async () => {
      const { store, deploy, remove, application } = world();
      const away = { spec: { ...aSpec(), destination: { environment: "prod", namespace: "web" } } };
      const { intent, applicationId, workspaceId } = await deploy(away);
      const living = await deploy({ namespace: "living" });
      await remove(intent, "with-namespace");
      await remove(living.intent);
      const since = (await application(applicationId)).deletedAt ?? AT;
      const overdue = (before: number, apiCluster = "main", after = "") =>
        store.intents.listOverdue({ apiCluster, before: millis(before), limit: 10, after }, soon());
      expect(await overdue(since + 1)).toEqual([]);
      await store.intents.recordWorkspaceEnds([workspaceId], soon());
      const { name, uid, workspace } = intent;
      expect(await overdue(since + 1)).toEqual([{ uid, name, workspaceId, namespace: workspace.namespace, environment: "prod" }]);
      expect(await overdue(since)).toEqual([]);
      expect(await overdue(since + 1, "other")).toEqual([]);
      expect(await overdue(since + 1, "main", uid)).toEqual([]);
      await remove(intent, "orphan");
      expect(await overdue(since + 1)).toEqual([]);
    });

    it("lets go what is left of a namespace that is gone, also what is asked for later, and nothing of what stands elsewhere", async () => {
      const { store, deploy, remove, application, notificationsOf, record } = world();
      const { intent, applicationId, workspaceId, unitId } = await deploy();
      const { workspace } = intent;
      const away = await record({ name: "away", workspace, spec: { ...aSpec(), destination: { environment: "prod", namespace: "web" } } });
      const late = await record({ name: "late", workspace });
      for (const each of [intent, away]) await remove(each);
      const notifications = await notificationsOf(() => store.intents.recordWorkspaceEnds([workspaceId], soon()));
      expect(notifications).toEqual([`application:${applicationId}`, `unit:${unitId}`]);
      await remove(late);
      const deletions = await Promise.all([applicationId, away.applicationId, late.applicationId].map(application));
      expect(deletions.map(({ deletion }) => deletion)).toEqual(["orphan", "cascade", "orphan"]);
    });

    it("takes an empty batch", async () => {
      const { store } = world();
      await store.intents.recordDeletions([], soon());
      await store.shards.forgetApplications([], soon());
    });
  });

  describe("forgetting applications that are gone", () => {
    it("forgets only what is marked as deleted", async () => {
      const { store, deploy } = world();
      const { applicationId } = await deploy();
      await store.shards.forgetApplications([applicationId], soon());
      expect(await store.shards.readApplications([applicationId], soon())).toHaveLength(1);
    });

    it("takes the row away with all that hangs on it, and notifies its user's status", async () => {
      const { store, deploy, remove, acknowledgeUnit, notificationsOf } = world();
      const deployed = await deploy();
      const { applicationId, unitId, instanceId, epoch, intent } = deployed;
      await acknowledgeUnit(deployed);
      await store.shards.acknowledge([anObject({ instanceId, epoch, subject: applicationId })], soon());
      await store.statuses.recordStatuses([aStatus({ applicationId, instanceId, epoch })], soon());
      await remove(intent);
      expect(await notificationsOf(() => store.shards.forgetApplications([applicationId], soon()))).toEqual([
        `status:${applicationId}`,
        `unit:${unitId}`,
      ]);
      expect(await store.intents.readByUids([intent.uid], soon())).toEqual([]);
      expect(await store.shards.listApplications(instanceId, soon())).toEqual([]);
      expect(await store.shards.readUnit(unitId, soon())).toMatchObject({
        repoUrls: [],
        applications: 0,
        unit: { desiredRevision: 2, load: { applications: 0 } },
      });
      expect(await store.shards.listLagging([instanceId], 10, soon())).toEqual({ applications: [], units: [unitId] });
      expect(await store.operations.listOperations({ state: "Waiting" }, { limit: 10, after: "" }, soon())).toEqual([]);
    });

    it("keeps the unit's revision while others use the repository, and may be called twice", async () => {
      const { store, deploy, record, remove, unit, notificationsOf } = world();
      const { applicationId, intent } = await deploy();
      const other = await record();
      const before = (await unit(other.applicationId)).desiredRevision;
      await remove(intent);
      expect(await notificationsOf(() => store.shards.forgetApplications([applicationId], soon()))).toEqual([`status:${applicationId}`]);
      expect(await notificationsOf(() => store.shards.forgetApplications([applicationId], soon()))).toEqual([]);
      expect(await unit(other.applicationId)).toMatchObject({ desiredRevision: before, load: { applications: 1000 } });
    });

    it("counts right when applications come and go at once", async () => {
      const { store, deploy, record } = world();
      const { unitId } = await deploy();
      const leaving = await Promise.all(Array.from({ length: 12 }, () => record()));
      const deletions = leaving.map(({ uid }) => ({ uid, deletion: "cascade" as const, operationId: anIntent().newIds.operationId }));
      await store.intents.recordDeletions(deletions, soon());
      await Promise.all([
        ...leaving.map(({ applicationId }) => store.shards.forgetApplications([applicationId], soon())),
        ...Array.from({ length: 12 }, () => record()),
      ]);
      expect(await store.shards.readUnit(unitId, soon())).toMatchObject({ applications: 13, unit: { load: { applications: 13_000 } } });
    });

    it("keeps in mind what a cascade ended, for the instance where its unit rests, and nothing else", async () => {
      const { store, deploy, record, remove, application } = world();
      const deployed = await deploy();
      const { applicationId, instanceId, epoch, intent, workspaceId } = deployed;
      const orphan = await record();
      const living = await record();
      const other = await deploy({ namespace: "other" });
      const { argoName } = await application(applicationId);
      const all = [living.applicationId, orphan.applicationId, applicationId, other.applicationId, "nobody" as ApplicationId];
      await remove(intent);
      await remove(orphan, "orphan");
      await remove(other.intent);
      expect(await store.shards.listEnded(instanceId, all, soon())).toEqual([]);
      await store.shards.forgetApplications([applicationId, orphan.applicationId, living.applicationId, other.applicationId], soon());
      const ended = [{ applicationId, argoName, unitEpoch: epoch }];
      expect(await store.shards.listEnded(instanceId, all, soon())).toEqual(ended);
      expect(await store.shards.listEnded(other.instanceId, [applicationId], soon())).toEqual([]);
      expect(await store.shards.listEnded(instanceId, [], soon())).toEqual([]);
      await remove(living);
      await store.shards.forgetApplications([living.applicationId], soon());
      expect((await store.shards.listEnded(instanceId, all, soon())).map((each) => each.applicationId)).toEqual(
        [applicationId, living.applicationId].sort(),
      );
      await store.intents.recordWorkspaceEnds([workspaceId], soon());
      expect(await store.shards.forgetWorkspace(workspaceId, soon())).toBe(true);
      expect(await store.shards.listEnded(instanceId, all, soon())).toEqual([]);
    });

    it("does not say what a cascade ended while its unit is handed over, and says it of the one that has it then", async () => {
      const { store, deploy, remove, addInstance } = world();
      const { applicationId, unitId, instanceId, epoch, intent } = await deploy();
      await remove(intent);
      await store.shards.forgetApplications([applicationId], soon());
      const { id: to } = await addInstance();
      const request = { id: "move-1" as MoveId, unitId, to, epoch, kind: "voluntary", reason: "FORCED", plan: undefined } as const;
      await store.moves.request(
        { ...request, reverses: undefined, isFailOver: false, actor: "otto", ceiling: WIDE, decision: aDecision() },
        soon(),
      );
      expect(await store.shards.listEnded(instanceId, [applicationId], soon())).toHaveLength(1);
      expect(await store.moves.begin(request.id, soon())).toBe("begun");
      for (const id of [instanceId, to]) expect(await store.shards.listEnded(id, [applicationId], soon())).toEqual([]);
    });

    it("never loses a repository that one application leaves while another comes to it", async () => {
      const { store, deploy, record, remove } = world();
      const deployed = await deploy();
      for (let round = 0; round < 10; round += 1) {
        const spec = aSpec({ repoUrl: `https://git.example/team/round-${round}` });
        const leaving = await record({ spec });
        await remove(leaving);
        const before = (await store.shards.readUnit(deployed.unitId, soon()))?.unit.desiredRevision ?? 0;
        // Whoever comes first: the set may end as it was, or have been empty in between. Its readers must learn of the latter.
        await Promise.all([store.shards.forgetApplications([leaving.applicationId], soon()), record({ spec })]);
        const after = await store.shards.readUnit(deployed.unitId, soon());
        expect(after?.repoUrls).toContain(spec.source.repoUrl);
        expect([0, 2]).toContain((after?.unit.desiredRevision ?? 0) - before);
      }
    });
  });

  describe("ending workspaces", () => {
    it("forgets one that is being deleted and holds nothing, with its units, operations and credentials", async () => {
      const { store, deploy, remove, notificationsOf } = world();
      const { workspaceId, unitId, instanceId, applicationId, intent } = await deploy();
      const credential = { id: "credential-1" as never, owner: workspaceId, purpose: "git" };
      await store.credentials.put(credential, "secret", soon());
      expect(await store.shards.forgetWorkspace(workspaceId, soon())).toBe(false);
      expect(await notificationsOf(() => store.intents.recordWorkspaceEnds([workspaceId], soon()))).toEqual([`unit:${unitId}`]);
      expect(await notificationsOf(() => store.intents.recordWorkspaceEnds([workspaceId], soon()))).toEqual([]);
      expect((await store.shards.listLagging([instanceId], 10, soon())).units).toEqual([unitId]);
      expect(await store.shards.forgetWorkspace(workspaceId, soon())).toBe(false);
      await remove(intent);
      await store.shards.forgetApplications([applicationId], soon());
      expect(await store.shards.forgetWorkspace(workspaceId, soon())).toBe(true);
      expect(await store.shards.forgetWorkspace(workspaceId, soon())).toBe(true);
      expect(await store.placements.readUnit(unitId, soon())).toBeUndefined();
      expect(await store.operations.listOperations({}, { limit: 10, after: "" }, soon())).toEqual([]);
      expect(await store.shards.listLagging([instanceId], 10, soon())).toEqual({ applications: [], units: [] });
      expect(await store.credentials.read(credential, soon())).toBeUndefined();
    });

    it("keeps one that holds nothing and is not being deleted", async () => {
      const { store, deploy, remove } = world();
      const { workspaceId, unitId, applicationId, intent } = await deploy();
      await remove(intent);
      await store.shards.forgetApplications([applicationId], soon());
      expect(await store.shards.forgetWorkspace(workspaceId, soon())).toBe(false);
      expect(await store.placements.readUnit(unitId, soon())).toBeDefined();
    });

    it("removes at once a workspace that never held anything anywhere", async () => {
      const { store, record, remove } = world();
      const intent = await record();
      await store.intents.recordWorkspaceEnds([intent.newIds.workspaceId], soon());
      expect(await store.intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, soon())).toMatchObject([{ state: "deleting" }]);
      await remove(intent);
      await store.intents.recordWorkspaceEnds([intent.newIds.workspaceId], soon());
      expect(await store.intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, soon())).toEqual([]);
      expect(await store.placements.listUnsettled({ limit: 10, after: "" }, soon())).toEqual([]);
    });

    it("makes one active again that somebody wants something in, and renews its objects", async () => {
      const { store, deploy, record, unit, notificationsOf } = world();
      const { workspaceId, unitId, applicationId } = await deploy();
      await store.intents.recordWorkspaceEnds([workspaceId], soon());
      const before = (await unit(applicationId)).desiredRevision;
      expect(await notificationsOf(() => record())).toContain(`unit:${unitId}`);
      expect((await unit(applicationId)).desiredRevision).toBe(before + 1);
      expect(await store.intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, soon())).toMatchObject([
        { workspaceId, state: "active" },
      ]);
    });

    it("never gives an epoch twice, not even after a workspace was removed and made anew", async () => {
      const { store, deploy, remove } = world();
      const first = await deploy();
      await remove(first.intent);
      await store.shards.forgetApplications([first.applicationId], soon());
      await store.intents.recordWorkspaceEnds([first.workspaceId], soon());
      expect(await store.shards.forgetWorkspace(first.workspaceId, soon())).toBe(true);
      expect((await deploy()).epoch).toBeGreaterThan(first.epoch);
    });
  });
}
