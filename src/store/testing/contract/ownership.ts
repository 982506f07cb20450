import { describe, expect, it } from "vitest";
import { aClaim, aConnection, anIntent, aSpec, aStatus, CLASS } from "../builders.ts";
import { soon, type World } from "../world.ts";

export function describeOwnership(world: () => World): void {
  describe("who has to work for what", () => {
    const list = (after = "", limit = 100) => world().store.ownership.listOwned({ after, limit }, soon());

    it("is every application of a placed unit, page by page, with whether it has stood", async () => {
      const { store, deploy, record, remove } = world();
      const [fresh, stood, leaving] = [
        await deploy({ namespace: "a" }),
        await deploy({ namespace: "b" }),
        await deploy({ namespace: "c" }),
      ];
      await record({ namespace: "nowhere" });
      await store.statuses.recordStatuses([aStatus(stood)], soon());
      await remove(leaving.intent);
      const all = await list();
      expect(all.map(({ id }) => id)).toEqual([fresh, stood, leaving].map(({ applicationId }) => applicationId).sort());
      const of = (id: string) => all.find((row) => row.id === id);
      expect(of(fresh.applicationId)).toMatchObject({
        unitId: fresh.unitId,
        owner: fresh.instanceId,
        class: CLASS,
        isMoving: false,
        hasStood: false,
      });
      expect(of(stood.applicationId)).toMatchObject({ hasStood: true, isLeaving: false });
      expect(of(leaving.applicationId)).toMatchObject({ isLeaving: true });
      const [first, second] = [await list("", 2), await list(all[1]?.id, 2)];
      expect([...first, ...second]).toEqual(all);
    });

    it("is not expected to stand while its environment is away", async () => {
      const { store, deploy } = world();
      const environment = await store.environments.claim({ ...aClaim(), workspace: anIntent().workspace }, soon());
      const deployed = await deploy({ spec: { ...aSpec(), destination: { environment: "prod" } } });
      await store.statuses.recordStatuses([aStatus(deployed)], soon());
      expect(await list()).toMatchObject([{ hasStood: false }]);
      await store.environments.connect(aConnection(environment.id), soon());
      await store.statuses.recordStatuses([aStatus(deployed)], soon());
      expect(await list()).toMatchObject([{ hasStood: true }]);
    });
  });
}
