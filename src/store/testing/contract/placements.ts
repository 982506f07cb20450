import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import type { InstanceId, MoveId, UnitId } from "../../../domain/ids.ts";
import { ZERO_LOAD } from "../../../domain/load.ts";
import { refusalHash } from "../../../domain/refusal.ts";
import type { RequestedMove } from "../../move/port.ts";
import type { FirstPlacement } from "../../placement/port.ts";
import { AT, aDecision, aFleet, CLASS, WIDE } from "../builders.ts";
import { soon, type World } from "../world.ts";

export function describePlacements(world: () => World): void {
  const placementOf = async (applicationId: Parameters<World["unit"]>[0], instanceId: InstanceId): Promise<FirstPlacement> => {
    const unit = await world().unit(applicationId);
    return {
      unitId: unit.id,
      rowVersion: unit.rowVersion,
      instanceId,
      ceiling: WIDE,
      decision: aDecision({ subject: unit.id, details: { mean: 0.5 } }),
    };
  };

  describe("first placements", () => {
    it("give the unit owner, epoch and phase, a decision, and notify all of it", async () => {
      const { store, record, addInstance, unit, notificationsOf } = world();
      const [a, b] = [await record(), await record()];
      const { id: instanceId } = await addInstance();
      const before = await unit(a.applicationId);
      const placement = await placementOf(a.applicationId, instanceId);
      const notifications = await notificationsOf(async () =>
        expect(await store.placements.commitFirstPlacement(placement, soon())).toEqual({ kind: "placed", epoch: 1 }),
      );
      expect(notifications).toEqual([`application:${a.applicationId}`, `application:${b.applicationId}`, `unit:${before.id}`]);
      expect(await unit(a.applicationId)).toEqual({
        ...before,
        owner: instanceId,
        epoch: 1,
        phase: "IDLE",
        rowVersion: before.rowVersion + 1,
      });
      expect(await store.decisions.list({ subject: before.id }, 10, soon())).toEqual([placement.decision]);
      expect(await store.operations.listOperations({ state: "Waiting" }, { limit: 10, after: "" }, soon())).toMatchObject([
        { instanceId },
        { instanceId },
      ]);
      expect(await store.placements.listUnsettled({ limit: 10, after: "" }, soon())).toEqual([]);
    });

    it("are made once: whoever comes second is stale", async () => {
      const { store, record, addInstance } = world();
      const { applicationId } = await record();
      const placement = await placementOf(applicationId, (await addInstance()).id);
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => store.placements.commitFirstPlacement(placement, soon())));
      expect(outcomes.filter(({ kind }) => kind === "placed")).toHaveLength(1);
      expect(outcomes.filter(({ kind }) => kind === "stale")).toHaveLength(7);
      expect(await store.decisions.list({ subject: placement.unitId }, 10, soon())).toHaveLength(1);
    });

    it("are stale for a unit that changed, or that is not there", async () => {
      const { store, record, addInstance } = world();
      const placement = await placementOf((await record()).applicationId, (await addInstance()).id);
      expect(await store.placements.commitFirstPlacement({ ...placement, rowVersion: placement.rowVersion + 1 }, soon())).toEqual({
        kind: "stale",
      });
      expect(await store.placements.commitFirstPlacement({ ...placement, unitId: "nobody" as UnitId }, soon())).toEqual({ kind: "stale" });
    });

    it.each(["REQUESTED", "CREATING", "WARMING", "CORDONED", "DRAINING", "RETIRED", "FAILED"] as const)(
      "go to no instance that is %s",
      async (state) => {
        const { store, record, addInstance, notificationsOf } = world();
        const placement = await placementOf((await record()).applicationId, (await addInstance({ state })).id);
        expect(
          await notificationsOf(async () =>
            expect(await store.placements.commitFirstPlacement(placement, soon())).toEqual({ kind: "full" }),
          ),
        ).toEqual([]);
      },
    );

    it("go to no instance that is not there", async () => {
      const { store, record } = world();
      const placement = await placementOf((await record()).applicationId, "nowhere" as InstanceId);
      expect(await store.placements.commitFirstPlacement(placement, soon())).toEqual({ kind: "full" });
    });

    it("count what the instance holds by now, and what the unit weighs by now", async () => {
      const { store, record, addInstance } = world();
      const { id: instanceId } = await addInstance();
      const first = await placementOf((await record({ namespace: "a" })).applicationId, instanceId);
      const second = await placementOf((await record({ namespace: "b" })).applicationId, instanceId);
      const ceiling = { ...WIDE, applications: 2500 };
      expect(await store.placements.commitFirstPlacement({ ...first, ceiling }, soon())).toMatchObject({ kind: "placed" });
      await record({ namespace: "b" });
      expect(await store.placements.commitFirstPlacement({ ...second, ceiling }, soon())).toEqual({ kind: "full" });
      expect(await store.placements.commitFirstPlacement({ ...second, ceiling: { ...WIDE, applications: 3000 } }, soon())).toMatchObject({
        kind: "placed",
      });
    });

    it("count an entry for each unit where each workspace has one, and keep what the instance was made with", async () => {
      const { store, record, addInstance } = world();
      const { id, entries } = await addInstance({ entries: "per-workspace" });
      expect(entries).toBe("per-workspace");
      const placements = [];
      for (const namespace of ["a", "b", "c"]) placements.push(await placementOf((await record({ namespace })).applicationId, id));
      const ceiling = { ...WIDE, clusterEntries: 2 };
      const outcomes = await Promise.all(
        placements.map((placement) => store.placements.commitFirstPlacement({ ...placement, ceiling }, soon()).then(({ kind }) => kind)),
      );
      expect(outcomes.toSorted()).toEqual(["full", "placed", "placed"]);
      const fleet = await store.placements.readFleet(CLASS, soon());
      expect(fleet.instances).toMatchObject([{ instance: { id, entries: "per-workspace" }, units: 2, load: { clusterEntries: 2 } }]);
    });

    it.each(["applications", "clusterEntries", "cachedResources", "milliCpu", "gitPerMinute"] as const)(
      "hold the bound on %s",
      async (dimension) => {
        const { store, record, addInstance } = world();
        const placement = await placementOf((await record()).applicationId, (await addInstance()).id);
        expect(await store.placements.commitFirstPlacement({ ...placement, ceiling: { ...WIDE, [dimension]: -1 } }, soon())).toEqual({
          kind: "full",
        });
        const exact = { ...ZERO_LOAD, applications: 1000 };
        expect(await store.placements.commitFirstPlacement({ ...placement, ceiling: exact }, soon())).toMatchObject({ kind: "placed" });
      },
    );

    it("never overfill an instance, however many schedulers race for it", async () => {
      const { store, record, addInstance } = world();
      const { id: instanceId } = await addInstance();
      const records = await Promise.all(Array.from({ length: 50 }, (_, index) => record({ namespace: `team-${index}` })));
      const placements = await Promise.all(records.map(({ applicationId }) => placementOf(applicationId, instanceId)));
      const ceiling = { ...WIDE, applications: 20_000 };
      const outcomes = await Promise.all(
        placements.map((placement) => store.placements.commitFirstPlacement({ ...placement, ceiling }, soon())),
      );
      expect(outcomes.filter(({ kind }) => kind === "placed")).toHaveLength(20);
      expect(outcomes.filter(({ kind }) => kind === "full")).toHaveLength(30);
      const epochs = outcomes.flatMap((outcome) => (outcome.kind === "placed" ? outcome.epoch : []));
      expect(new Set(epochs).size).toBe(20);
      expect(await store.placements.readFleet(CLASS, soon())).toMatchObject({ instances: [{ units: 20, load: { applications: 20_000 } }] });
    });

    it("never go to an instance that is sent away as empty at the same moment, in whatever order they come", async () => {
      const { store, record, addInstance } = world();
      const outcomes: string[] = [];
      for (let round = 0; round < 20; round += 1) {
        const { id } = await addInstance();
        const placement = await placementOf((await record({ namespace: `team-${round}` })).applicationId, id);
        const leave = {
          id,
          revision: 1,
          state: "DRAINING",
          reason: "surplus",
          cause: undefined,
          attempt: 0,
          onlyIfEmpty: true,
          decision: undefined,
        } as const;
        const send = () =>
          store.fleet.changeInstance(leave, soon()).then(
            () => "left",
            (error: { readonly code?: string }) => error.code,
          );
        const place = () => store.placements.commitFirstPlacement(placement, soon()).then(({ kind }) => kind);
        const [left, placed] = round % 2 === 0 ? await Promise.all([send(), place()]) : (await Promise.all([place(), send()])).toReversed();
        outcomes.push(`${left} ${placed}`);
        expect(["left full", "store.instance-held placed"]).toContain(outcomes.at(-1));
        expect((await store.fleet.countUnits(soon())).has(id)).toBe(placed === "placed");
      }
    });

    it("are awaited by whoever sends the instance away", async () => {
      const { store, deploy, addInstance } = world();
      const { instanceId } = await deploy();
      const leave = {
        revision: 1,
        state: "DRAINING",
        reason: "",
        cause: undefined,
        attempt: 0,
        onlyIfEmpty: true,
        decision: undefined,
      } as const;
      await expect(store.fleet.changeInstance({ ...leave, id: instanceId }, soon())).rejects.toMatchObject({ code: "store.instance-held" });
      expect(await store.fleet.readInstance(instanceId, soon())).toMatchObject({ state: "ACTIVE", revision: 1 });
      const { id } = await addInstance();
      expect(await store.fleet.changeInstance({ ...leave, id }, soon())).toMatchObject({ state: "DRAINING", revision: 2 });
      await expect(store.fleet.changeInstance({ ...leave, id }, soon())).rejects.toMatchObject({ code: "store.instance-stale" });
      await expect(store.fleet.changeInstance({ ...leave, id: "nobody" as InstanceId }, soon())).rejects.toMatchObject({
        code: "store.instance-gone",
      });
    });

    it("leave no application behind that came at the same moment", async () => {
      const { store, record, addInstance } = world();
      for (let round = 0; round < 10; round += 1) {
        const { id: instanceId } = await addInstance();
        const first = await record({ namespace: `team-${round}` });
        const placement = await placementOf(first.applicationId, instanceId);
        const [second] = await Promise.all([
          record({ namespace: `team-${round}` }),
          store.placements.commitFirstPlacement(placement, soon()),
        ]);
        const lagging = await store.shards.listLagging([instanceId], 10, soon());
        expect(lagging.applications).toEqual([first.applicationId, second.applicationId].sort());
      }
    });
  });

  describe("units without a candidate", () => {
    it("are journaled when the reason is new, whatever else has changed, and reported to their users the first time", async () => {
      const { store, record, unit, notificationsOf } = world();
      const { applicationId, uid } = await record();
      const { id } = await unit(applicationId);
      const decision = aDecision({ subject: id, verdict: "UNPLACEABLE", details: { refusals: 3 } });
      const again = (over: Parameters<typeof aDecision>[0], reason: string) =>
        notificationsOf(() => store.placements.recordUnplaceable(id, { decision: { ...decision, ...over }, reason }, soon()));
      expect(await again({}, "full")).toEqual([`application:${applicationId}`]);
      expect((await store.intents.readByUids([uid], soon()))[0]?.isUnplaceable).toBe(true);
      expect(await again({ at: millis(AT + 15_000), details: { refusals: 4 } }, "full")).toEqual([]);
      expect(await store.decisions.list({ subject: id }, 10, soon())).toEqual([decision]);
      const notifications = { ...decision, at: millis(AT + 30_000), details: { refusals: 5 } };
      expect(await again(notifications, "draining")).toEqual([]);
      expect(await store.decisions.list({ subject: id }, 10, soon())).toEqual([notifications, decision]);
      const [operation] = await store.operations.listOperations({}, { limit: 1, after: "" }, soon());
      expect(operation).toMatchObject({ state: "Waiting", message: expect.stringContaining("no instance has room") });
    });

    it("are placed after all once an instance has capacity", async () => {
      const { store, record, unit, addInstance, place } = world();
      const { applicationId, uid } = await record();
      const { id } = await unit(applicationId);
      await store.placements.recordUnplaceable(id, { decision: aDecision(), reason: "full" }, soon());
      await place(id, (await addInstance()).id);
      expect((await store.intents.readByUids([uid], soon()))[0]).toMatchObject({ isUnplaceable: false, unit: { phase: "IDLE" } });
      await store.placements.recordUnplaceable(id, { decision: aDecision(), reason: "late" }, soon());
      expect((await store.intents.readByUids([uid], soon()))[0]?.isUnplaceable).toBe(false);
      expect((await store.operations.listOperations({}, { limit: 1, after: "" }, soon()))[0]?.message).toBe(
        "Waiting: for its instance to take it",
      );
    });

    it("are listed oldest first", async () => {
      const { store, record, unit } = world();
      const ids: UnitId[] = [];
      for (const namespace of ["c", "b", "a"]) ids.push((await unit((await record({ namespace })).applicationId)).id);
      expect(await store.placements.listUnsettled({ limit: 10, after: "" }, soon())).toEqual(ids);
      expect(await store.placements.listUnsettled({ limit: 2, after: "" }, soon())).toEqual(ids.slice(0, 2));
      expect(await store.placements.listUnsettled({ limit: 2, after: ids[1] ?? "" }, soon())).toEqual(ids.slice(2));
      expect(await store.placements.listUnsettled({ limit: 2, after: ids[2] ?? "" }, soon())).toEqual([]);
      expect(await store.placements.listUnsettled({ limit: 2, after: "nobody" }, soon())).toEqual([]);
    });

    it("are listed from behind one that was placed meanwhile", async () => {
      const { store, record, unit, addInstance, place } = world();
      const ids: UnitId[] = [];
      for (const namespace of ["c", "b", "a"]) ids.push((await unit((await record({ namespace })).applicationId)).id);
      await place(ids[0] as UnitId, (await addInstance()).id);
      expect(await store.placements.listUnsettled({ limit: 1, after: ids[0] ?? "" }, soon())).toEqual([ids[1]]);
    });
  });

  describe("what the scheduler reads", () => {
    it("is every instance of the class but retired ones, with what it holds", async () => {
      const { store, addInstance, deploy, record } = world();
      const empty = await addInstance({ state: "CORDONED" });
      await addInstance({ state: "RETIRED" });
      await addInstance({ class: "us/shared/public" });
      const deployed = await deploy();
      await record();
      const { instances, ...fleet } = await store.placements.readFleet(CLASS, soon());
      expect(fleet).toEqual({ class: CLASS, floor: undefined });
      await store.fleet.applyFleet(aFleet(), "otto", soon());
      expect((await store.placements.readFleet(CLASS, soon())).floor).toBe(aFleet().versions.floor);
      const instance = await store.fleet.readInstance(deployed.instanceId, soon());
      expect(instances).toEqual([
        { instance: empty, load: ZERO_LOAD, units: 0 },
        { instance, load: { ...ZERO_LOAD, applications: 2000 }, units: 1 },
      ]);
      expect(await store.fleet.countUnits(soon())).toEqual(new Map([[deployed.instanceId, 1]]));
    });

    it("is also what live moves bring, as a first placement counts it", async () => {
      const { store, deploy, record, addInstance } = world();
      const deployed = await deploy();
      const { id: to } = await addInstance();
      const request: RequestedMove = {
        ...{ id: "coming" as MoveId, unitId: deployed.unitId, to, epoch: deployed.epoch, kind: "drain", reason: "FORCED" },
        ...{ plan: undefined, reverses: undefined, isFailOver: false, actor: "otto", ceiling: WIDE, decision: aDecision() },
      };
      expect(await store.moves.request(request, soon())).toEqual({ kind: "requested" });
      const { instances } = await store.placements.readFleet(CLASS, soon());
      expect(instances.map(({ instance, load, units }) => [instance.id, load.applications, units])).toEqual([
        [deployed.instanceId, 1000, 1],
        [to, 1000, 0],
      ]);
      const placement = await placementOf((await record({ namespace: "late" })).applicationId, to);
      const capacityFor = (applications: number) => ({ ...placement, ceiling: { ...WIDE, applications } });
      expect(await store.placements.commitFirstPlacement(capacityFor(1500), soon())).toEqual({ kind: "full" });
      expect(await store.placements.commitFirstPlacement(capacityFor(2000), soon())).toMatchObject({ kind: "placed" });
    });

    it("is a unit with its workspace, and a workspace's units", async () => {
      const { store, record, unit } = world();
      const intent = await record();
      const found = await unit(intent.applicationId);
      expect(await store.placements.readUnit(found.id, soon())).toEqual({
        unit: found,
        workspace: { id: found.workspaceId, state: "active", ...intent.workspace },
        directive: { pin: undefined, hold: undefined },
        ...{ siblings: [], strangers: [], companions: [] },
      });
      expect(await store.placements.readUnitsOf(found.workspaceId, soon())).toEqual([found]);
      expect(await store.placements.readUnit("nobody" as UnitId, soon())).toBeUndefined();
    });

    it("is many units at once, each as it is read alone, with what it was refused for last", async () => {
      const { store, record, unit, addInstance, place } = world();
      const ids: UnitId[] = [];
      for (const namespace of ["c", "b", "a"]) ids.push((await unit((await record({ namespace })).applicationId)).id);
      const [refused, , placed] = ids as [UnitId, UnitId, UnitId];
      const decision = aDecision({ verdict: "UNPLACEABLE", rule: "NOTHING_FITS" });
      for (const id of [refused, placed]) await store.placements.recordUnplaceable(id, { decision, reason: "full" }, soon());
      await place(placed, (await addInstance()).id);
      const found = await store.placements.readUnits([...ids.toReversed(), "nobody" as UnitId, refused], soon());
      expect(found).toEqual(await Promise.all(ids.toSorted().map((id) => store.placements.readUnit(id, soon()))));
      expect(found.filter((each) => each.refused !== undefined).map(({ unit: { id }, refused: why }) => [id, why])).toEqual([
        [refused, refusalHash(decision, "full")],
      ]);
      expect(await store.placements.readUnits([], soon())).toEqual([]);
    });
  });
}
