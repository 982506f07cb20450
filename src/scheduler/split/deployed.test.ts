import { beforeEach, describe, expect, it } from "vitest";
import { type Millis, millis } from "../../domain/clock.ts";
import type { InstanceId, MoveId, UnitId } from "../../domain/ids.ts";
import type { InstanceState } from "../../domain/instance.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { LiveMoves } from "../../mover/port.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import type { DirectiveChange } from "../../store/port.ts";
import type { SplitRow } from "../../store/split/port.ts";
import { aDecision, anIntent, aSpec, aStatus, CLASS, WIDE } from "../../store/testing/builders.ts";
import { createWorld, soon, type World } from "../../store/testing/world.ts";
import { silentLog } from "../../telemetry/log.ts";
import { createRingMemo } from "../ring-memo.ts";
import { splitLarge } from "./record-splits.ts";

const never = new AbortController().signal;
const ROOMY_MS = 60_000;
const CYCLE_MS = 20_000;

/** Instances of a class, and one workspace on the first of them, whose moves and Applications a test plays. */
describe("a deployed workspace that is too large for its instance", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let world: World;
  let instances: readonly InstanceId[];
  let capacity: LoadVector | undefined;
  let states: ReadonlyMap<InstanceId, InstanceState>;
  let moves: { readonly unit: UnitId; readonly to: InstanceId }[];
  beforeEach(() => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    world = createWorld(store);
    moves = [];
    capacity = undefined;
    states = new Map();
  });

  const ids = createCountingIds();
  const addInstances = async (count: number, applications: number): Promise<void> => {
    const added: InstanceId[] = [];
    for (let index = 0; index < count; index += 1) {
      const capacity = { ...WIDE, applications: applications * 1_000 };
      added.push((await world.addInstance({ name: `standard-${index}`, capacity })).id);
    }
    instances = added;
  };
  const deploy = async (count: number, environments: readonly (string | undefined)[] = [undefined]): Promise<void> => {
    const intents = Array.from({ length: count }, (_, index) => {
      const environment = environments[index % environments.length];
      return anIntent({ name: `app-${index}`, spec: { ...aSpec(), destination: environment === undefined ? {} : { environment } } });
    });
    await store.intents.recordDeployments(intents, soon());
    await world.place((await row()).units[0]?.id as UnitId, instances[0] as InstanceId);
    await showAll();
  };
  const row = async (): Promise<SplitRow> => {
    const [found] = await store.splits.list(CLASS, { ...WIDE, applications: 0 }, soon());
    if (found === undefined) throw new Error("there is no workspace");
    return found;
  };
  /** What a reconciler does: every Application is seen under the epoch of its unit, and what is given up is taken down. */
  const showAll = async (): Promise<void> => {
    const { applications, units } = await row();
    for (const { id: unitId, bucket, owner, epoch, joins } of units) {
      const own = applications.filter(({ part }) => part === bucket);
      const at = { instanceId: owner as InstanceId, epoch };
      await store.statuses.recordStatuses(
        own.map(({ id: applicationId }) => aStatus({ ...at, applicationId })),
        soon(),
      );
      if (joins !== undefined && own.length === 0) expect(await store.shards.forgetPart(unitId, soon())).toBe(true);
    }
  };
  /** What a mover does, at once. */
  const askFor: LiveMoves["askFor"] = async ({ unitId, to, epoch, ceiling, kind, reason }) => {
    const id = `move-${moves.length}-${clock.now()}` as MoveId;
    const request = { id, unitId, to, epoch, kind, reason, plan: undefined, reverses: undefined, isFailOver: false, actor: "x", ceiling };
    const outcome = await store.moves.request({ ...request, decision: aDecision({ subject: unitId }) }, soon());
    if (outcome.kind !== "requested") return { kind: "refused", why: outcome.kind };
    await store.moves.begin(id, soon());
    const phases = ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT", "GRANT", "ACTIVATE", "VERIFY", "CLEANUP", "DONE"] as const;
    for (const [index, from] of phases.entries()) {
      const next = phases[index + 1];
      if (from === "COMMIT") await store.moves.commit(id, aDecision({ subject: unitId }), soon());
      else if (next !== undefined) await store.moves.advance(id, { from, to: next, message: "" }, soon());
    }
    moves.push({ unit: unitId, to });
    return { kind: "asked", id };
  };
  const cycle = async (isAutomatic = true): Promise<boolean> => {
    await clock.advance(CYCLE_MS);
    const read = await store.plans.readFacts(CLASS, millis(0), soon());
    const facts = {
      ...read,
      instances: read.instances.map((instance) => ({
        ...{ ...instance, capacity: capacity ?? instance.capacity, state: states.get(instance.id) ?? instance.state },
      })),
    };
    const deps = { store, moving: { askFor }, ids, log: silentLog, clock, ringsOf: createRingMemo() };
    return splitLarge({ ...deps, splitting: { roomyMs: ROOMY_MS } }, { facts, at: clock.now() as Millis, isAutomatic }, never);
  };
  /** Cycles until nothing is under way; no more than two parts are ever on one instance. */
  const settle = async (): Promise<number> => {
    for (let cycles = 1; cycles <= 60; cycles += 1) {
      const isUnderWay = await cycle();
      const owners = (await row()).units.map(({ owner }) => owner);
      expect(owners.length - new Set(owners).size).toBeLessThanOrEqual(1);
      await showAll();
      if (!isUnderWay) return cycles;
    }
    throw new Error("it does not come to rest");
  };
  const sizes = async (): Promise<readonly number[]> => {
    const { units, applications } = await row();
    return units.map(({ bucket }) => applications.filter(({ part }) => part === bucket).length);
  };
  /** What each instance is declared to carry from now on. */
  const resize = (applications: number): void => {
    capacity = { ...WIDE, applications: applications * 1_000 };
  };

  it("is cut over three instances, evenly, by as many moves as are needed, and is not touched again", async () => {
    await addInstances(3, 900);
    await deploy(600);
    await settle();
    const { units } = await row();
    expect(new Set(units.map(({ owner }) => owner)).size).toBe(3);
    for (const size of await sizes()) expect(Math.abs(size - 200)).toBeLessThanOrEqual(20);
    expect(moves).toHaveLength(2);
    expect(moves[0]?.unit).toBe(units[0]?.id);
    expect(await cycle()).toBe(false);
    expect(await store.decisions.list({ verdict: "CUT" }, 9, soon())).toHaveLength(2);
  });

  it("is not cut where people decide: a part is opened for what comes, and given up once Argosy decides", async () => {
    await addInstances(3, 900);
    await deploy(600);
    expect(await cycle(false)).toBe(false);
    const opened = (await row()).units.filter(({ owner }) => owner === undefined);
    expect(await sizes()).toEqual([600, ...opened.map(() => 0)]);
    for (const [index, { id }] of opened.entries()) await world.place(id, instances[index + 1] as InstanceId);
    await settle();
    for (const size of await sizes()) expect(Math.abs(size - 200)).toBeLessThanOrEqual(20);
  });

  it("is not cut where it is pinned or held, or in a freeze", async () => {
    await addInstances(2, 300);
    await deploy(250);
    const { workspaceId } = await row();
    const order = { actor: "otto", at: clock.now(), reason: "" };
    const direct = (change: DirectiveChange["change"]) => store.directives.direct({ workspaceId, change, decision: aDecision() }, soon());
    await direct({ pin: { kind: "instance", instance: instances[0] as InstanceId, ...order } });
    expect(await cycle()).toBe(false);
    await direct({ pin: undefined });
    await direct({ hold: { until: millis(clock.now() + 1e9), ...order } });
    expect(await cycle()).toBe(false);
    await direct({ hold: undefined });
    const freeze = { name: "night", schedule: undefined, durationMs: 1e9, ...order };
    await store.directives.putFreeze(freeze, aDecision(), soon());
    expect(await cycle()).toBe(false);
    await store.directives.dropFreeze(freeze.name, aDecision(), soon());
    expect((await row()).units).toHaveLength(1);
    expect(await cycle()).toBe(true);
    await settle();
    expect(await sizes()).toHaveLength(2);
  });

  it("leaves what deploys to environments to the unit that leaves, and cuts nothing that deploys to one environment alone", async () => {
    await addInstances(3, 400);
    await deploy(400, [undefined, undefined, "far"]);
    await settle();
    const { applications } = await row();
    const away = applications.filter(({ environment }) => environment !== "");
    expect(new Set(away.map(({ part }) => part)).size).toBe(1);
    expect((await sizes()).length).toBeGreaterThan(1);
  });

  it("is joined again when it has been small enough for long, until one part has all, whichever came first", async () => {
    await addInstances(3, 900);
    await deploy(600);
    await settle();
    moves = [];
    resize(100_000);
    for (let cycles = 0; cycles < 40 && (await row()).units.length > 1; cycles += 1) {
      await cycle();
      await showAll();
    }
    expect(await row()).toMatchObject({ parts: 1, units: [{ bucket: 0 }], deal: {} });
    expect(await sizes()).toEqual([600]);
    expect(moves).toHaveLength(2);
    expect(await settle()).toBe(1);
  });

  it("has fewer parts where an instance is emptied and the others all have one, but not where one only takes nothing", async () => {
    await addInstances(3, 900);
    await deploy(600);
    await settle();
    const { units } = await row();
    const emptied = units.at(0)?.owner as InstanceId;
    states = new Map([[emptied, "CORDONED"]]);
    expect(await cycle()).toBe(false);
    expect(await sizes()).toHaveLength(3);
    states = new Map([[emptied, "DRAINING"]]);
    expect(await settle()).toBeGreaterThan(1);
    expect(await sizes()).toHaveLength(2);
    // The drain may hand it over now: an instance is without a part of it.
    const owners = new Set((await row()).units.map(({ owner }) => owner));
    const free = instances.filter((id) => id !== emptied && !owners.has(id));
    expect(owners.has(emptied) && free.length === 0).toBe(false);
  });

  it("is kept in parts when it is large again before a part has come", async () => {
    await addInstances(2, 900);
    await deploy(600);
    await settle();
    resize(100_000);
    for (let cycles = 0; cycles < 10 && !(await row()).units.some(({ joins }) => joins !== undefined); cycles += 1) await cycle();
    resize(900);
    await cycle();
    expect((await row()).units.map(({ joins }) => joins)).toEqual([undefined, undefined]);
    await settle();
    expect(await sizes()).toHaveLength(2);
  });

  it("waits while its move fails, as any plan does", async () => {
    await addInstances(2, 300);
    await deploy(250);
    await cycle();
    await showAll();
    const unitId = (await row()).units[0]?.id as UnitId;
    const id = "failing" as MoveId;
    const { epoch } = (await row()).units[0] ?? { epoch: 0 };
    const what = { id, unitId, to: instances[1] as InstanceId, epoch, kind: "voluntary", reason: "FORCED", plan: undefined } as const;
    await store.moves.request(
      { ...what, reverses: undefined, isFailOver: false, actor: "x", ceiling: WIDE, decision: aDecision({ subject: unitId }) },
      soon(),
    );
    expect(await cycle()).toBe(true);
    await store.moves.begin(id, soon());
    await store.moves.abort(id, { message: "it failed", decision: aDecision({ subject: unitId, at: clock.now() }) }, soon());
    await store.moves.advance(id, { from: "ABORT", to: "ABORTED", message: "it failed" }, soon());
    await showAll();
    expect(await cycle()).toBe(false);
    expect(moves).toEqual([]);
  });
});
