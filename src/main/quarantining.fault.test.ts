import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { NO_DIRECTIVE } from "../domain/directive.ts";
import type { InstanceVerdict } from "../domain/health.ts";
import type { Instance } from "../domain/instance.ts";
import { type LoadVector, loadVector } from "../domain/load.ts";
import { PHASES } from "../domain/move-phases.ts";
import { createRemedies } from "../health/carry-out-remedy.ts";
import { createQuarantines } from "../health/quarantine/carry-out-quarantine.ts";
import { isInQuarantine } from "../health/quarantine/entries.ts";
import { planFleet } from "../instance-provisioner/fleet-plan.ts";
import { createFaultPoints, FAULT_MODES } from "../reconciler/testing/faults.ts";
import { createCountingIds } from "../runtime/ids.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision, aFleet, anInstance, aPool, aRollout, aWaveInstance } from "../store/testing/builders.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { quarantining } from "./quarantining.ts";
import { createRequestPorts } from "./request-ports.ts";

const never = new AbortController().signal;
const PERIOD_MS = 15_000;
const MINUTE_MS = 60_000;
const ENOUGH = 30;
const OF_STORE = ["list", "append", "listHeaviest", "readUnit", "readUnitsOf", "listInstances", "countUnits", "listVerdicts"] as const;
const OF_STEPS = ["readWindow", "listFreezes", "direct", "changeInstance", "nextOf", "whyNot", "move"] as const;
const CALLS: ReadonlySet<string> = new Set([...OF_STORE, ...OF_STEPS]);
const capacity = loadVector(() => 100_000);
const ofCpu = (milliCpu: number): LoadVector => ({ ...loadVector(() => 1), milliCpu });

/** An overloaded instance with two workspaces, of which `noisy` takes most, and the controller that observes it. */
async function begin(points = createFaultPoints(CALLS), { idle = true, max = 3 } = {}) {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const world = createWorld(store);
  await store.fleet.applyFleet(aFleet({ pools: [aPool("standard", { capacity, instances: { min: idle ? 2 : 1, max } })] }), "ada", never);
  const source = await world.addInstance({ name: "standard-1", capacity });
  if (idle) await world.addInstance({ name: "standard-2", capacity });
  const place = async (namespace: string, milliCpu: number) => {
    const { id, workspaceId } = await world.unit((await world.record({ namespace })).applicationId);
    const epoch = await world.place(id, source.id);
    const load = { planning: ofCpu(milliCpu), recent: ofCpu(milliCpu), at: clock.now() };
    return { unitId: id, workspaceId, epoch, load, whole: ofCpu(milliCpu) };
  };
  const units = [await place("quiet", 5_000), await place("noisy", 60_000)];
  const sample = { instanceId: source.id, at: clock.now(), total: ofCpu(65_000), observation: undefined, cachedObjects: undefined };
  await store.loads.recordSample({ ...sample, units }, never);
  const noisy = units[1]!;

  const since = millis(clock.now() - 25 * MINUTE_MS);
  const verdictOf = (state: InstanceVerdict["state"]): InstanceVerdict => ({
    ...{ instanceId: source.id, at: clock.now(), since, state, cause: state === "overloaded" ? "queue" : "none" },
    ...{ text: "", evidence: [], component: undefined, baseline: undefined },
  });
  let state: InstanceVerdict["state"] = "overloaded";
  const taken = ["SHED", "RAISE"].map((step) => aDecision({ at: since, subject: source.id, kind: "health", verdict: step, rule: "QUEUE" }));
  await store.decisions.append(taken, never);

  const { fleet, health, decisions, directives, placements, moves, loads, rollouts } = store;
  const all = { fleet, health, decisions, directives, placements, moves, loads, rollouts };
  const wrapped = Object.fromEntries(Object.entries(all).map(([name, port]) => [name, points.wrap(port)])) as unknown as typeof all;
  const ids = createCountingIds();
  /** A process of the health role. */
  const open = () => {
    const { moving } = createRequestPorts({ store, clock, ids, log: silentLog });
    const quarantines = createQuarantines({
      ...{ store: wrapped, requests: points.wrap(quarantining({ moving, store })), most: 1, clock, log: silentLog },
      openNamespace: async () => undefined,
    });
    const remedies = createRemedies({
      ...{ store: wrapped, quarantines, clock, log: silentLog, metrics: noMetrics },
      ...{ emptyAfter: 0, restartApartMs: MINUTE_MS, empty: async () => undefined, openNamespace: async () => undefined },
    });
    return { quarantines, remedies };
  };
  let opened = open();

  const observeOnce = async (): Promise<void> => {
    for (const one of await opened.quarantines.listOpen(never)) await opened.quarantines.carryOn(one, never);
    const instance = (await fleet.readInstance(source.id, never))!;
    await opened.remedies.help(
      { instance, verdict: verdictOf(state), serving: [instance], repositories: { disk: new Map(), memory: new Map() } },
      never,
    );
  };
  /** What everybody else does meanwhile: instances come, moves go on. */
  const elsewhere = async ({ movesEnd = true } = {}): Promise<void> => {
    for (const one of await fleet.listInstances(never)) if (one.state === "REQUESTED") await change(one, "ACTIVE");
    const declared = (await fleet.readFleet(never))!;
    const planned = planFleet({ ...declared, instances: await fleet.listInstances(never), units: await fleet.countUnits(never) });
    for (const { instance: name } of planned.filter(({ change: what }) => what === "created"))
      await fleet.insertInstance(anInstance({ name, capacity, state: "REQUESTED" }), aDecision(), never);
    for (const { id, phase } of await moves.list({ isLive: true }, 10, never)) {
      if (phase === "WAITING") await moves.begin(id, never);
      else if (phase === "COMMIT") await moves.commit(id, aDecision({ at: clock.now() }), never);
      else if (movesEnd) await moves.advance(id, { from: phase, to: PHASES[phase].next[0]!, message: "" }, never);
    }
  };
  const change = async ({ id, revision, attempt }: Instance, to: Instance["state"], reason = ""): Promise<void> =>
    void (await fleet.changeInstance({ id, revision, state: to, reason, cause: undefined, attempt, decision: undefined }, never));
  const observe = async (times: number, act = elsewhere): Promise<void> => {
    for (let count = 0; count < times; count += 1) {
      await health.record([{ sample: { at: clock.now(), signals: {} }, verdict: verdictOf(state), keepSince: millis(0) }], never);
      await observeOnce().catch(() => {
        opened = open();
      });
      await act();
      await clock.advance(PERIOD_MS);
    }
  };
  const seen = async () => {
    const instances = await fleet.listInstances(never);
    const { unit, directive } = (await placements.readUnit(noisy.unitId, never))!;
    const journal = (await decisions.list({ subject: source.id, kind: "health", verdict: "QUARANTINE" }, 100, never)).toReversed();
    return {
      holder: instances.find(({ id }) => id === unit.owner),
      directive,
      journal: journal.map(({ details }) => details),
      kept: instances.filter(isInQuarantine).map(({ name }) => name),
      moves: await moves.list({}, 10, never),
      asksFor: (await fleet.readFleet(never))?.spec.pools[0]?.instances.min,
    };
  };
  return {
    ...{ clock, store, world, source, noisy, observe, elsewhere, seen, change },
    recover: () => {
      state = "healthy";
    },
  };
}

