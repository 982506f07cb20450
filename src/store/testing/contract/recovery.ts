import { describe, expect, it } from "vitest";
import type { InstanceId, MoveId, UnitId } from "../../../domain/ids.ts";
import type { UnitToRecover } from "../../recovery/port.ts";
import { aDecision, anObject, WIDE } from "../builders.ts";
import { soon, type World } from "../world.ts";

export function describeRecovery(world: () => World): void {
  describe("a database that is older than what it wrote", () => {
    const store = () => world().store.recovery;
    const list = (after = "", limit = 100) => store().listPlaced({ after, limit }, soon());
    const placed = async (id: UnitId): Promise<UnitToRecover> => {
      const found = (await list()).find((unit) => unit.id === id);
      if (found === undefined) throw new Error(`${id} is not placed`);
      return found;
    };
    const recordOwner = (unit: UnitToRecover, owner: InstanceId) =>
      store().recordOwner({ unit, owner, message: "restored", decision: aDecision({ subject: unit.id, verdict: "RECOVERED" }) }, soon());

    it("raises all epochs from now on above a given one, and never lowers them", async () => {
      const { deploy } = world();
      const { epoch } = await deploy({ namespace: "a" });
      expect(await store().readLastEpoch(soon())).toBe(epoch);
      await store().raiseEpochs(epoch + 1_000, soon());
      await store().raiseEpochs(epoch + 10, soon());
      expect(await store().readLastEpoch(soon())).toBe(epoch + 1_000);
      expect((await deploy({ namespace: "b" })).epoch).toBe(epoch + 1_001);
    });

    it("lists every unit that has an owner, page by page", async () => {
      const { deploy, record } = world();
      const deployed = [await deploy({ namespace: "a" }), await deploy({ namespace: "b" })];
      await record({ namespace: "nowhere" });
      const all = await list();
      expect(all.map(({ id }) => id)).toEqual(deployed.map(({ unitId }) => unitId).sort());
      for (const { unitId, instanceId, epoch } of deployed)
        expect(await placed(unitId)).toMatchObject({ owner: instanceId, epoch, phase: "IDLE", bucket: 0 });
      expect((await placed(deployed[0]?.unitId as UnitId)).namespace).toBe("a");
      expect([...(await list("", 1)), ...(await list(all[0]?.id, 5))]).toEqual(all);
    });

    it("gives a unit an owner under a new epoch: everything of it is wanted there anew, and nowhere else", async () => {
      const { store: all, deploy, addInstance, acknowledgeUnit, notificationsOf } = world();
      const deployed = await deploy();
      await acknowledgeUnit(deployed);
      const { instanceId: old, unitId, applicationId } = deployed;
      await all.shards.acknowledge([anObject({ instanceId: old, subject: applicationId, epoch: deployed.epoch })], soon());
      const { id: owner } = await addInstance();
      const before = await placed(unitId);
      expect(await notificationsOf(() => recordOwner(before, owner))).toEqual([`application:${applicationId}`, `unit:${unitId}`]);
      expect(await placed(unitId)).toMatchObject({ owner, phase: "IDLE", epoch: await store().readLastEpoch(soon()) });
      expect((await placed(unitId)).epoch).toBeGreaterThan(before.epoch);
      const [row] = await all.shards.readApplications([applicationId], soon());
      expect(row?.acknowledged ?? []).toEqual([]);
      expect(await all.shards.listActing(owner, soon())).toEqual([unitId]);
      expect(await all.shards.listActing(old, soon())).toEqual([]);
      expect(await all.decisions.list({ subject: unitId }, 1, soon())).toMatchObject([{ verdict: "RECOVERED" }]);
    });

    it("keeps the owner under a new epoch too, and ends the move that was under way", async () => {
      const { store: all, deploy, addInstance } = world();
      const { unitId, instanceId, epoch } = await deploy();
      const { id: to } = await addInstance();
      const id = "move" as MoveId;
      await all.moves.request(
        {
          ...{
            id,
            unitId,
            to,
            epoch,
            kind: "voluntary",
            reason: "FORCED",
            plan: undefined,
            reverses: undefined,
            isFailOver: false,
            actor: "otto",
          },
          ...{ ceiling: WIDE, decision: aDecision({ subject: unitId, verdict: "MOVE_REQUESTED" }) },
        },
        soon(),
      );
      expect(await all.moves.begin(id, soon())).toBe("begun");
      expect(await recordOwner(await placed(unitId), instanceId)).toBe(true);
      expect(await all.moves.read(id, soon())).toMatchObject({ phase: "ABORTED", message: "restored", endedAt: expect.any(Number) });
      expect(await placed(unitId)).toMatchObject({ owner: instanceId, phase: "IDLE" });
      expect((await placed(unitId)).epoch).toBeGreaterThan(epoch + 1);
    });

    it("leaves a unit alone that is not as it was read", async () => {
      const { deploy } = world();
      const { unitId, instanceId } = await deploy();
      const before = await placed(unitId);
      expect(await recordOwner(before, instanceId)).toBe(true);
      const after = await placed(unitId);
      expect(await recordOwner(before, instanceId)).toBe(false);
      expect(await recordOwner({ ...after, phase: "MOVING" }, instanceId)).toBe(false);
      expect(await placed(unitId)).toEqual(after);
    });
  });
}
