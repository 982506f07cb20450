import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../../../domain/clock.ts";
import type { InstanceId, UnitId } from "../../../domain/ids.ts";
import { type LoadVector, loadVector, ZERO_LOAD } from "../../../domain/load.ts";
import type { LoadSample } from "../../load/port.ts";
import { AT, aClaim, aSpec, aStatus, CLASS } from "../builders.ts";
import { type Deployed, soon, type World } from "../world.ts";

const vector = (values: readonly number[]): LoadVector => {
  const left = [...values];
  return loadVector(() => left.shift() ?? 0);
};

export function describeLoads(world: () => World): void {
  const sampleOf = (
    deployed: Pick<Deployed, "instanceId" | "unitId" | "epoch">,
    at: Millis,
    over: Partial<LoadSample> = {},
  ): LoadSample => ({
    instanceId: deployed.instanceId,
    at,
    total: vector([1000, 1, 12, 30, 500]),
    observation: { milliCpu: 40, requests: 10.5, resources: 12, applications: 1 },
    cachedObjects: 300,
    units: [
      {
        unitId: deployed.unitId,
        epoch: deployed.epoch,
        load: { planning: vector([1000, 1, 12, 0.25, 3.125]), recent: vector([1000, 1, 12, 30.5, 500]), at },
        whole: vector([7777, 1, 12, 1, 4]),
      },
    ],
    ...over,
  });

  describe("load samples", () => {
    it("keep fractions, and fill the instance by whole numbers; applications stay as they are counted", async () => {
      const { store, deploy } = world();
      const deployed = await deploy();
      const sample = sampleOf(deployed, AT);
      await store.loads.recordSample(sample, soon());
      const [counted] = await store.loads.countUnits(deployed.instanceId, soon());
      expect(counted).toMatchObject({ unitId: deployed.unitId, epoch: deployed.epoch });
      expect(counted?.known).toEqual(sample.units[0]?.load);
      const { instances } = await store.placements.readFleet(CLASS, soon());
      expect(instances[0]?.load).toEqual(vector([1000, 1, 12, 1, 4]));
      const { units: _, ...load } = sample;
      expect(await store.loads.listInstanceLoads(CLASS, soon())).toEqual([load]);
    });

    it("count what a unit's applications manage, and leave absent what was not measured", async () => {
      const { store, deploy } = world();
      const deployed = await deploy();
      await store.statuses.recordStatuses([aStatus(deployed)], soon());
      expect(await store.loads.countUnits(deployed.instanceId, soon())).toEqual([
        {
          ...{ unitId: deployed.unitId, workspaceId: deployed.workspaceId, namespace: "team", epoch: deployed.epoch, known: undefined },
          destinations: [{ isOwn: true, environments: [], applications: 1, resources: 1 }],
          repositories: { [aSpec().source.repoUrl]: 1 },
        },
      ]);
      const sample = sampleOf(deployed, AT, { observation: undefined, cachedObjects: undefined, units: [] });
      await store.loads.recordSample(sample, soon());
      const { units: _, ...load } = sample;
      expect(await store.loads.listInstanceLoads(CLASS, soon())).toEqual([load]);
      expect(await store.loads.countUnits("nobody" as InstanceId, soon())).toEqual([]);
    });

    it("count by destination and by repository: what a name of an environment means, or is to mean, or nothing yet", async () => {
      const { store, deploy, record } = world();
      const deployed = await deploy();
      const { id: environmentId } = await store.environments.claim(aClaim({ workspace: deployed.intent.workspace }), soon());
      const elsewhere = (name: string) => ({ ...aSpec(), destination: { environment: name, namespace: "web" } });
      const other = { ...aSpec().source, repoUrl: "https://git.example/other.git" };
      await record({ spec: elsewhere("prod") });
      await record({ spec: elsewhere("prod") });
      await record({ spec: { ...elsewhere("no-such"), source: other } });
      const [unit] = await store.loads.countUnits(deployed.instanceId, soon());
      expect(unit?.destinations).toEqual([
        { isOwn: true, environments: [], applications: 1, resources: 0 },
        { isOwn: false, environments: [], applications: 1, resources: 0 },
        { isOwn: false, environments: [environmentId], applications: 2, resources: 0 },
      ]);
      expect(unit?.repositories).toEqual({ [aSpec().source.repoUrl]: 3, [other.repoUrl]: 1 });
    });

    it("that are older than the last, or about a unit that is elsewhere by now, change nothing", async () => {
      const { store, deploy } = world();
      const deployed = await deploy();
      const latest = sampleOf(deployed, millis(AT + 60_000));
      await store.loads.recordSample(latest, soon());
      const zero = { planning: ZERO_LOAD, recent: ZERO_LOAD };
      const unit = { unitId: deployed.unitId, epoch: deployed.epoch, whole: ZERO_LOAD };
      await store.loads.recordSample(sampleOf(deployed, AT, { units: [{ ...unit, load: { ...zero, at: AT } }] }), soon());
      const late = millis(AT + 120_000);
      const moved = { ...unit, epoch: deployed.epoch + 1, load: { ...zero, at: late } };
      const gone = { ...unit, unitId: "nobody" as UnitId, load: { ...zero, at: late } };
      await store.loads.recordSample(sampleOf(deployed, late, { units: [moved, gone] }), soon());
      // Its instance was measured since, and a row says nothing of units that the sample left out.
      expect((await store.loads.countUnits(deployed.instanceId, soon()))[0]?.known).toEqual({ ...latest.units[0]?.load, at: late });
      expect((await store.loads.listInstanceLoads(CLASS, soon()))[0]?.at).toBe(late);
      await store.loads.recordSample(sampleOf({ ...deployed, instanceId: "nobody" as InstanceId }, late), soon());
    });

    it("that bring nothing new about a unit say when it was measured last, to whoever counts, plans or asks for the heaviest", async () => {
      const { store, deploy } = world();
      const deployed = await deploy();
      const first = sampleOf(deployed, AT);
      await store.loads.recordSample(first, soon());
      const [same, without] = [millis(AT + 60_000), millis(AT + 120_000)];
      for (const sample of [sampleOf(deployed, same), sampleOf(deployed, without, { units: [] })]) {
        await store.loads.recordSample(sample, soon());
        const known = { ...first.units[0]?.load, at: sample.at };
        expect((await store.loads.countUnits(deployed.instanceId, soon()))[0]?.known).toEqual(known);
        expect((await store.plans.readFacts(CLASS, AT, soon())).units[0]?.known).toEqual(known);
        expect((await store.loads.listHeaviest({ limit: 1 }, soon()))[0]?.known).toEqual(known);
      }
    });

    it("that are older than one which brought nothing new change nothing", async () => {
      const { store, deploy } = world();
      const deployed = await deploy();
      const first = sampleOf(deployed, AT);
      await store.loads.recordSample(first, soon());
      const latest = millis(AT + 120_000);
      await store.loads.recordSample(sampleOf(deployed, latest), soon());
      const late = millis(AT + 60_000);
      const load = { planning: ZERO_LOAD, recent: ZERO_LOAD, at: late };
      const units = [{ unitId: deployed.unitId, epoch: deployed.epoch, load, whole: ZERO_LOAD }];
      await store.loads.recordSample(sampleOf(deployed, late, { units }), soon());
      expect((await store.loads.countUnits(deployed.instanceId, soon()))[0]?.known).toEqual({ ...first.units[0]?.load, at: latest });
      const { instances } = await store.placements.readFleet(CLASS, soon());
      expect(instances[0]?.load).toEqual(vector([1000, 1, 12, 1, 4]));
    });

    it("of overlapping batches in opposite order let each other through", async () => {
      const { store, deploy, record, unit, place } = world();
      const deployed = await deploy();
      const held = [deployed];
      for (let index = 0; index < 20; index += 1) {
        const { applicationId } = await record({ namespace: `team-${index}` });
        const { id: unitId } = await unit(applicationId);
        held.push({ ...deployed, unitId, epoch: await place(unitId, deployed.instanceId) });
      }
      const units = (at: Millis) => held.map((one) => ({ ...sampleOf(one, at).units[0]!, ...one }));
      const samples = Array.from({ length: 6 }, (_, index) => {
        const all = units(millis(AT + index));
        return sampleOf(deployed, millis(AT + index), { units: index % 2 === 0 ? all : all.toReversed() });
      });
      await Promise.all(samples.map((sample) => store.loads.recordSample(sample, soon())));
      const counted = await store.loads.countUnits(deployed.instanceId, soon());
      expect(new Set(counted.map(({ known }) => known?.at))).toEqual(new Set([AT + 5]));
    });

    it("leave retired instances and other classes out", async () => {
      const { store, addInstance } = world();
      for (const over of [{ state: "RETIRED" }, { class: "us/shared/public" }] as const) {
        const { id: instanceId } = await addInstance(over);
        await store.loads.recordSample(sampleOf({ instanceId, unitId: "u" as UnitId, epoch: 1 }, AT), soon());
      }
      expect(await store.loads.listInstanceLoads(CLASS, soon())).toEqual([]);
    });
  });

  describe("what is remembered of a class", () => {
    it("is nothing at first, and what was recorded last", async () => {
      const { loads } = world().store;
      expect(await loads.readState(CLASS, soon())).toEqual({ aboveSince: {}, overloadedSince: {} });
      const state = {
        reference: { total: vector([1, 2, 3, 4, 5]), rival: { total: ZERO_LOAD, since: AT } },
        weights: { base: 20, request: 0.05, resource: 0.002, application: 0.06 },
        ...{ fittedAt: AT, aboveSince: { "instance-1": AT }, overloadedSince: {} },
      };
      await loads.recordState(CLASS, { aboveSince: {}, overloadedSince: {} }, soon());
      await loads.recordState(CLASS, state, soon());
      expect(await loads.listSizes(soon())).toEqual({});
      const size = { instances: 3, at: AT, reason: "it will be fuller" };
      await loads.recordState("us/shared/public", { aboveSince: {}, overloadedSince: {}, sizes: { us: size } }, soon());
      await loads.recordState("us/own/public", { aboveSince: {}, overloadedSince: {}, sizes: { own: { ...size, instances: 1 } } }, soon());
      expect(await loads.listSizes(soon())).toEqual({ us: size, own: { ...size, instances: 1 } });
      expect(await loads.readState(CLASS, soon())).toEqual(state);
    });
  });

  describe("the heaviest units", () => {
    it("are those with the largest share of their instance, dimensions without capacity left aside", async () => {
      const { store, deploy, addInstance, record, unit, place } = world();
      const small = await addInstance({ capacity: vector([4000, 0, 100, 100, 100]) });
      const { id: unitId } = await unit((await record({ namespace: "small" })).applicationId);
      const epoch = await place(unitId, small.id);
      const other = await deploy({ namespace: "large" });
      await store.loads.recordSample(sampleOf({ instanceId: small.id, unitId, epoch }, AT), soon());
      const heaviest = await store.loads.listHeaviest({ limit: 10 }, soon());
      expect(heaviest.map(({ namespace }) => namespace)).toEqual(["small", "large"]);
      expect(heaviest[0]).toEqual({
        ...{ unitId, namespace: "small", bucket: 0, instanceId: small.id, capacity: small.capacity },
        planning: vector([1000, 1, 12, 1, 4]),
        known: sampleOf({ instanceId: small.id, unitId, epoch }, AT).units[0]?.load,
      });
      expect(heaviest[1]).toMatchObject({ unitId: other.unitId, known: undefined });
      expect(await store.loads.listHeaviest({ limit: 1 }, soon())).toHaveLength(1);
      const own = await store.loads.listHeaviest({ limit: 1, instanceId: other.instanceId }, soon());
      expect(own.map(({ unitId: id }) => id)).toEqual([other.unitId]);
    });
  });
}