describe.each(FAULT_MODES)("when any call of those who give a workspace an instance of its own %s", (mode) => {
  it.each([
    ["an instance that serves nobody", true, "standard-2", CALLS],
    ["one more of its pool", false, "standard-2", new Set([...CALLS, "create"])],
  ] as const)("it gets %s all the same, once, and others are kept off", async (_which, idle, target, calls) => {
    const broke = new Set<string>();
    for (let index = 0; ; index += 1) {
      const points = createFaultPoints(calls);
      const { source, observe, seen } = await begin(points, { idle });
      points.arm(index, mode);
      await observe(ENOUGH);
      const name = points.broke();
      const about = `call ${index}, ${name}`;
      const { holder, directive, journal, kept, moves, asksFor } = await seen();
      expect(holder?.name, about).toBe(target);
      expect(directive.pin, about).toMatchObject({ kind: "instance", instance: holder?.id, actor: "health" });
      expect(kept, about).toEqual([target]);
      expect(
        moves.map(({ from, to, phase, kind }) => [from, to, phase, kind]),
        about,
      ).toEqual([[source.id, holder?.id, "DONE", "drain"]]);
      expect(asksFor, about).toBe(2);
      expect(
        journal.map(({ isAdvice, outcome }) => [isAdvice, outcome]),
        about,
      ).toEqual([
        [false, undefined],
        [false, "done"],
      ]);
      if (name === undefined) break;
      broke.add(name);
    }
    expect([...broke].sort()).toEqual([...calls].sort());
  });

  it("everything is taken back where the move fails", async () => {
    const broke = new Set<string>();
    const calls = new Set(["direct", "changeInstance", "append", "list", "readUnit"]);
    for (let index = 0; ; index += 1) {
      const points = createFaultPoints(calls);
      const { source, store, observe, elsewhere, seen } = await begin(points);
      points.arm(index, mode);
      const abort = async (): Promise<void> => {
        for (const { id, phase } of await store.moves.list({ isLive: true }, 10, never))
          if (phase === "QUIESCE") await store.moves.abort(id, { message: "it failed", decision: aDecision() }, never);
        await elsewhere();
      };
      await observe(ENOUGH, abort);
      const name = points.broke();
      const about = `call ${index}, ${name}`;
      const { holder, directive, journal, kept } = await seen();
      expect(holder?.id, about).toBe(source.id);
      expect(directive, about).toEqual(NO_DIRECTIVE);
      expect(kept, about).toEqual([]);
      expect(journal.at(-1), about).toMatchObject({
        outcome: "given-up",
        reason: expect.stringContaining("no instance of its own for noisy: its live move is ABORT"),
      });
      expect(journal, about).toHaveLength(2);
      if (name === undefined) break;
      broke.add(name);
    }
    expect([...broke].sort()).toEqual([...calls].sort());
  });
});

