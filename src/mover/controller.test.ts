import { expect, it, vi } from "vitest";
import type { MoveId } from "../domain/ids.ts";
import type { Move } from "../domain/move.ts";
import { LABEL_UNIT } from "../domain/names.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision, WIDE } from "../store/testing/builders.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { createMover } from "./controller.ts";
import { DEFAULT_BUDGETS, type StartBudgets } from "./next-starts.ts";
import type { ApplicationWatch } from "./port.ts";

const AT = { namespace: "shard", name: "web" };
const never = new AbortController().signal;

const ONE = { instance: 1, cluster: 1, fleet: 1 };
const ONE_AT_A_TIME: StartBudgets = { voluntary: ONE, relief: ONE, drain: ONE, evacuation: ONE };

/** A mover whose moves wait for nothing once they have begun, and may begin one at a time; with what it asks of the store. */
function startMover(budgets = ONE_AT_A_TIME) {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const world = createWorld(store);
  const { deploy, addInstance } = world;
  const requested = async (namespace: string): Promise<MoveId> => {
    const { unitId, epoch } = await deploy({ namespace });
    const id = `move-of-${unitId}` as MoveId;
    const how = { kind: "voluntary", reason: "FORCED", plan: undefined, reverses: undefined, isFailOver: false, actor: "otto" } as const;
    const { id: to } = await addInstance();
    await store.moves.request({ ...how, id, unitId, to, epoch, ceiling: WIDE, decision: aDecision() }, never);
    return id;
  };
  const observations: MoveId[] = [];
  const readRows: typeof store.moves.readRows = (id, signal) => {
    observations.push(id);
    return store.moves.readRows(id, signal);
  };
  const listLive = vi.fn(store.moves.listLive);
  const nobody = { list: async () => [], read: async () => undefined } as never;
  const listeners: Parameters<ApplicationWatch["onApplication"]>[0][] = [];
  const ending = new AbortController();
  const mover = createMover({
    ...{ clock, rng: createSeededRng("mover"), log: silentLog, metrics: noMetrics },
    store: { ...store, moves: { ...store.moves, readRows, listLive } },
    watch: {
      isHeard: () => true,
      onApplication(listener) {
        listeners.push(listener);
        return () => void listeners.splice(0);
      },
    },
    ...{
      observations: { of: async () => nobody },
      managed: nobody,
      unitPrerequisites: nobody,
      ownerBindings: nobody,
      isSingleServer: true,
    },
    ...{ destination: { server: "https://api.example", caData: "" }, namespaces: { accounts: "argosy" } },
    partition: { isMine: () => true, onChange: () => () => undefined },
    budgets,
    decide: () => ({ kind: "wait", why: "for nothing" }),
  });
  return {
    ...{ clock, store, world, requested, observations, searches: () => listLive.mock.calls.length },
    async begun(namespace: string): Promise<MoveId> {
      const id = await requested(namespace);
      expect(await store.moves.begin(id, never)).toBe("begun");
      return id;
    },
    tell: (change: Parameters<(typeof listeners)[number]>[0]) => listeners.forEach((listener) => listener(change)),
    start: () => mover.start(ending.signal),
    stop: () => ending.abort(),
  };
}

it("lets a report on a running move wake that move, and neither another one nor the search for those that wait", async () => {
  const { clock, store, begun, observations, searches, tell, start, stop } = startMover();
  const [reported, other] = [await begun("one"), await begun("two")];
  start();
  // What waits for long is observed once a second.
  await clock.advance(20_000);
  expect(new Set(observations)).toEqual(new Set([reported, other]));
  observations.length = 0;
  const before = searches();
  const { unitId } = (await store.moves.read(reported, never)) as Move;
  for (const resourceVersion of ["1", "2", "3"]) {
    tell({ kind: "upsert", at: AT, now: { at: AT, resourceVersion, labels: { [LABEL_UNIT]: unitId } } as never, before: undefined });
    await clock.advance(100);
  }
  const times = (id: MoveId): number => observations.filter((each) => each === id).length;
  expect(times(reported)).toBeGreaterThanOrEqual(3);
  expect(times(other)).toBeLessThanOrEqual(1);
  // The sweep may fall into that time.
  expect(searches() - before).toBeLessThanOrEqual(1);
  stop();
});

it("begins four moves at once off one overloaded instance, never more, and the next when one of them is over", async () => {
  const { clock, store, world, start, stop } = startMover(DEFAULT_BUDGETS);
  const [overloaded, target] = [await world.addInstance(), await world.addInstance()];
  const how = { kind: "voluntary", reason: "HOT", plan: undefined, reverses: undefined, isFailOver: false, actor: "scheduler" } as const;
  for (let index = 0; index < 6; index += 1) {
    const { id: unitId } = await world.unit((await world.record({ namespace: `team-${index}` })).applicationId);
    const epoch = await world.place(unitId, overloaded.id);
    const request = { ...how, id: `move-${index}` as MoveId, unitId, to: target.id, epoch, ceiling: WIDE, decision: aDecision() };
    expect(await store.moves.request(request, never)).toEqual({ kind: "requested" });
  }
  const begun = async (): Promise<readonly MoveId[]> => {
    const live = await store.moves.list({ isLive: true }, 10, never);
    return live.flatMap(({ id, phase }) => (phase === "WAITING" ? [] : [id])).sort();
  };
  start();
  for (let second = 0; second < 30; second += 1) {
    await clock.advance(1_000);
    expect(await begun()).toHaveLength(4);
  }
  const [first = "none" as MoveId] = await begun();
  expect(await store.moves.abort(first, { message: "", decision: aDecision() }, never)).toBe(true);
  expect(await store.moves.advance(first, { from: "ABORT", to: "ABORTED", message: "" }, never)).toBe(true);
  await clock.advance(1_500);
  expect(await begun()).toHaveLength(4);
  expect(await begun()).not.toContain(first);
  stop();
});

it("searches once for a move that has come and has to wait, and begins it when another one is over", async () => {
  const { clock, store, begun, requested, searches, start, stop } = startMover();
  const first = await begun("one");
  start();
  // Between two sweeps, which come every five seconds or up to a tenth sooner or later.
  await clock.advance(6_000);
  const before = searches();
  const next = await requested("two");
  await clock.advance(1_500);
  expect(searches() - before).toBe(1);
  expect(await store.moves.read(next, never)).toMatchObject({ phase: "WAITING" });
  expect(await store.moves.abort(first, { message: "", decision: aDecision() }, never)).toBe(true);
  await store.moves.advance(first, { from: "ABORT", to: "ABORTED", message: "" }, never);
  await clock.advance(500);
  expect(searches() - before).toBe(2);
  expect(await store.moves.read(next, never)).toMatchObject({ phase: "PREPARE" });
  stop();
});
