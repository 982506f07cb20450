import { describe, expect, it } from "vitest";
import type { MoveId, UnitId, WorkspaceId } from "../../../domain/ids.ts";
import type { MovePhase } from "../../../domain/move.ts";
import { aDecision, CLASS, WIDE } from "../builders.ts";
import { type Deployed, soon, type World } from "../world.ts";

const OTHER = "eu/shared/internal";
const UNTIL_COMMIT: readonly MovePhase[] = ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT"];

export function describeClasses(world: () => World): void {
  const assign = (workspaceId: WorkspaceId, className = OTHER, decision = aDecision({ subject: workspaceId, verdict: "CLASS_CHANGED" })) =>
    world().store.intents.assignClass({ workspaceId, class: className, trustClass: className.split("/")[2] ?? "", decision }, soon());
  const read = async (id: UnitId) => {
    const found = await world().store.placements.readUnit(id, soon());
    const { class: own, wantedClass, owner, rowVersion } = found?.unit ?? {};
    return { class: own, wantedClass, owner, rowVersion, trust: found?.workspace.trustClass };
  };
  const listed = () => world().store.placements.listUnsettled({ limit: 10, after: "" }, soon());
  const known = async () =>
    (await world().store.intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, soon())).map(({ classes }) => classes);
  const judgedBy = async () => (await world().store.intents.listClasses("main", soon())).map(({ classes }) => classes);
  const move = async ({ unitId, epoch }: Deployed, to: string) => {
    const { moves } = world().store;
    const id = `move-of-${unitId}` as MoveId;
    const asked = {
      id,
      unitId,
      to: to as never,
      epoch,
      kind: "voluntary",
      reason: "FORCED",
      plan: undefined,
      reverses: undefined,
    } as const;
    const request = { ...asked, isFailOver: false, actor: "scheduler", ceiling: WIDE, decision: aDecision({ subject: unitId }) };
    expect(await moves.request(request, soon())).toEqual({ kind: "requested" });
    expect(await moves.begin(id, soon())).toBe("begun");
    for (const [index, from] of UNTIL_COMMIT.entries()) {
      const next = UNTIL_COMMIT[index + 1];
      if (next !== undefined) await moves.advance(id, { from, to: next, message: "" }, soon());
    }
    return () => moves.commit(id, aDecision({ subject: unitId, verdict: "MOVED" }), soon());
  };

  describe("a class that a rule gives a workspace", () => {
    it("is its unit's at once while that has no owner, with the trust of it, and is notified and journaled", async () => {
      const { store, record, unit, notificationsOf } = world();
      const { id, workspaceId, rowVersion } = await unit((await record()).applicationId);
      expect(await known()).toEqual([[CLASS]]);
      const decision = aDecision({ subject: workspaceId, verdict: "CLASS_CHANGED" });
      expect(await notificationsOf(() => assign(workspaceId, OTHER, decision))).toEqual([`class:${workspaceId}`, `unit:${id}`]);
      expect(await read(id)).toEqual({
        class: OTHER,
        wantedClass: undefined,
        owner: undefined,
        rowVersion: rowVersion + 1,
        trust: "internal",
      });
      expect(await store.decisions.list({ subject: workspaceId }, 10, soon())).toEqual([decision]);
      expect(await listed()).toEqual([id]);
      expect(await known()).toEqual([[OTHER]]);
    });

    it("is wanted for a unit that lives somewhere, which keeps its class and trust until then", async () => {
      const { deploy, notificationsOf } = world();
      const { unitId, workspaceId, instanceId } = await deploy();
      expect(await notificationsOf(() => assign(workspaceId))).toEqual([`class:${workspaceId}`, `unit:${unitId}`]);
      expect(await read(unitId)).toMatchObject({ class: CLASS, wantedClass: OTHER, owner: instanceId, trust: "public" });
      expect(await listed()).toEqual([unitId]);
      expect(await world().store.placements.listUnsettled({ limit: 10, after: unitId }, soon())).toEqual([]);
      expect(await known()).toEqual([[OTHER]]);
    });

    it("is wanted once: the same again changes nothing, and the class it has takes that back", async () => {
      const { store, deploy, notificationsOf } = world();
      const { unitId, workspaceId } = await deploy();
      await assign(workspaceId);
      const before = await read(unitId);
      expect(await notificationsOf(() => assign(workspaceId))).toEqual([]);
      expect(await read(unitId)).toEqual(before);
      expect(await store.decisions.list({ subject: workspaceId }, 10, soon())).toHaveLength(1);
      expect(await notificationsOf(() => assign(workspaceId, CLASS))).toEqual([`class:${workspaceId}`, `unit:${unitId}`]);
      expect(await read(unitId)).toMatchObject({ class: CLASS, wantedClass: undefined });
      expect(await listed()).toEqual([]);
    });

    it("is the unit's when a move has brought it to an instance of that class, and not before", async () => {
      const { store, deploy, addInstance, notificationsOf } = world();
      const deployed = await deploy();
      await assign(deployed.workspaceId);
      const { id: to } = await addInstance({ class: OTHER });
      const commit = await move(deployed, to);
      expect(await read(deployed.unitId)).toMatchObject({ class: CLASS, wantedClass: OTHER });
      expect(await listed()).toEqual([]);
      expect(await judgedBy()).toEqual([[OTHER, CLASS].sort()]);
      expect(await notificationsOf(commit)).toContain(`class:${deployed.workspaceId}`);
      expect(await judgedBy()).toEqual([[OTHER]]);
      expect(await read(deployed.unitId)).toMatchObject({ class: OTHER, wantedClass: undefined, owner: to, trust: "internal" });
      expect(await listed()).toEqual([]);
      const { moves } = await store.plans.readFacts(OTHER, 0 as never, soon());
      expect(moves).toMatchObject([{ unit: deployed.unitId, to }]);
    });

    it("is still wanted after a move within the class the unit has, and its trust is that of its instance", async () => {
      const { deploy, addInstance, notificationsOf } = world();
      const deployed = await deploy();
      await assign(deployed.workspaceId);
      const commit = await move(deployed, (await addInstance()).id);
      expect(await notificationsOf(commit)).not.toContain(`class:${deployed.workspaceId}`);
      expect(await read(deployed.unitId)).toMatchObject({ class: CLASS, wantedClass: OTHER, trust: "public" });
    });

    it("is wanted back where that was taken back while a move went there", async () => {
      const { deploy, addInstance } = world();
      const deployed = await deploy();
      await assign(deployed.workspaceId);
      const commit = await move(deployed, (await addInstance({ class: OTHER })).id);
      await assign(deployed.workspaceId, CLASS);
      await commit();
      expect(await read(deployed.unitId)).toMatchObject({ class: OTHER, wantedClass: undefined });
      await assign(deployed.workspaceId, CLASS);
      expect(await read(deployed.unitId)).toMatchObject({ class: OTHER, wantedClass: CLASS });
    });

    it("is taken from the owner where a move left the unit's class as it was", async () => {
      const { store, deploy, addInstance, unit, notificationsOf } = world();
      const { unitId, workspaceId, applicationId } = await deploy();
      await assign(workspaceId);
      expect(await notificationsOf(() => store.placements.takeClassOfOwner(unitId, soon()))).not.toContain(`class:${workspaceId}`);
      expect(await read(unitId)).toMatchObject({ class: CLASS, wantedClass: OTHER });
      const late = await unit((await world().record({ namespace: "late" })).applicationId);
      await world().place(late.id, (await addInstance({ class: OTHER })).id);
      expect(await notificationsOf(() => store.placements.takeClassOfOwner(late.id, soon()))).toContain(`class:${late.workspaceId}`);
      expect(await read(late.id)).toMatchObject({ class: OTHER, wantedClass: undefined, trust: "internal" });
      expect((await unit(applicationId)).class).toBe(CLASS);
    });

    it("that no instance has room for is journaled once for each reason, and no user hears of it", async () => {
      const { store, deploy, notificationsOf, addInstance } = world();
      const deployed = await deploy();
      const { unitId, workspaceId } = deployed;
      const refuse = (reason: string) =>
        store.placements.recordUnplaceable(unitId, { decision: aDecision({ subject: unitId, verdict: "UNPLACEABLE" }), reason }, soon());
      await refuse("BOUND");
      await assign(workspaceId);
      const refuseTwice = async () => {
        await refuse("BOUND");
        await refuse("BOUND");
      };
      expect(await notificationsOf(refuseTwice)).toEqual([]);
      await refuse("NO_INSTANCE");
      expect((await store.decisions.list({ subject: unitId, verdict: "UNPLACEABLE" }, 10, soon())).length).toBe(2);
      await (await move(deployed, (await addInstance({ class: OTHER })).id))();
      await assign(workspaceId, CLASS);
      await refuse("NO_INSTANCE");
      expect((await store.decisions.list({ subject: unitId, verdict: "UNPLACEABLE" }, 10, soon())).length).toBe(3);
    });

    it("is listed beside the one that was assigned, for each workspace of the cluster alone, by what its units have", async () => {
      const { store, record, unit } = world();
      const { workspaceId } = await unit((await record()).applicationId);
      const [before] = await store.intents.listClasses("main", soon());
      expect(before).toEqual({ namespace: "team", namespaceUid: "uid-of-team", classes: [CLASS] });
      const assigned = { class: OTHER, actor: "ada", reason: "asked for", at: aDecision().at };
      await store.directives.direct({ workspaceId, change: { assigned }, decision: aDecision({ subject: workspaceId }) }, soon());
      expect(await store.intents.listClasses("main", soon())).toEqual([{ ...before, assigned: OTHER }]);
      expect(await store.intents.listClasses("elsewhere", soon())).toEqual([]);
    });

    it("is nobody's where the workspace is gone", async () => {
      expect(await world().notificationsOf(() => assign("nobody" as WorkspaceId))).toEqual([]);
      expect(await world().store.decisions.list({ subject: "nobody" }, 10, soon())).toEqual([]);
    });
  });
}