describe("an instance of its own", () => {
  it("stays advice, which says why, where its pool may have no more", async () => {
    const { observe, seen } = await begin(undefined, { idle: false, max: 1 });
    await observe(ENOUGH);
    const { journal, moves } = await seen();
    expect(journal).toHaveLength(1);
    expect(journal[0]).toMatchObject({
      isAdvice: true,
      reason:
        "give noisy an instance of its own: `argosy pin`; by itself that is not done: pool standard may have 1 instances: raise its instances.max in fleet.yaml first",
    });
    expect(moves).toEqual([]);
  });

  it("stays advice while a release is rolled out to its class: what is moved would be taken for that one's work", async () => {
    const { clock, store, source, observe, seen } = await begin();
    const wave = { name: "canary", instances: [aWaveInstance({ id: source.id })], bakeMs: MINUTE_MS, isExtended: false, isApproved: false };
    const rollout = aRollout({ waves: [wave], createdAt: clock.now() });
    await store.rollouts.create(rollout, aDecision({ subject: rollout.id, kind: "rollout" }), never);
    await observe(ENOUGH);
    const { journal, moves, directive } = await seen();
    expect(journal[0]).toMatchObject({
      isAdvice: true,
      reason: expect.stringContaining(`a freeze holds: rollout ${rollout.id}: 3.5.7 is rolled out`),
    });
    expect([moves, directive]).toEqual([[], NO_DIRECTIVE]);
  });

  it("is not waited for where the overload ends before it serves, and stays with its pool", async () => {
    const { observe, seen, recover } = await begin(undefined, { idle: false });
    await observe(2);
    recover();
    await observe(ENOUGH);
    const { holder, journal, kept, directive, asksFor } = await seen();
    expect([holder?.name, kept, directive, asksFor]).toEqual(["standard-1", [], NO_DIRECTIVE, 2]);
    expect(journal.at(-1)).toMatchObject({ outcome: "given-up", reason: expect.stringContaining("standard-1 is healthy again") });
  });

  it("is closed to others once the move there has begun, and no sooner", async () => {
    const { observe, seen, elsewhere } = await begin();
    await observe(2, async () => undefined);
    expect(await seen()).toMatchObject({ kept: [], moves: [{ phase: "WAITING" }] });
    await observe(1, () => elsewhere({ movesEnd: false }));
    await observe(1, () => elsewhere({ movesEnd: false }));
    expect(await seen()).toMatchObject({ kept: ["standard-2"], moves: [{ phase: "PREPARE" }] });
  });

  it("is open to others again where its move does not get its turn within an hour", async () => {
    const { observe, seen } = await begin();
    await observe(250, async () => undefined);
    const { holder, directive, journal, moves } = await seen();
    expect([holder?.name, directive]).toEqual(["standard-1", NO_DIRECTIVE]);
    expect(moves).toMatchObject([{ phase: "ABORTED" }]);
    expect(journal.at(-1)).toMatchObject({ outcome: "given-up", reason: expect.stringContaining("did not get its turn") });
  });

  it("is a person's matter as soon as a person unpins the workspace", async () => {
    const { store, noisy, observe, seen } = await begin();
    await observe(4);
    await store.directives.direct({ workspaceId: noisy.workspaceId, change: { pin: undefined }, decision: aDecision() }, never);
    await observe(ENOUGH);
    const { holder, directive, journal } = await seen();
    expect([holder?.name, directive]).toEqual(["standard-2", NO_DIRECTIVE]);
    expect(journal.at(-1)).toMatchObject({ outcome: "called-off", reason: "a person has unpinned noisy" });
  });
});
