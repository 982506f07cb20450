import { describe, expect, it } from "vitest";
import type { MoveId } from "../../../domain/ids.ts";
import type { MovePhase } from "../../../domain/move.ts";
import { aClaim, aConnection, aDecision, anIntent, aSpec, aStatus, CLASS, WIDE } from "../builders.ts";
import { unnotifiedBy } from "../unnotified.ts";
import { type Deployed, soon, type World } from "../world.ts";

const PHASES: readonly MovePhase[] = ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT", "GRANT", "ACTIVATE", "VERIFY", "CLEANUP", "DONE"];

export function describeOwnership(world: () => World): void {
  describe("who has to work for what", () => {
    const listPage = (after: string, limit: number) => world().store.ownership.listOwned({ after, limit }, soon());
    const list = async () => (await listPage("", 100)).owned;

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
      const [first, second] = [await listPage("", 2), await listPage((await listPage("", 2)).next ?? "", 2)];
      expect([...first.owned, ...second.owned]).toEqual(all);
      // A page is of applications, also of those that nobody owns.
      expect(await listPage(second.next ?? "", 2)).toEqual({ owned: [], next: undefined });
      expect((await listPage("", 5)).next).toBeUndefined();
    });

    it("is read of some by their ids, their units and the names of their Applications", async () => {
      const { store, deploy, record, application } = world();
      const [a, b, c] = [await deploy({ namespace: "a" }), await deploy({ namespace: "b" }), await deploy({ namespace: "c" })];
      await deploy({ namespace: "d" });
      const nowhere = await record({ namespace: "nowhere" });
      const { argoName } = await application(c.applicationId);
      const { id: nowhereUnit } = await world().unit(nowhere.applicationId);
      const read = (over: Partial<Parameters<typeof store.ownership.readOwned>[0]>) =>
        store.ownership.readOwned({ applications: [], units: [], argoNames: [], ...over }, soon());
      const all = await list();
      expect(await read({})).toEqual([]);
      expect(await read({ applications: [a.applicationId], units: [b.unitId, nowhereUnit], argoNames: [argoName, "unknown"] })).toEqual(
        all.filter(({ id }) => [a, b, c].some(({ applicationId }) => applicationId === id)),
      );
      expect(await read({ applications: [a.applicationId], units: [a.unitId] })).toEqual(all.filter(({ id }) => id === a.applicationId));
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

    it("changes with a notification: as an application comes, stands, and goes, or its environment does", async () => {
      const { store, deploy, remove } = world();
      const claim = { ...aClaim(), workspace: anIntent().workspace };
      const environment = await store.environments.claim(claim, soon());
      let deployed: Deployed | undefined;
      const own = (): Deployed => deployed as Deployed;
      const steps: readonly (() => Promise<unknown>)[] = [
        async () => {
          deployed = await deploy({ spec: { ...aSpec(), destination: { environment: "prod" } } });
        },
        () => store.environments.connect(aConnection(environment.id), soon()),
        () => store.statuses.recordStatuses([aStatus(own())], soon()),
        () => store.environments.withdraw(claim.uid, soon()),
        () => store.environments.connect(aConnection(environment.id), soon()),
        () => remove(own().intent),
        () => store.shards.forgetApplications([own().applicationId], soon()),
      ];
      const seen: unknown[] = [];
      for (const step of steps) {
        expect(await unnotifiedBy(world(), step)).toEqual([]);
        seen.push((await list()).map(({ hasStood, isLeaving }) => (isLeaving ? "leaving" : hasStood)));
      }
      expect(seen).toEqual([[false], [false], [true], [false], [true], ["leaving"], []]);
    });

    it("changes with a notification: as a unit is moved, and as labels keep its workspace apart", async () => {
      const { store, deploy, addInstance } = world();
      const { unitId, workspaceId, epoch } = await deploy();
      const { id: to } = await addInstance({ class: "eu/shared/internal" });
      const id = "move" as MoveId;
      const decision = aDecision({ subject: unitId });
      const asked = { id, unitId, to, epoch, kind: "voluntary", reason: "FORCED", plan: undefined, reverses: undefined } as const;
      const groups = { apart: { customer: "a" } };
      await store.intents.assignClass(
        { workspaceId, class: "eu/shared/internal", trustClass: "internal", decision: aDecision({ subject: workspaceId }) },
        soon(),
      );
      await store.moves.request({ ...asked, isFailOver: false, actor: "otto", ceiling: WIDE, decision }, soon());
      const advance = (from: MovePhase, next: MovePhase) => () => store.moves.advance(id, { from, to: next, message: "" }, soon());
      const steps: readonly (() => Promise<unknown>)[] = [
        () => store.intents.assignGroups({ workspaceId, groups, decision: aDecision({ subject: workspaceId }) }, soon()),
        () => store.moves.begin(id, soon()),
        ...PHASES.slice(0, 4).map((from, index) => advance(from, PHASES[index + 1] as MovePhase)),
        () => store.moves.commit(id, decision, soon()),
        ...PHASES.slice(5, -1).map((from, index) => advance(from, PHASES[index + 6] as MovePhase)),
      ];
      const seen = new Set<string>();
      for (const step of steps) {
        expect(await unnotifiedBy(world(), step)).toEqual([]);
        for (const row of await list())
          seen.add([row.owner === to ? "there" : "here", row.class, row.isMoving, Object.keys(row.apart ?? {}).join()].join(" "));
      }
      expect([...seen]).toEqual([
        `here ${CLASS} false customer`,
        `here ${CLASS} true customer`,
        "there eu/shared/internal true customer",
        "there eu/shared/internal false customer",
      ]);
    });
  });
}
