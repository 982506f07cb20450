import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import type { InstanceVerdict } from "../../../domain/health.ts";
import type { InstanceId, MoveId } from "../../../domain/ids.ts";
import { AT, aDecision, aStatus, WIDE } from "../builders.ts";
import { soon, type World } from "../world.ts";

export function describeHealth(world: () => World): void {
  const verdictOn = (instanceId: InstanceId, over: Partial<InstanceVerdict> = {}): InstanceVerdict => ({
    ...{ instanceId, at: AT, since: AT, state: "stalled", cause: "redis", component: "redis", text: "redis does not serve it" },
    ...{ evidence: [{ signal: "redisPerReconcile", value: 0.01 }], baseline: { reconcileS: 0.02, observations: 30 } },
    ...over,
  });

  describe("an instance's health", () => {
    it("is its latest samples in order, and the newest verdict with all it says", async () => {
      const { store, addInstance } = world();
      const { id } = await addInstance();
      const record = (ms: number, over: Partial<InstanceVerdict> = {}) => {
        const at = millis(AT + ms);
        const sample = { at, signals: { canaryS: ms / 1_000, queueDepth: 3 } };
        return store.health.record([{ sample, verdict: verdictOn(id, { at, ...over }), keepSince: millis(AT + ms - 20_000) }], soon());
      };
      for (const ms of [0, 15_000, 30_000]) await record(ms);
      const kept = await store.health.readWindow(id, millis(0), soon());
      expect(kept.samples.map(({ at, signals }) => [at - AT, signals])).toEqual([
        [15_000, { canaryS: 15, queueDepth: 3 }],
        [30_000, { canaryS: 30, queueDepth: 3 }],
      ]);
      expect(kept.verdict).toEqual(verdictOn(id, { at: millis(AT + 30_000) }));
      // One that comes late changes nothing.
      await record(15_000, { state: "healthy", cause: "none" });
      expect(await store.health.listVerdicts(soon())).toEqual([verdictOn(id, { at: millis(AT + 30_000) })]);
      const later = await store.health.readWindow(id, millis(AT + 20_000), soon());
      expect(later.samples).toHaveLength(1);
    });

    it("is recorded of many instances at once: each sample, the newest verdict of each with its entry, and nothing of those that are gone", async () => {
      const { store, addInstance, notificationsOf } = world();
      const [a, b] = [(await addInstance()).id, (await addInstance()).id];
      const observed = (instanceId: InstanceId, ms: number, rule?: string, state: InstanceVerdict["state"] = "stalled") => {
        const at = millis(AT + ms);
        const decision = rule === undefined ? undefined : aDecision({ subject: instanceId, kind: "health", rule, at });
        return { sample: { at, signals: { canaryS: ms } }, verdict: verdictOn(instanceId, { at, state }), keepSince: AT, decision };
      };
      const gone = "gone" as InstanceId;
      const first = [
        observed(b, 15_000, "OF_B"),
        observed(gone, 0, "GONE"),
        observed(a, 15_000),
        observed(a, 30_000, "OF_A"),
        observed(b, 0),
      ];
      const notified = await notificationsOf(() => store.health.record(first, soon()));
      expect([...notified].sort()).toEqual([`verdict:${a}`, `verdict:${b}`].sort());
      const later = [observed(a, 45_000), observed(b, 30_000, "LATER", "healthy")];
      expect(await notificationsOf(() => store.health.record(later, soon()))).toEqual([`verdict:${b}`]);
      await store.health.record([], soon());
      const rules = (await store.decisions.list({ kind: "health" }, 10, soon())).map(({ subject, rule }) => `${subject} ${rule}`);
      expect(rules.sort()).toEqual([`${a} OF_A`, `${b} OF_B`, `${b} LATER`].sort());
      const windows = [await store.health.readWindow(a, AT, soon()), await store.health.readWindow(b, AT, soon())];
      expect(windows.map(({ samples }) => samples.map(({ signals }) => signals.canaryS))).toEqual([
        [15_000, 30_000, 45_000],
        [0, 15_000, 30_000],
      ]);
      expect(windows.map(({ verdict }) => verdict?.at)).toEqual([AT + 45_000, AT + 30_000]);
    });

    it("stands beside what the instance holds, where units are placed by it", async () => {
      const { store, addInstance } = world();
      const [judged, other] = [await addInstance(), await addInstance()];
      await store.health.record([{ sample: { at: AT, signals: {} }, verdict: verdictOn(judged.id), keepSince: AT }], soon());
      const { instances } = await store.placements.readFleet(judged.class, soon());
      const of = (id: InstanceId) => instances.find(({ instance }) => instance.id === id)?.verdict;
      expect([of(judged.id), of(other.id)]).toEqual([{ state: "stalled", at: AT }, undefined]);
      const { verdicts } = await store.plans.readFacts(judged.class, AT, soon());
      expect(verdicts.filter(({ instanceId }) => [judged.id, other.id].includes(instanceId))).toEqual([
        { instanceId: judged.id, state: "stalled", at: AT },
      ]);
    });

    it("is written to the journal when it changed, and not for a verdict that came too late or of an instance that is gone", async () => {
      const { store, addInstance } = world();
      const { id } = await addInstance();
      const record = (instanceId: InstanceId, ms: number, rule: string) => {
        const at = millis(AT + ms);
        const decision = aDecision({ subject: instanceId, kind: "health", rule, at });
        return store.health.record(
          [{ sample: { at, signals: {} }, verdict: verdictOn(instanceId, { at }), keepSince: AT, decision }],
          soon(),
        );
      };
      await record(id, 30_000, "REDIS");
      await record(id, 15_000, "LATE");
      await record("gone" as InstanceId, 0, "GONE");
      await record(id, 45_000, "GIT");
      const entries = await store.decisions.list({ kind: "health" }, 10, soon());
      expect(entries.map(({ subject, rule }) => [subject, rule])).toEqual([
        [id, "GIT"],
        [id, "REDIS"],
      ]);
    });

    it("notifies of a state that is another than before, and not of one that lasts, came too late, or is of an instance that is gone", async () => {
      const { store, addInstance, notificationsOf } = world();
      const { id } = await addInstance();
      const record = (ms: number, state: InstanceVerdict["state"], instanceId = id) => {
        const at = millis(AT + ms);
        return notificationsOf(() =>
          store.health.record([{ sample: { at, signals: {} }, verdict: verdictOn(instanceId, { at, state }), keepSince: AT }], soon()),
        );
      };
      expect(await record(0, "healthy")).toEqual([`verdict:${id}`]);
      expect(await record(15_000, "healthy")).toEqual([]);
      expect(await record(45_000, "overloaded")).toEqual([`verdict:${id}`]);
      expect(await record(30_000, "healthy")).toEqual([]);
      expect(await record(60_000, "overloaded")).toEqual([]);
      expect(await record(75_000, "healthy", "gone" as InstanceId)).toEqual([]);
      expect((await store.health.readWindow(id, AT, soon())).samples).toHaveLength(5);
    });

    it("leaves absent what was not known, numbers that are none among it", async () => {
      const { store, addInstance } = world();
      const { id } = await addInstance();
      const verdict = verdictOn(id, {
        ...{ component: undefined, baseline: undefined, state: "unknown", cause: "no-metrics", text: "says \0 nothing" },
        evidence: [{ signal: "canaryS", value: undefined }],
      });
      await store.health.record([{ sample: { at: AT, signals: {} }, verdict, keepSince: AT }], soon());
      const { verdict: found, samples } = await store.health.readWindow(id, AT, soon());
      expect(found).toMatchObject({ component: undefined, baseline: undefined, evidence: [{ signal: "canaryS", value: undefined }] });
      expect(samples).toEqual([{ at: AT, signals: {} }]);
    });

    it("is forgotten with the instance, and never recorded of one that is not there", async () => {
      const { store } = world();
      const verdict = verdictOn("gone" as InstanceId);
      await store.health.record([{ sample: { at: AT, signals: {} }, verdict, keepSince: AT }], soon());
      expect(await store.health.readWindow("gone" as InstanceId, AT, soon())).toEqual({ samples: [], verdict: undefined });
    });

    it("is asked for the units it never compared: those with deployments and no status that says how they stand beside Git", async () => {
      const { store, record, unit, place, addInstance } = world();
      const { id: instanceId } = await addInstance();
      const placed = async (namespace: string) => {
        const intent = await record({ namespace });
        const { id: unitId } = await unit(intent.applicationId);
        return { intent, applicationId: intent.applicationId, unitId, instanceId, epoch: await place(unitId, instanceId) };
      };
      const say = async (deployed: Awaited<ReturnType<typeof placed>>, sync: "Synced" | "Unknown") => {
        const said = aStatus(deployed);
        const status = { ...said.status, sync: { ...said.status.sync, status: sync } };
        await store.statuses.recordStatuses([{ ...said, hash: sync, status }], soon());
      };
      const [compared, unknown, silent, moving] = [await placed("a"), await placed("b"), await placed("c"), await placed("d")];
      await say(compared, "Synced");
      await say(unknown, "Unknown");
      const later = millis(Date.now() + 60_000);
      const ask = (over: Partial<Parameters<typeof store.health.listNeverCompared>[0]> = {}) =>
        store.health.listNeverCompared({ instanceId, madeBefore: later, notMovedSince: later, limit: 10, ...over }, soon());
      expect(await ask()).toEqual([unknown.unitId, silent.unitId, moving.unitId]);
      expect(await ask({ limit: 1 })).toEqual([unknown.unitId]);
      expect(await ask({ madeBefore: millis(0) })).toEqual([]);
      expect(await ask({ instanceId: "other" as InstanceId })).toEqual([]);

      const { id: to } = await addInstance();
      const id = "move-away" as MoveId;
      const request = {
        id,
        unitId: moving.unitId,
        to,
        epoch: moving.epoch,
        kind: "evacuation",
        reason: "FORCED",
        plan: undefined,
      } as const;
      const decision = aDecision({ subject: moving.unitId });
      await store.moves.request({ ...request, reverses: undefined, isFailOver: true, actor: "health", ceiling: WIDE, decision }, soon());
      expect(await ask()).toEqual([unknown.unitId, silent.unitId]);
      await store.moves.abort(id, { message: "given up", decision: aDecision({ subject: moving.unitId }) }, soon());
      expect(await ask({ notMovedSince: millis(0) })).toEqual([unknown.unitId, silent.unitId]);
      expect(await ask()).toEqual([unknown.unitId, silent.unitId, moving.unitId]);
    });

    it("counts workspaces with applications that cannot be compared", async () => {
      const { store, deploy } = world();
      const [broken] = [await deploy({ namespace: "broken" }), await deploy({ namespace: "fine" })];
      const status = aStatus(broken);
      const conditions = [{ type: "ComparisonError", message: "repository not found" }];
      await store.statuses.recordStatuses([{ ...status, hash: "other", status: { ...status.status, conditions } }], soon());
      const { id: empty } = await world().addInstance();
      const ask = (ids: readonly InstanceId[]) => store.health.listTroubles(ids, soon());
      const held = (await store.shards.listOwned(broken.instanceId, soon())).length;
      expect(await ask([empty, broken.instanceId])).toEqual([{ instanceId: broken.instanceId, units: held, troubledUnits: 1 }]);
      expect(await ask([empty])).toEqual([]);
      expect(await ask([])).toEqual([]);
      const mended = { ...status, hash: "mended", reconciledAt: undefined, status: { ...status.status, conditions: [] } };
      await store.statuses.recordStatuses([mended], soon());
      expect(await ask([broken.instanceId])).toEqual([]);
    });
  });
}
