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
import type { ApplicationWatch } from "./port.ts";

const AT = { namespace: "shard", name: "web" };
const never = new AbortController().signal;

/** A mover whose moves wait for nothing once they have begun, and may begin one at a time; with what it asks of the store. */
function startMover() {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const { seat, addInstance } = createWorld(store);
  const requested = async (namespace: string): Promise<MoveId> => {
    const { unitId, epoch } = await seat({ namespace });
    const id = `move-of-${unitId}` as MoveId;
    const how = { kind: "voluntary", reason: "FORCED", plan: undefined, reverses: undefined, isFailOver: false, actor: "otto" } as const;
    const { id: to } = await addInstance();
    await store.moves.request({ ...how, id, unitId, to, epoch, ceiling: WIDE, decision: aDecision() }, never);
    return id;
  };
  const looks: MoveId[] = [];
  const readRows: typeof store.moves.readRows = (id, signal) => {
    looks.push(id);
    return store.moves.readRows(id, signal);
  };
  const list = vi.fn(store.moves.list);
  const nobody = { list: async () => [], read: async () => undefined } as never;
  const listeners: Parameters<ApplicationWatch["onApplication"]>[0][] = [];
  const ending = new AbortController();
  const one = { instance: 1, cluster: 1, fleet: 1 };
  const mover = createMover({
    ...{ clock, rng: createSeededRng("mover"), log: silentLog, metrics: noMetrics },
    store: { ...store, moves: { ...store.moves, readRows, list } },
    watch: {
      isHeard: () => true,
      onApplication(listener) {
        listeners.push(listener);
        return () => void listeners.splice(0);
      },
    },
    ...{ sights: { of: async () => nobody }, managed: nobody, grounds: nobody, registers: nobody, isSingleServer: true },
    ...{ destination: { server: "https://api.example", caData: "" }, namespaces: { accounts: "argosy" } },
    partition: { isMine: () => true, onChange: () => () => undefined },
    budgets: { voluntary: one, drain: one, evacuation: one },
    decide: () => ({ kind: "wait", why: "for nothing" }),
  });
  return {
    ...{ clock, store, requested, looks, searches: () => list.mock.calls.length },
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

it("lets news of a move that goes on wake that move, and neither another one nor the search for those that wait", async () => {
  const { clock, store, begun, looks, searches, tell, start, stop } = startMover();
  const [told, other] = [await begun("one"), await begun("two")];
  start();
  // What waits for long is looked at once a second.
  await clock.advance(20_000);
  expect(new Set(looks)).toEqual(new Set([told, other]));
  looks.length = 0;
  const before = searches();
  const { unitId } = (await store.moves.read(told, never)) as Move;
  for (const resourceVersion of ["1", "2", "3"]) {
    tell({ kind: "upsert", at: AT, now: { at: AT, resourceVersion, labels: { [LABEL_UNIT]: unitId } } as never, before: undefined });
    await clock.advance(100);
  }
  const times = (id: MoveId): number => looks.filter((each) => each === id).length;
  expect(times(told)).toBeGreaterThanOrEqual(3);
  expect(times(other)).toBeLessThanOrEqual(1);
  // The sweep may fall into that time.
  expect(searches() - before).toBeLessThanOrEqual(1);
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
