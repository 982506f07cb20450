import { describe, expect, it } from "vitest";
import type { ApplicationId, InstanceId, UnitId } from "../../../domain/ids.ts";
import { UNIT_OBJECT_KINDS } from "../../shard/unit-object-kinds.ts";
import { anObject, aSpec } from "../builders.ts";
import { type Deployed, soon, type World } from "../world.ts";

export function describeShards(world: () => World): void {
  const read = async (id: ApplicationId) => (await world().store.shards.readApplications([id], soon()))[0];
  const ofApplication = ({ applicationId: subject, instanceId, epoch }: Deployed) => anObject({ subject, instanceId, epoch });

  describe("what an instance should hold", () => {
    it("is each application with its unit, its workspace and what is acknowledged", async () => {
      const { store, deploy, unit, application, acknowledgeUnit } = world();
      const deployed = await deploy();
      const expected = {
        application: await application(deployed.applicationId),
        unit: await unit(deployed.applicationId),
        workspace: { id: deployed.workspaceId, state: "active", ...deployed.intent.workspace },
        unitAppliedRevision: 0,
        acknowledged: undefined,
      };
      expect(await read(deployed.applicationId)).toEqual(expected);
      await acknowledgeUnit(deployed);
      const object = ofApplication(deployed);
      await store.shards.acknowledge([object], soon());
      expect(await read(deployed.applicationId)).toEqual({ ...expected, unitAppliedRevision: 1, acknowledged: object });
    });

    it("comes in the order it was asked for, without what is gone", async () => {
      const { store, record } = world();
      const [a, b] = [await record(), await record()];
      const found = await store.shards.readApplications([b.applicationId, "gone" as ApplicationId, a.applicationId], soon());
      expect(found.map((row) => row.application.id)).toEqual([b.applicationId, a.applicationId]);
      expect(await store.shards.readApplications([], soon())).toEqual([]);
    });

    it("is each unit with its repositories and the number of its applications", async () => {
      const { store, deploy, record, acknowledgeUnit } = world();
      const deployed = await deploy();
      for (const name of ["b", "a", "b"]) await record({ spec: aSpec({ repoUrl: `https://git.example/team/${name}` }) });
      await acknowledgeUnit(deployed);
      const found = await store.shards.readUnit(deployed.unitId, soon());
      expect(found).toMatchObject({
        applications: 4,
        repoUrls: ["https://git.example/team/a", "https://git.example/team/app", "https://git.example/team/b"],
      });
      expect(found?.acknowledged.map(({ kind }) => kind)).toEqual([...UNIT_OBJECT_KINDS]);
      expect(found?.acknowledged[0]).toEqual(
        anObject({ subject: deployed.unitId, instanceId: deployed.instanceId, epoch: deployed.epoch }, { kind: "account" }),
      );
      expect(await store.shards.readUnit("nobody" as UnitId, soon())).toBeUndefined();
    });

    it("is, of a unit's repositories, also which of them go to environments", async () => {
      const { store, record, deploy } = world();
      const deployed = await deploy();
      const elsewhere = { destination: { environment: "prod", namespace: "web" } };
      for (const name of ["b", "a", "b"])
        await record({ spec: { ...aSpec({ repoUrl: `https://git.example/team/${name}` }), ...elsewhere } });
      await record({ spec: aSpec({ repoUrl: "https://git.example/team/b" }) });
      expect(await store.shards.readUnit(deployed.unitId, soon())).toMatchObject({
        repoUrls: ["https://git.example/team/a", "https://git.example/team/app", "https://git.example/team/b"],
        environmentRepoUrls: ["https://git.example/team/a", "https://git.example/team/b"],
      });
    });

    it("is listed by instance", async () => {
      const { store, deploy, record, unit } = world();
      const deployed = await deploy();
      const { unitId, workspaceId, instanceId, epoch, applicationId, intent } = deployed;
      const second = await record();
      await deploy({ namespace: "other" });
      expect(await store.shards.listOwned(instanceId, soon())).toEqual([{ unitId, epoch, workspaceId }]);
      const rows = [
        { applicationId, argoName: intent.argoName, epoch },
        { applicationId: second.applicationId, argoName: second.argoName, epoch },
      ];
      expect(await store.shards.listApplications(instanceId, soon())).toEqual(
        rows.sort((a, b) => (a.applicationId < b.applicationId ? -1 : 1)),
      );
      expect(await store.shards.listApplications("nowhere" as InstanceId, soon())).toEqual([]);
      expect((await unit(applicationId)).owner).toBe(instanceId);
    });
  });

  describe("acknowledging", () => {
    it("takes what is of the unit's epoch and owner, and counts it", async () => {
      const { store, deploy } = world();
      const deployed = await deploy();
      expect(await store.shards.acknowledge([ofApplication(deployed)], soon())).toBe(1);
      expect(await store.shards.acknowledge([], soon())).toBe(0);
    });

    it("drops what is of another epoch, of another instance or of nothing known", async () => {
      const { store, deploy, addInstance } = world();
      const deployed = await deploy();
      const other = await addInstance();
      const object = ofApplication(deployed);
      const wrong = [
        { ...object, epoch: deployed.epoch - 1 },
        { ...object, instanceId: other.id },
        { ...object, subject: "gone" },
      ];
      for (const one of wrong) expect(await store.shards.acknowledge([one], soon())).toBe(0);
      expect(await store.shards.acknowledge([{ ...object, epoch: deployed.epoch + 1 }], soon())).toBe(0);
      expect((await read(deployed.applicationId))?.acknowledged).toBeUndefined();
    });

    it("drops an older revision than is known and takes the same once more", async () => {
      const { store, deploy, again } = world();
      const deployed = await deploy();
      await again(deployed.intent, { generation: 2, spec: aSpec({ path: "b" }) });
      const newer = { ...ofApplication(deployed), appliedRevision: 2 };
      expect(await store.shards.acknowledge([newer], soon())).toBe(1);
      expect(await store.shards.acknowledge([ofApplication(deployed)], soon())).toBe(0);
      expect(await store.shards.acknowledge([{ ...newer, uid: "made anew" }], soon())).toBe(1);
      expect((await read(deployed.applicationId))?.acknowledged).toMatchObject({ appliedRevision: 2, uid: "made anew" });
    });

    it("completes the operations it answers and no later one", async () => {
      const { store, deploy, again } = world();
      const deployed = await deploy();
      const list = () => store.operations.listOperations({}, { limit: 10, after: "" }, soon());
      await again(deployed.intent, { generation: 2, spec: aSpec({ path: "b" }) });
      await store.shards.acknowledge([ofApplication(deployed)], soon());
      expect(await list()).toMatchObject([{ state: "Waiting" }]);
      await store.shards.acknowledge([{ ...ofApplication(deployed), appliedRevision: 2 }], soon());
      expect(await list()).toMatchObject([{ state: "Completed", attempts: 1 }]);
      await again(deployed.intent, { generation: 3, spec: aSpec({ path: "c" }) });
      expect(await list()).toMatchObject([{ state: "Completed" }, { state: "Waiting" }]);
    });

    it("counts a unit's objects as standing only when all of them do", async () => {
      const { store, deploy, record } = world();
      const deployed = await deploy();
      const { unitId: subject, instanceId, epoch } = deployed;
      const applied = async () => (await read(deployed.applicationId))?.unitAppliedRevision;
      for (const [index, kind] of UNIT_OBJECT_KINDS.entries()) {
        expect(await applied()).toBe(0);
        expect(
          await store.shards.acknowledge([anObject({ subject, instanceId, epoch }, { kind, appliedRevision: index + 1 })], soon()),
        ).toBe(1);
      }
      expect(await applied()).toBe(1);
      await record({ spec: aSpec({ repoUrl: "https://git.example/team/second" }) });
      expect(await applied()).toBe(1);
    });

    it("keeps cluster entries, which belong to no unit", async () => {
      const { store, addInstance } = world();
      const { id: instanceId } = await addInstance();
      const entry = anObject({ subject: "main", instanceId, epoch: 0 }, { kind: "cluster-entry", appliedRevision: 2 });
      expect(await store.shards.acknowledge([entry], soon())).toBe(1);
      expect(await store.shards.acknowledge([{ ...entry, appliedRevision: 1 }], soon())).toBe(0);
      expect(await store.shards.listLagging([instanceId], 10, soon())).toEqual({ applications: [], units: [] });
    });

    it("lets overlapping batches in opposite order through, whatever else is written", async () => {
      const { store, deploy, record, again } = world();
      const deployed = await deploy();
      const intents = [deployed.intent, ...(await Promise.all(Array.from({ length: 29 }, () => record())))];
      const { instanceId, epoch, unitId } = deployed;
      const ids = [deployed.applicationId, ...(await store.shards.listApplications(instanceId, soon())).map((row) => row.applicationId)];
      const objects = [...new Set(ids)]
        .map((subject) => anObject({ subject, instanceId, epoch }))
        .concat(UNIT_OBJECT_KINDS.map((kind) => anObject({ subject: unitId, instanceId, epoch }, { kind })));
      const rounds = Array.from({ length: 20 }, (_, round) =>
        store.shards.acknowledge(round % 2 === 0 ? objects : objects.toReversed(), soon()),
      );
      const changes = intents.map((intent, index) =>
        again(intent, { generation: 2, spec: aSpec({ repoUrl: `https://git.example/team/${index % 3}` }) }),
      );
      expect(await Promise.all(rounds)).toEqual(rounds.map(() => objects.length));
      for (const outcome of await Promise.all(changes)) expect(outcome).toMatchObject([{ kind: "updated" }]);
    });
  });

  describe("what lags", () => {
    it("is what was never acknowledged, and no more once it was", async () => {
      const { store, deploy, acknowledgeUnit } = world();
      const deployed = await deploy();
      const { instanceId, applicationId, unitId } = deployed;
      expect(await store.shards.listLagging([instanceId], 10, soon())).toEqual({ applications: [applicationId], units: [unitId] });
      await acknowledgeUnit(deployed);
      await store.shards.acknowledge([ofApplication(deployed)], soon());
      expect(await store.shards.listLagging([instanceId], 10, soon())).toEqual({ applications: [], units: [] });
    });

    it("is what changed since, and what waits for its end", async () => {
      const { store, deploy, again, remove, record, acknowledgeUnit } = world();
      const deployed = await deploy();
      const { instanceId, unitId, applicationId, epoch } = deployed;
      const doomed = await record();
      await acknowledgeUnit(deployed);
      await store.shards.acknowledge([ofApplication(deployed), anObject({ subject: doomed.applicationId, instanceId, epoch })], soon());
      await remove(doomed);
      expect(await store.shards.listLagging([instanceId], 10, soon())).toEqual({ applications: [doomed.applicationId], units: [] });
      await again(deployed.intent, { generation: 2, spec: aSpec({ repoUrl: "https://git.example/team/other" }) });
      expect(await store.shards.listLagging([instanceId], 10, soon())).toEqual({
        applications: [applicationId, doomed.applicationId].sort(),
        units: [unitId],
      });
      expect((await store.shards.listLagging([instanceId], 1, soon())).applications).toHaveLength(1);
      expect(await store.shards.listLagging(["nowhere" as InstanceId], 10, soon())).toEqual({ applications: [], units: [] });
    });
  });
}
