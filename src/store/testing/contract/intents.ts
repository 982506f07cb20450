import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import { anIntent, aSpec } from "../builders.ts";
import { soon, type World } from "../world.ts";

export function describeIntents(world: () => World): void {
  describe("recording what users want", () => {
    it("makes workspace, unit, application and operation of a first intent", async () => {
      const { store, record, unit, application } = world();
      const intent = await record();
      expect(intent.applicationId).toBe(intent.newIds.applicationId);
      expect(await application(intent.applicationId)).toEqual({
        id: intent.applicationId,
        workspaceId: intent.newIds.workspaceId,
        unitId: intent.newIds.unitId,
        name: intent.name,
        uid: intent.uid,
        generation: 1,
        spec: intent.spec,
        argoName: intent.argoName,
        desiredRevision: 1,
        deletion: "none",
        deletedAt: undefined,
      });
      expect(await unit(intent.applicationId)).toMatchObject({
        owner: undefined,
        epoch: 0,
        phase: "UNPLACED",
        bucket: 0,
        class: intent.class,
        desiredRevision: 1,
        load: { applications: 1000, milliCpu: 0 },
      });
      const [operation] = await store.operations.listOperations({}, { limit: 10, after: "" }, soon());
      expect(operation).toMatchObject({
        id: intent.newIds.operationId,
        kind: "apply-application",
        state: "Waiting",
        subject: intent.applicationId,
        instanceId: undefined,
        attempts: 0,
      });
    });

    it("gives an application the name that was kept for it, and nobody a name that another has", async () => {
      const { store, record, application, again } = world();
      const keep = (uid: string, argoName: string) => store.intents.keepName({ uid, argoName, goneBefore: millis(0) }, soon());
      const intent = anIntent({ argoName: "made" });
      expect(await keep(intent.uid, "web")).toBe("kept");
      expect(await keep(intent.uid, "web")).toBe("kept");
      expect(await keep(intent.uid, "other")).toBe("taken");
      expect(await keep("somebody", "web")).toBe("taken");
      const { applicationId } = await record(intent);
      expect((await application(applicationId)).argoName).toBe("web");
      await again(intent, { generation: 2, spec: aSpec({ path: "x" }) });
      expect((await application(applicationId)).argoName).toBe("web");
      expect(await keep(intent.uid, "web")).toBe("kept");
      expect(await keep(intent.uid, "other")).toBe("late");
      const plain = await record({ argoName: "plain" });
      expect(await keep(plain.uid, "late")).toBe("late");
      expect(await keep("somebody", "plain")).toBe("taken");
    });

    it("gives a name that two want at once to one of them", async () => {
      const { store } = world();
      const uids = Array.from({ length: 8 }, (_, index) => `uid-${index}`);
      const outcomes = await Promise.all(
        uids.map((uid) => store.intents.keepName({ uid, argoName: "web", goneBefore: millis(0) }, soon())),
      );
      expect(outcomes.toSorted()).toEqual(["kept", ...Array.from({ length: 7 }, () => "taken")]);
    });

    it("gives a name anew that was kept for who never came, or went, and not one that is in use", async () => {
      const { store, record, remove, application } = world();
      const keep = (uid: string, goneBefore: number) =>
        store.intents.keepName({ uid, argoName: "web", goneBefore: millis(goneBefore) }, soon());
      const later = Date.now() + 3_600_000;
      const [never, used, next] = [anIntent(), anIntent(), anIntent()];
      expect(await keep(never.uid, later)).toBe("kept");
      expect(await keep(used.uid, 0)).toBe("taken");
      expect(await keep(used.uid, later)).toBe("kept");
      const { applicationId } = await record(used);
      expect((await application(applicationId)).argoName).toBe("web");
      expect(await keep(next.uid, later)).toBe("taken");
      expect((await application((await record(never)).applicationId)).argoName).toBe(never.argoName);
      // Nothing of it was ever placed: its row goes at once.
      await remove(used);
      expect(await keep(next.uid, later)).toBe("kept");
    });

    it("answers in the order it was asked, whatever order rows are written in", async () => {
      const { store } = world();
      const intents = Array.from({ length: 60 }, (_, index) => anIntent({ namespace: `team-${index % 7}` })).sort((a, b) =>
        a.argoName < b.argoName ? 1 : -1,
      );
      const outcomes = await store.intents.recordDeployments(intents, soon());
      expect(outcomes).toEqual(intents.map((intent) => ({ kind: "created", applicationId: intent.newIds.applicationId })));
      expect(await store.operations.listWorkspaces({}, { limit: 100, after: "" }, soon())).toHaveLength(7);
    });

    it("gives a namespace one workspace and one unit however many of its intents come at once", async () => {
      const { store } = world();
      const batches = Array.from({ length: 12 }, () => [anIntent(), anIntent()]);
      await Promise.all(batches.map((batch) => store.intents.recordDeployments(batch, soon())));
      const found = await store.operations.listWorkspaces({}, { limit: 100, after: "" }, soon());
      expect(found).toMatchObject([{ applications: 24, units: [{ load: { applications: 24_000 } }] }]);
    });

    it("takes a namespace re-created under its name for another workspace", async () => {
      const { store, record } = world();
      const first = await record();
      const second = await record({ workspace: { ...first.workspace, namespaceUid: "another" } });
      expect(await store.operations.listWorkspaces({ namespace: "team" }, { limit: 100, after: "" }, soon())).toHaveLength(2);
      expect(second.newIds.workspaceId).not.toBe(first.newIds.workspaceId);
    });

    it("leaves a row alone that says the same already", async () => {
      const { record, again, application, notificationsOf } = world();
      const intent = await record();
      expect(
        await notificationsOf(async () =>
          expect(await again(intent, {})).toEqual([{ kind: "unchanged", applicationId: intent.applicationId }]),
        ),
      ).toEqual([]);
      expect(await application(intent.applicationId)).toMatchObject({ desiredRevision: 1, generation: 1 });
    });

    it("notes a new generation of an unchanged wish without asking for anything", async () => {
      const { record, again, application } = world();
      const intent = await record();
      expect(await again(intent, { generation: 4 })).toMatchObject([{ kind: "unchanged" }]);
      expect(await application(intent.applicationId)).toMatchObject({ desiredRevision: 1, generation: 4 });
    });

    it("raises the revision of a wish that changed", async () => {
      const { record, again, application } = world();
      const intent = await record();
      const spec = aSpec({ path: "other" });
      expect(await again(intent, { generation: 2, spec })).toEqual([{ kind: "updated", applicationId: intent.applicationId }]);
      expect(await application(intent.applicationId)).toMatchObject({ desiredRevision: 2, generation: 2, spec });
    });

    it("takes a change that came without a new generation, as one of annotations does", async () => {
      const { record, again, application } = world();
      const intent = await record();
      expect(await again(intent, { spec: { ...intent.spec, refresh: "now" } })).toMatchObject([{ kind: "updated" }]);
      expect((await application(intent.applicationId)).spec.refresh).toBe("now");
    });

    it("does not let an older generation undo a newer one", async () => {
      const { record, again, application } = world();
      const intent = await record({ generation: 5 });
      expect(await again(intent, { generation: 4, spec: aSpec({ path: "old" }) })).toMatchObject([{ kind: "unchanged" }]);
      expect(await application(intent.applicationId)).toMatchObject({ generation: 5, desiredRevision: 1, spec: intent.spec });
    });

    it("keeps the first name an application got in Argo CD", async () => {
      const { record, again, application } = world();
      const intent = await record();
      await again(intent, { generation: 2, spec: aSpec({ path: "x" }), argoName: "other" });
      expect((await application(intent.applicationId)).argoName).toBe(intent.argoName);
    });

    it("treats a resource re-created under its name as another application", async () => {
      const { record, remove, application } = world();
      const first = await record({ name: "web" });
      const deployedUnit = await application(first.applicationId);
      await remove(first);
      const second = await record({ name: "web" });
      expect(second.applicationId).not.toBe(first.applicationId);
      expect((await application(second.applicationId)).unitId).toBe(deployedUnit.unitId);
    });

    it("coalesces what waits for the same application into one operation", async () => {
      const { store, record, again } = world();
      const intent = await record();
      await again(intent, { generation: 2, spec: aSpec({ path: "b" }) });
      await again(intent, { generation: 3, spec: aSpec({ path: "c" }) });
      expect(await store.operations.listOperations({ state: "Waiting" }, { limit: 10, after: "" }, soon())).toMatchObject([
        { id: intent.newIds.operationId },
      ]);
    });

    it("takes whatever characters a stranger writes, and harms nobody else's intent", async () => {
      const { store, application } = world();
      const strange = anIntent({ spec: aSpec({ path: '\u0000{"\\u0000\ud800}\\', targetRevision: "a\"b'c,{}\n" }) });
      const plain = anIntent();
      expect(await store.intents.recordDeployments([strange, plain], soon())).toMatchObject([{ kind: "created" }, { kind: "created" }]);
      expect((await application(strange.newIds.applicationId)).spec).toEqual(strange.spec);
    });

    it("takes a repository whose URL has as many bytes as any, and harms nobody else's intent", async () => {
      const { store, application } = world();
      const path = Array.from({ length: 2000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000))).join("");
      const long = anIntent({ spec: aSpec({ repoUrl: `git@git.example:${path}` }) });
      const batch = [long, anIntent({ spec: aSpec({ repoUrl: `${long.spec.source.repoUrl}b` }) }), anIntent()];
      expect(await store.intents.recordDeployments(batch, soon())).toMatchObject(batch.map(() => ({ kind: "created" })));
      expect((await application(long.newIds.applicationId)).spec).toEqual(long.spec);
    });

    it("takes an empty batch", async () => {
      const { store } = world();
      expect(await store.intents.recordDeployments([], soon())).toEqual([]);
    });

    it("gives the second of two writers of one uid the row of the first", async () => {
      const { store } = world();
      const intent = anIntent();
      const others = Array.from({ length: 8 }, () => ({ ...intent, newIds: anIntent().newIds }));
      const outcomes = (await Promise.all(others.map((one) => store.intents.recordDeployments([one], soon())))).flat();
      expect(new Set(outcomes.map((outcome) => outcome.applicationId)).size).toBe(1);
      expect(outcomes.filter((outcome) => outcome.kind === "created")).toHaveLength(1);
    });

    it("lets overlapping batches in opposite order through", async () => {
      const { store, application } = world();
      const intents = Array.from({ length: 40 }, (_, index) => anIntent({ namespace: `team-${index % 5}` }));
      await store.intents.recordDeployments(intents, soon());
      const rounds = Array.from({ length: 10 }, (_, round) =>
        intents.map((intent) => ({ ...intent, generation: 2 + round, newIds: anIntent().newIds, spec: aSpec({ path: `round-${round}` }) })),
      );
      await Promise.all(
        rounds.map((batch, round) => store.intents.recordDeployments(round % 2 === 0 ? batch : batch.toReversed(), soon())),
      );
      for (const intent of intents)
        expect(await application(intent.newIds.applicationId)).toMatchObject({ generation: 11, spec: { source: { path: "round-9" } } });
    });
  });

  describe("hinting at what users want", () => {
    it("hints at the unit while it has no owner", async () => {
      const { record, notificationsOf } = world();
      const intent = anIntent();
      expect(await notificationsOf(() => record(intent))).toEqual([`unit:${intent.newIds.unitId}`]);
    });

    it("hints at the application once its unit has an owner", async () => {
      const { deploy, record, notificationsOf } = world();
      await deploy();
      const intent = anIntent();
      expect(await notificationsOf(() => record(intent))).toEqual([`application:${intent.newIds.applicationId}`]);
    });

    it("hints at the unit too, and raises its revision, when its repositories change", async () => {
      const { deploy, record, again, unit, notificationsOf } = world();
      const { unitId, applicationId, intent } = await deploy();
      const added = anIntent({ spec: aSpec({ repoUrl: "https://git.example/team/second" }) });
      expect(await notificationsOf(() => record(added))).toEqual([`application:${added.newIds.applicationId}`, `unit:${unitId}`]);
      expect((await unit(applicationId)).desiredRevision).toBe(2);
      const moved = aSpec({ repoUrl: "https://git.example/team/third" });
      expect(await notificationsOf(() => again(intent, { generation: 2, spec: moved }))).toEqual([
        `application:${applicationId}`,
        `unit:${unitId}`,
      ]);
      expect((await unit(applicationId)).desiredRevision).toBe(3);
    });

    it("keeps the unit's revision while its repositories stay the same set", async () => {
      const { store, deploy, record, again, unit, notificationsOf } = world();
      const { intent, applicationId } = await deploy();
      const second = await record();
      const third = await record({ spec: aSpec({ repoUrl: "https://git.example/team/other" }) });
      const before = (await unit(applicationId)).desiredRevision;
      expect(await notificationsOf(() => again(intent, { generation: 2, spec: third.spec }))).toEqual([`application:${applicationId}`]);
      const swap = [
        { ...second, generation: 2, spec: third.spec },
        { ...third, generation: 2, spec: intent.spec },
      ].map((one) => ({ ...one, newIds: anIntent().newIds }));
      await store.intents.recordDeployments(swap, soon());
      expect((await unit(applicationId)).desiredRevision).toBe(before);
      expect((await store.shards.readUnit((await unit(applicationId)).id, soon()))?.repoUrls).toEqual([
        "https://git.example/team/app",
        "https://git.example/team/other",
      ]);
    });

    it("raises the unit's revision once when the last user of a repository leaves it", async () => {
      const { record, again, deploy, unit } = world();
      const { applicationId } = await deploy();
      const only = await record({ spec: aSpec({ repoUrl: "https://git.example/team/only" }) });
      await again(only, { generation: 2, spec: aSpec() });
      expect((await unit(applicationId)).desiredRevision).toBe(3);
    });
  });
}
