import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import type { PoolSpec } from "../../../domain/fleet.ts";
import type { InstanceId, MoveId, PlanId, UnitId } from "../../../domain/ids.ts";
import { ZERO_LOAD } from "../../../domain/load.ts";
import type { CarriedStep, StoredPlan } from "../../../domain/plan.ts";
import type { UnitMove } from "../../plan/port.ts";
import { AT, aClaim, aConnection, aDecision, aFleet, anIntent, anObject, aSpec, aStatus, CLASS, WIDE } from "../builders.ts";
import { type Deployed, soon, type World } from "../world.ts";

export function describePlans(world: () => World): void {
  const moveOf = (deployed: Pick<Deployed, "unitId" | "instanceId" | "epoch">, to: InstanceId, over: Partial<UnitMove> = {}): UnitMove => ({
    ...{
      unitId: deployed.unitId,
      from: deployed.instanceId,
      to,
      epoch: deployed.epoch,
      reason: "SHED",
      ceiling: WIDE,
      plan: "p" as PlanId,
    },
    decision: aDecision({ subject: deployed.unitId, verdict: "MOVED", rule: "SHED" }),
    ...over,
  });
  const factsOf = async (unitId: UnitId) => {
    const { units } = await world().store.plans.readFacts(CLASS, millis(0), soon());
    return units.find(({ unit }) => unit.id === unitId);
  };
  const aPlan = (name: string, over: Partial<StoredPlan> = {}): StoredPlan => ({
    ...{ id: name as PlanId, class: CLASS, goal: "drain", subject: "standard-1", snapshotHash: "s", planHash: "p", actor: "otto" },
    ...{ createdAt: AT, expiresAt: millis(AT + 3_600_000), appliedAt: undefined },
    moves: [
      { unit: "u" as UnitId, from: undefined, to: "i" as InstanceId, epoch: 0, reason: "FORCED" },
      { unit: "v" as UnitId, from: "i" as InstanceId, to: "j" as InstanceId, epoch: 7, reason: "SHED" },
    ],
    records: [{ units: ["u"], cause: { rule: "UNPLACED" } }],
    report: { moved: 12, blockedBy: ["\u0000"] },
    ...over,
  });

  const aStep = (unit: string, over: Partial<CarriedStep> = {}): CarriedStep => ({
    ...{
      unit: unit as UnitId,
      name: `shop ${unit}`,
      from: "i" as InstanceId,
      to: "j" as InstanceId,
      reason: "FORCED",
      outcome: "dropped",
      why: "",
      move: undefined,
    },
    ...over,
  });

  describe("plans", () => {
    it("are kept whole with their entry in the journal, and listed newest first", async () => {
      const { plans, decisions } = world().store;
      const older = aPlan("plan-1");
      const newer = aPlan("plan-2", { createdAt: millis(AT + 1), class: "us/shared/public" });
      const decision = aDecision({ subject: "plan-1", kind: "plan", verdict: "PROPOSED" });
      await plans.record(older, decision, soon());
      await plans.record(newer, { ...decision, subject: "plan-2" }, soon());
      expect(await plans.read(older.id, soon())).toEqual(older);
      expect(await plans.read("nobody" as PlanId, soon())).toBeUndefined();
      expect(await plans.list({}, 10, soon())).toEqual([newer, older]);
      expect(await plans.list({}, 1, soon())).toEqual([newer]);
      expect(await plans.list({ class: CLASS }, 10, soon())).toEqual([older]);
      await plans.recordApplied(older.id, [], { ...decision, verdict: "APPLIED", at: millis(AT + 5) }, soon());
      await plans.recordApplied("nobody" as PlanId, [aStep("u")], { ...decision, subject: "nobody" }, soon());
      expect((await plans.read(older.id, soon()))?.appliedAt).toBe(AT + 5);
      expect((await decisions.list({ kind: "plan" }, 10, soon())).map(({ subject, verdict }) => [subject, verdict])).toEqual([
        ["plan-1", "APPLIED"],
        ["plan-2", "PROPOSED"],
        ["plan-1", "PROPOSED"],
      ]);
    });

    it("keep what carrying them out came to, step by step; of a unit that several empty an instance of, the newest", async () => {
      const { plans, retention } = world().store;
      const decision = aDecision({ kind: "plan", verdict: "APPLIED", at: millis(AT + 5) });
      const [older, newer] = [aPlan("plan-1"), aPlan("plan-2", { createdAt: millis(AT + 1) })];
      const elsewhere = aPlan("plan-3", { subject: "standard-2" });
      for (const plan of [older, newer, elsewhere, aPlan("plan-4", { goal: "rebalance" })]) await plans.record(plan, decision, soon());
      const [u, v] = [aStep("u", { outcome: "asked", move: "move-1" as MoveId }), aStep("v", { why: "no room \u0000", to: undefined })];
      await plans.recordApplied(older.id, [v, u], decision, soon());
      expect((await plans.listSteps({ plan: older.id }, soon()))[0]).toEqual(u);
      expect(await plans.listSteps({ plan: older.id }, soon())).toMatchObject([
        { unit: "u" },
        { unit: "v", to: undefined, outcome: "dropped" },
      ]);
      const again = aStep("v", { outcome: "moved", why: "" });
      await plans.recordApplied(older.id, [again], decision, soon());
      expect(await plans.listSteps({ plan: older.id }, soon())).toEqual([u, again]);
      const later = aStep("u", { outcome: "dropped", why: "full", move: undefined });
      await plans.recordApplied(newer.id, [later], decision, soon());
      for (const { id } of [elsewhere, { id: "plan-4" as PlanId }]) await plans.recordApplied(id, [aStep("w")], decision, soon());
      expect(await plans.listSteps({ drained: "standard-1", since: AT }, soon())).toEqual([later, again]);
      expect(await plans.listSteps({ drained: "standard-1", since: millis(AT + 1) }, soon())).toEqual([later]);
      await retention.forgetPlans(millis(AT + 7_200_000), 10, soon());
      expect(await plans.listSteps({ plan: older.id }, soon())).toEqual([]);
    });

    it("are forgotten some time after they expired, and journal entries about them too", async () => {
      const { plans, retention, decisions } = world().store;
      const decision = aDecision({ kind: "plan" });
      for (const name of ["plan-1", "plan-2", "plan-3"]) await plans.record(aPlan(name), { ...decision, subject: name }, soon());
      const later = millis(AT + 7_200_000);
      expect(await retention.forgetPlans(AT, 10, soon())).toBe(0);
      expect(await retention.forgetPlans(later, 2, soon())).toBe(2);
      expect(await retention.forgetPlans(later, 2, soon())).toBe(1);
      expect(await plans.list({}, 10, soon())).toEqual([]);
      await retention.forgetDecisions({ before: later, limit: 10, after: undefined }, soon());
      expect(await decisions.list({ kind: "plan" }, 10, soon())).toEqual([]);
    });
  });

  describe("what plans are made from", () => {
    it("is every unit and instance of the class, with orders, loads, clusters and moves", async () => {
      const { store, deploy, record, unit, addInstance } = world();
      const environment = await store.environments.claim({ ...aClaim(), workspace: anIntent().workspace }, soon());
      await store.environments.connect(aConnection(environment.id), soon());
      const deployed = await deploy({ spec: { ...aSpec(), destination: { environment: "prod" } } });
      const waiting = await unit((await record({ namespace: "waiting" })).applicationId);
      await addInstance({ state: "RETIRED" });
      await addInstance({ class: "us/shared/public" });
      const hold = { actor: "otto", reason: "", at: AT, until: millis(AT + 1) };
      const { workspaceId } = deployed;
      await store.directives.direct({ workspaceId, change: { hold }, decision: aDecision({ kind: "directive" }) }, soon());
      await store.directives.putFreeze(
        { name: "f", schedule: undefined, durationMs: 1, actor: "otto", reason: "", at: AT },
        aDecision({ kind: "directive" }),
        soon(),
      );
      const load = { planning: ZERO_LOAD, recent: ZERO_LOAD, at: AT };
      const { instanceId } = deployed;
      const sample = { instanceId, at: AT, total: ZERO_LOAD, observation: undefined, cachedObjects: 7 };
      await store.loads.recordSample({ ...sample, units: [{ ...deployed, load, whole: ZERO_LOAD }] }, soon());
      await store.loads.recordState(CLASS, { aboveSince: { [instanceId]: AT }, overloadedSince: {} }, soon());
      const facts = await store.plans.readFacts(CLASS, millis(0), soon());
      expect(facts).toMatchObject({
        class: CLASS,
        floor: undefined,
        instances: [{ id: instanceId }],
        instanceLoads: [sample],
        freezes: [{ name: "f" }],
        state: { aboveSince: { [instanceId]: AT } },
        moves: [],
      });
      expect(facts.units.map(({ unit: { id } }) => id)).toEqual([deployed.unitId, waiting.id].sort());
      expect(await factsOf(deployed.unitId)).toMatchObject({
        ...{
          namespace: "team",
          trustClass: "public",
          known: load,
          clusters: ["https://prod.example:6443"],
          movedAt: undefined,
          isDeployed: false,
        },
        directive: { pin: undefined, hold },
      });
      expect(await factsOf(waiting.id)).toMatchObject({ unit: { owner: undefined }, clusters: [], isDeployed: false });
      expect(await store.plans.listClasses(soon())).toEqual([CLASS, "us/shared/public"]);
      await store.fleet.applyFleet(aFleet(), "otto", soon());
      expect(await store.plans.readFacts(CLASS, millis(0), soon())).toMatchObject({
        floor: aFleet().versions.floor,
        rebalancing: undefined,
      });
      const own = { class: CLASS, mode: "auto", movesPerHour: 5, movesPerDay: 9 } as const;
      await store.fleet.applyFleet(aFleet({ rebalancing: [{ ...own, class: "us/shared/public", mode: "off" }, own] }), "otto", soon());
      expect((await store.plans.readFacts(CLASS, millis(0), soon())).rebalancing).toEqual(own);
      const [pool] = aFleet().pools as [PoolSpec, ...PoolSpec[]];
      const scaled = { ...pool, name: "scaled", instances: { min: 1, max: 4, scaling: "auto" } } as const;
      const elsewhere = { ...scaled, name: "elsewhere", class: { ...scaled.class, region: "us" } };
      await store.fleet.applyFleet(aFleet({ pools: [pool, elsewhere, scaled] }), "otto", soon());
      expect((await store.plans.readFacts(CLASS, millis(0), soon())).scaled).toEqual([scaled]);
      const raisable = { ...pool, name: "raisable", resources: { ...pool.resources, max: { controller: { memory: "8Gi" } } } };
      await store.fleet.applyFleet(
        aFleet({ pools: [pool, { ...raisable, name: "us", class: elsewhere.class }, raisable] }),
        "otto",
        soon(),
      );
      expect((await store.plans.readFacts(CLASS, millis(0), soon())).raisable).toEqual([raisable]);
    });

    it("tells a unit of which something stands, or may, from one of which nothing does", async () => {
      const { store, deploy, remove, acknowledgeUnit } = world();
      const names = ["nothing", "application", "status", "leaving", "objects", "empty"];
      const placements = new Map<string, Deployed>();
      for (const name of names) placements.set(name, await deploy({ namespace: name }));
      const at = (name: string) => placements.get(name) as Deployed;
      await store.shards.acknowledge([anObject({ ...at("application"), subject: at("application").applicationId })], soon());
      await store.statuses.recordStatuses([aStatus(at("status"))], soon());
      await remove(at("leaving").intent);
      await acknowledgeUnit(at("objects"));
      await acknowledgeUnit(at("empty"));
      await remove(at("empty").intent);
      await store.shards.forgetApplications([at("empty").applicationId], soon());
      const found = await Promise.all(names.map(async (name) => [name, (await factsOf(at(name).unitId))?.isDeployed] as const));
      expect(Object.fromEntries(found)).toEqual({
        ...{ nothing: false, application: true, status: true, leaving: true, objects: true, empty: false },
      });
    });
  });

  describe("moves that need no hand-over", () => {
    it("give the unit another owner and epoch, a decision, and notify all of it", async () => {
      const { store, deploy, addInstance, application, unit, notificationsOf } = world();
      const deployed = await deploy();
      const { id: to } = await addInstance();
      const before = await unit(deployed.applicationId);
      const move = moveOf(deployed, to);
      const notifications = await notificationsOf(async () =>
        expect(await store.plans.commitMove(move, soon())).toEqual({ kind: "moved", epoch: deployed.epoch + 1 }),
      );
      expect(notifications).toEqual([`application:${deployed.applicationId}`, `unit:${deployed.unitId}`]);
      expect(await unit(deployed.applicationId)).toEqual({
        ...before,
        ...{ owner: to, epoch: deployed.epoch + 1, rowVersion: before.rowVersion + 1 },
      });
      expect(await store.shards.listLagging([deployed.instanceId], 10, soon())).toEqual({ applications: [], units: [] });
      const { id: applicationId } = await application(deployed.applicationId);
      expect(await store.shards.listLagging([to], 10, soon())).toEqual({ applications: [applicationId], units: [deployed.unitId] });
      expect(await store.decisions.list({ subject: deployed.unitId }, 1, soon())).toEqual([move.decision]);
      const { moves } = await store.plans.readFacts(CLASS, AT, soon());
      expect(moves).toEqual([{ unit: deployed.unitId, from: deployed.instanceId, to, reason: "SHED", at: AT }]);
      expect((await store.plans.readFacts(CLASS, millis(AT + 1), soon())).moves).toEqual([]);
      expect(await factsOf(deployed.unitId)).toMatchObject({ movedAt: AT });
      const [operation] = await store.operations.listOperations({}, { limit: 1, after: "" }, soon());
      expect(operation).toMatchObject({ instanceId: to, state: "Waiting" });
    });

    it("refuse acknowledgements of the old epoch from then on (I7)", async () => {
      const { store, deploy, addInstance } = world();
      const deployed = await deploy();
      const { id: to } = await addInstance();
      await store.plans.commitMove(moveOf(deployed, to), soon());
      expect(await store.shards.acknowledge([anObject({ ...deployed, subject: deployed.applicationId })], soon())).toBe(0);
      const late = moveOf(deployed, to);
      expect(await store.plans.commitMove(late, soon())).toEqual({ kind: "stale" });
    });

    it.each([
      ["a unit that was moved", { epoch: 99 }, "stale"],
      ["a unit that is not there", { unitId: "nobody" as UnitId }, "stale"],
      ["a unit that lives elsewhere", { from: "elsewhere" as InstanceId }, "stale"],
      ["an instance that is not there", { to: "nowhere" as InstanceId }, "full"],
      ["an instance without room", { ceiling: { ...WIDE, applications: 999 } }, "full"],
    ] as const)("change nothing for %s", async (_what, over, kind) => {
      const { store, deploy, addInstance, notificationsOf } = world();
      const move = moveOf(await deploy(), (await addInstance()).id, over);
      expect(await notificationsOf(async () => expect(await store.plans.commitMove(move, soon())).toEqual({ kind }))).toEqual([]);
      expect((await store.plans.readFacts(CLASS, millis(0), soon())).moves).toEqual([]);
    });

    it.each(["CORDONED", "DRAINING", "WARMING", "FAILED"] as const)("go to no instance that is %s", async (state) => {
      const { store, deploy, addInstance } = world();
      const deployed = await deploy();
      const { id } = await addInstance({ state });
      expect(await store.plans.commitMove(moveOf(deployed, id), soon())).toEqual({ kind: "full" });
    });

    it("leave a unit where it is of which something is deployed", async () => {
      const { store, deploy, addInstance, unit } = world();
      const deployed = await deploy();
      const { id: to } = await addInstance();
      await store.shards.acknowledge([anObject({ ...deployed, subject: deployed.applicationId })], soon());
      expect(await store.plans.commitMove(moveOf(deployed, to), soon())).toEqual({ kind: "deployed" });
      expect(await unit(deployed.applicationId)).toMatchObject({ owner: deployed.instanceId, epoch: deployed.epoch });
    });

    it("and acknowledgements that race leave either a moved unit or a deployed one, never both", async () => {
      const { store, deploy, addInstance } = world();
      for (let round = 0; round < 20; round += 1) {
        const deployed = await deploy({ namespace: `team-${round}` });
        const { id: to } = await addInstance();
        const acknowledge = () => store.shards.acknowledge([anObject({ ...deployed, subject: deployed.applicationId })], soon());
        const move = () => store.plans.commitMove(moveOf(deployed, to), soon());
        const [taken, { kind }] =
          round % 2 === 0
            ? await Promise.all([acknowledge(), move()])
            : await Promise.all([move(), acknowledge()]).then(([outcome, count]) => [count, outcome] as const);
        expect([taken, kind]).toEqual(kind === "moved" ? [0, "moved"] : [1, "deployed"]);
      }
    });

    it("never overfill an instance, however many schedulers race for it, first placements among them", async () => {
      const { store, deploy, record, unit, addInstance, place } = world();
      const { instanceId } = await deploy();
      const { id: to } = await addInstance();
      const ceiling = { ...WIDE, applications: 10_000 };
      const races: (() => Promise<string>)[] = [];
      for (let index = 0; index < 30; index += 1) {
        const { id: unitId, rowVersion } = await unit((await record({ namespace: `team-${index}` })).applicationId);
        if (index % 3 === 0) {
          const placement = { unitId, rowVersion, instanceId: to, ceiling, decision: aDecision({ subject: unitId }) };
          races.push(async () => (await store.placements.commitFirstPlacement(placement, soon())).kind);
        } else {
          const move = moveOf({ unitId, instanceId, epoch: await place(unitId, instanceId) }, to, { ceiling });
          races.push(async () => (await store.plans.commitMove(move, soon())).kind);
        }
      }
      const kinds = await Promise.all(races.map((race) => race()));
      expect(kinds.filter((kind) => kind === "moved" || kind === "placed")).toHaveLength(10);
      expect(kinds.filter((kind) => kind === "full")).toHaveLength(20);
      const { instances } = await store.placements.readFleet(CLASS, soon());
      expect(instances.find(({ instance }) => instance.id === to)?.load.applications).toBe(10_000);
    });
  });
}
