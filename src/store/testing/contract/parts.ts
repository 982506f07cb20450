import { describe, expect, it } from "vitest";
import { bucketKeys } from "../../../domain/bucket.ts";
import type { InstanceId, MoveId, UnitId } from "../../../domain/ids.ts";
import { loadVector, ZERO_LOAD } from "../../../domain/load.ts";
import type { RequestedMove } from "../../move/port.ts";
import type { Cut, Joining, SplitRow } from "../../split/port.ts";
import { aDecision, anObject, aSpec, aStatus, CLASS, WIDE } from "../builders.ts";
import { soon, type World } from "../world.ts";

/** What is deployed is cut and joined where it is. */
export function describeParts(world: () => World): void {
  const NOTHING = loadVector(() => 0);
  let count = 0;
  const newId = <Id extends string>(what: string): Id => {
    count += 1;
    return `${what}-${count}` as Id;
  };
  const own = async (): Promise<SplitRow> => {
    const [row] = await world().store.splits.list(CLASS, NOTHING, soon());
    if (row === undefined) throw new Error("there is no workspace");
    return row;
  };
  const unitsOf = async () => (await own()).units;
  const seenOf = ({ units }: SplitRow) => units.map(({ id, rowVersion }) => ({ id, rowVersion }));

  /** A workspace of three applications in its own namespace and one of an environment, all on one instance. */
  const deployed = async () => {
    const { deploy, record, acknowledgeUnit, store } = world();
    const first = await deploy({ name: "a" });
    const others = [await record({ name: "b" }), await record({ name: "c" })];
    const elsewhere = await record({ name: "d", spec: { ...aSpec(), destination: { environment: "far" } } });
    await acknowledgeUnit(first, (await world().unit(first.applicationId)).desiredRevision);
    const ids = [first.applicationId, ...others.map(({ applicationId }) => applicationId)];
    const at = { instanceId: first.instanceId, epoch: first.epoch };
    for (const applicationId of ids) {
      await store.shards.acknowledge([anObject({ ...at, subject: applicationId }, { kind: "application" })], soon());
      await store.statuses.recordStatuses([aStatus({ ...at, applicationId })], soon());
    }
    return { ...first, ids, elsewhere };
  };
  /** The group that has an application of the own namespace, as few groups are made. */
  const keyOf = (name: string): string => bucketKeys({}, name)[1];
  const cutOf = async (over: Partial<Cut> = {}): Promise<Cut> => {
    const row = await own();
    const [unit] = row.units;
    const deal = { [keyOf("a")]: 0, [keyOf("b")]: 1, [keyOf("c")]: 1, "cluster far": 0 };
    return {
      ...{ workspaceId: row.workspaceId, seen: seenOf(row), unitId: unit?.id as UnitId, deal },
      staying: { id: newId<UnitId>("staying"), part: 1 },
      loads: { leaving: { ...ZERO_LOAD, milliCpu: 30 }, staying: { ...ZERO_LOAD, milliCpu: 70 } },
      decision: aDecision({ subject: unit?.id ?? "", verdict: "CUT" }),
      ...over,
    };
  };
  const cut = async (over?: Partial<Cut>): Promise<boolean> => world().store.splits.cut(await cutOf(over), soon());
  const moveOf = (unitId: UnitId, to: InstanceId, epoch: number, over: Partial<RequestedMove> = {}): RequestedMove => ({
    ...{ id: newId<MoveId>("move"), unitId, to, epoch, kind: "voluntary", reason: "FORCED", plan: undefined, reverses: undefined },
    ...{ isFailOver: false, actor: "otto", ceiling: WIDE, decision: aDecision({ subject: unitId }) },
    ...over,
  });
  const request = (unitId: UnitId, to: InstanceId, epoch: number, over?: Partial<RequestedMove>) =>
    world().store.moves.request(moveOf(unitId, to, epoch, over), soon());
  /** Moves a unit with all that a move does to its row. */
  const moveTo = async (unitId: UnitId, to: InstanceId): Promise<MoveId> => {
    const { moves, placements } = world().store;
    const before = (await placements.readUnit(unitId, soon()))?.unit;
    const move = moveOf(unitId, to, before?.epoch ?? 0);
    expect(await moves.request(move, soon())).toEqual({ kind: "requested" });
    expect(await moves.begin(move.id, soon())).toBe("begun");
    const steps = ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT"] as const;
    for (const [index, from] of steps.entries()) {
      const next = steps[index + 1];
      if (next !== undefined) expect(await moves.advance(move.id, { from, to: next, message: "" }, soon())).toBe(true);
    }
    expect(await moves.commit(move.id, aDecision({ subject: unitId }), soon())).toBe(true);
    const after = ["GRANT", "ACTIVATE", "VERIFY", "CLEANUP", "DONE"] as const;
    for (const [index, from] of after.entries()) {
      const next = after[index + 1];
      if (next !== undefined) expect(await moves.advance(move.id, { from, to: next, message: "" }, soon())).toBe(true);
    }
    return move.id;
  };
  /** Every Application of the unit is seen under its epoch. */
  const showAll = async (unitId: UnitId): Promise<void> => {
    const { store } = world();
    const unit = (await store.placements.readUnit(unitId, soon()))?.unit;
    const row = await own();
    for (const { id: applicationId, part } of row.applications)
      if (part === unit?.bucket)
        await store.statuses.recordStatuses([aStatus({ applicationId, instanceId: unit.owner as InstanceId, epoch: unit.epoch })], soon());
  };

  describe("a unit of which something is deployed", () => {
    it("is cut where it is: what stays has a part of its own there, under a new epoch, and is to be written anew", async () => {
      const { store, notificationsOf, unit, application } = world();
      const { ids, instanceId, epoch, elsewhere } = await deployed();
      const before = await unit(ids[0] as (typeof ids)[number]);
      const change = await cutOf();
      const notifications = await notificationsOf(async () => expect(await store.splits.cut(change, soon())).toBe(true));
      const [left, stayed] = await unitsOf();
      expect(notifications).toEqual([`application:${ids[1]}`, `application:${ids[2]}`, `unit:${left?.id}`, `unit:${stayed?.id}`].sort());
      expect(left).toMatchObject({ bucket: 0, owner: instanceId, epoch, desiredRevision: before.desiredRevision + 1 });
      expect(stayed).toMatchObject({ bucket: 1, owner: instanceId, phase: "IDLE", tookFrom: left?.id, class: CLASS });
      expect(stayed?.epoch).toBeGreaterThan(epoch);
      expect([left?.load, stayed?.load]).toEqual([
        { ...ZERO_LOAD, applications: 2_000, milliCpu: 30 },
        { ...ZERO_LOAD, applications: 2_000, milliCpu: 70 },
      ]);
      expect(await own()).toMatchObject({ parts: 2, openPart: 0, deal: change.deal });
      expect(await Promise.all(ids.map(async (id) => (await application(id)).unitId))).toEqual([left?.id, stayed?.id, stayed?.id]);
      expect((await application(elsewhere.applicationId)).unitId).toBe(left?.id);
      const lagging = await store.shards.listLagging([instanceId], 10, soon());
      expect(new Set(lagging.units)).toEqual(new Set([left?.id, stayed?.id]));
      expect(lagging.applications).toEqual([...ids.slice(1), elsewhere.applicationId].sort());
      expect(await store.decisions.list({ verdict: "CUT" }, 2, soon())).toHaveLength(1);
    });

    it("and is not where somebody else was faster, it moves, it is away, or what would stay deploys to an environment", async () => {
      const { store, addInstance } = world();
      const { unitId, epoch, instanceId } = await deployed();
      const change = await cutOf();
      expect(await cut({ seen: [] })).toBe(false);
      expect(await cut({ deal: { [keyOf("a")]: 0, "cluster far": 1 } })).toBe(false);
      expect(await cut({ deal: { [keyOf("a")]: 0 } })).toBe(false);
      const target = (await addInstance()).id;
      const move = moveOf(unitId, target, epoch);
      await store.moves.request(move, soon());
      expect(await cut()).toBe(false);
      await store.moves.abort(move.id, { message: "", decision: aDecision() }, soon());
      expect(await store.splits.cut(change, soon())).toBe(true);
      expect(await store.splits.cut(change, soon())).toBe(false);
      // The two are on one instance: neither is cut again there.
      const [, stayed] = await unitsOf();
      expect(
        await cut({
          unitId: stayed?.id as UnitId,
          staying: { id: newId<UnitId>("third"), part: 2 },
          deal: { [keyOf("b")]: 1, [keyOf("c")]: 2 },
        }),
      ).toBe(false);
      expect((await unitsOf()).map(({ owner }) => owner)).toEqual([instanceId, instanceId]);
    });

    it("leaves once what stayed is seen under its new epoch, which stays itself until then", async () => {
      const { store, addInstance } = world();
      const { unitId, epoch } = await deployed();
      await cut();
      const there = (await addInstance()).id;
      const stayed = (await unitsOf())[1];
      if (stayed === undefined) throw new Error("nothing stayed");
      expect(await request(unitId, there, epoch)).toEqual({ kind: "kept" });
      expect(await request(stayed.id, there, stayed.epoch)).toEqual({ kind: "kept" });
      expect(await request(stayed.id, there, stayed.epoch, { kind: "evacuation", isFailOver: true })).toEqual({ kind: "kept" });
      await showAll(stayed.id);
      expect(await request(stayed.id, there, stayed.epoch)).toEqual({ kind: "kept" });
      const id = await moveTo(unitId, there);
      expect((await store.moves.readRows(id, soon()))?.takers).toEqual([stayed.id]);
      expect((await unitsOf()).map(({ tookFrom, owner }) => [tookFrom, owner])).toEqual([
        [undefined, there],
        [unitId, stayed.owner],
      ]);
      const third = (await addInstance()).id;
      expect(await request(stayed.id, there, stayed.epoch)).toEqual({ kind: "full" });
      const onward = moveOf(stayed.id, third, stayed.epoch);
      expect(await store.moves.request(onward, soon())).toEqual({ kind: "requested" });
      expect((await store.moves.readRows(onward.id, soon()))?.takers).toEqual([]);
      const facts = await store.plans.readFacts(CLASS, stayed.epoch as never, soon());
      expect(facts.units.map(({ isDeployed }) => isDeployed)).toEqual([true, true]);
    });

    it("leaves at once by fail-over alone, which goes without the instance", async () => {
      const { addInstance } = world();
      const { unitId, epoch } = await deployed();
      await cut();
      const there = (await addInstance()).id;
      expect(await request(unitId, there, epoch, { kind: "drain" })).toEqual({ kind: "kept" });
      expect(await request(unitId, there, epoch, { kind: "evacuation", isFailOver: true })).toEqual({ kind: "requested" });
    });

    it("is never moved without a hand-over while parts change hands", async () => {
      const { store, addInstance } = world();
      const { instanceId } = await deployed();
      await cut();
      const stayed = (await unitsOf())[1];
      const move = {
        ...{ unitId: stayed?.id as UnitId, from: instanceId, to: (await addInstance()).id, epoch: stayed?.epoch ?? 0 },
        ...({ reason: "FORCED", ceiling: WIDE, plan: "plan" as never, decision: aDecision() } as const),
      };
      expect(await store.plans.commitMove(move, soon())).toEqual({ kind: "deployed" });
    });
  });

  describe("parts of which something is deployed", () => {
    const apart = async () => {
      const { addInstance } = world();
      const first = await deployed();
      await cut();
      const [left, stayed] = await unitsOf();
      await showAll(stayed?.id as UnitId);
      const there = await addInstance();
      await moveTo(left?.id as UnitId, there.id);
      return { ...first, left: left?.id as UnitId, stayed: stayed?.id as UnitId, there: there.id };
    };
    const joinOf = async (unitId: UnitId, into: UnitId): Promise<Joining> => {
      const row = await own();
      const deal = Object.fromEntries(Object.keys(row.deal).map((key) => [key, 0]));
      return {
        workspaceId: row.workspaceId,
        seen: seenOf(row),
        unitId,
        into,
        deal,
        decision: aDecision({ subject: unitId, verdict: "JOINED" }),
      };
    };

    it("are joined: the last meets the other one, which takes all over, and is forgotten once nothing of it stands", async () => {
      const { store, record, unit, application, notificationsOf, addInstance } = world();
      const { ids, left, stayed, there } = await apart();
      expect(await store.splits.join(await joinOf(left, stayed), soon())).toBe(false);
      expect(await store.splits.join(await joinOf(stayed, left), soon())).toBe(true);
      expect(await store.splits.join(await joinOf(stayed, left), soon())).toBe(false);
      expect(await own()).toMatchObject({ parts: 2, openPart: 0 });
      expect((await unit((await record({ name: "b" })).applicationId)).id).toBe(left);
      expect(await store.splits.takeOver(stayed, aDecision(), soon())).toBe(false);
      expect(await store.shards.forgetPart(stayed, soon())).toBe(false);
      await moveTo(stayed, there);
      const before = await unitsOf();
      const taken = await notificationsOf(async () =>
        expect(await store.splits.takeOver(stayed, aDecision({ subject: stayed, verdict: "TAKEN_OVER" }), soon())).toBe(true),
      );
      expect(taken).toContain(`unit:${stayed}`);
      expect(taken).toContain(`application:${ids[0]}`);
      const [kept, empty] = await unitsOf();
      expect(kept).toMatchObject({ id: left, tookFrom: stayed, load: { applications: 5_000, milliCpu: 100 } });
      expect(kept?.epoch).toBeGreaterThan(Math.max(...before.map(({ epoch }) => epoch)));
      expect(empty).toMatchObject({ id: stayed, joins: left, load: ZERO_LOAD });
      expect(new Set(await Promise.all(ids.map(async (id) => (await application(id)).unitId)))).toEqual(new Set([left]));
      const third = (await addInstance()).id;
      expect(await request(left, third, kept?.epoch ?? 0)).toEqual({ kind: "kept" });
      expect((await store.shards.listLagging([there], 10, soon())).units).toContain(stayed);
      expect(await store.splits.takeOver(left, aDecision(), soon())).toBe(false);
      const forgotten = await notificationsOf(async () => expect(await store.shards.forgetPart(stayed, soon())).toBe(true));
      expect(forgotten).toEqual([`unit:${left}`]);
      expect(await store.shards.forgetPart(stayed, soon())).toBe(true);
      expect(await own()).toMatchObject({ parts: 1, deal: {}, units: [{ id: left }] });
      expect((await unitsOf())[0]?.tookFrom).toBeUndefined();
      expect(await request(left, third, kept?.epoch ?? 0)).toEqual({ kind: "requested" });
    });

    it("are kept apart after all, unless one has taken the other over", async () => {
      const { store } = world();
      const { left, stayed, there } = await apart();
      await store.splits.join(await joinOf(stayed, left), soon());
      await store.splits.keepApart(stayed, soon());
      expect((await unitsOf()).map(({ joins }) => joins)).toEqual([undefined, undefined]);
      await store.splits.join(await joinOf(stayed, left), soon());
      await moveTo(stayed, there);
      await store.splits.takeOver(stayed, aDecision(), soon());
      await store.splits.keepApart(stayed, soon());
      expect((await unitsOf()).map(({ joins }) => joins)).toEqual([undefined, left]);
    });

    it("take over nothing while one of them moves, or where an application deploys to an environment", async () => {
      const { store, record, addInstance } = world();
      const { left, stayed, there } = await apart();
      await store.splits.join(await joinOf(stayed, left), soon());
      await moveTo(stayed, there);
      const { epoch } = (await unitsOf()).find(({ id }) => id === left) ?? { epoch: 0 };
      const move = moveOf(left, (await addInstance()).id, epoch);
      await store.moves.request(move, soon());
      expect(await store.splits.takeOver(stayed, aDecision(), soon())).toBe(false);
      await store.moves.abort(move.id, { message: "", decision: aDecision() }, soon());
      expect(await store.splits.takeOver(stayed, aDecision(), soon())).toBe(true);
      expect((await record({ name: "c" })).applicationId).toBeDefined();
    });

    it("are cut and placed by whoever is first, however they race", async () => {
      const { store } = world();
      await deployed();
      const cuts = [await cutOf(), await cutOf()];
      const outcomes = await Promise.all(cuts.map((each) => store.splits.cut(each, soon())));
      expect(outcomes.filter(Boolean)).toEqual([true]);
      expect(await unitsOf()).toHaveLength(2);
    });

    it("keep what is known of their load, dealt as it was planned", async () => {
      const { store } = world();
      const { unitId, instanceId, epoch } = await deployed();
      const known = { planning: loadVector(() => 10), recent: loadVector(() => 20), at: 1_000 as never };
      await store.loads.recordSample(
        {
          instanceId,
          at: known.at,
          total: NOTHING,
          observation: undefined,
          cachedObjects: undefined,
          units: [{ unitId, epoch, load: known, whole: NOTHING }],
        },
        soon(),
      );
      await cut();
      const facts = await store.plans.readFacts(CLASS, 0 as never, soon());
      const loads = facts.units.toSorted((a, b) => a.unit.bucket - b.unit.bucket).map((each) => each.known?.planning.milliCpu ?? 0);
      expect(loads.map(Math.round)).toEqual([3, 7]);
    });
  });
}
