import { expect, it } from "vitest";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import type { Host } from "../find-hosts.ts";
import { createSweep } from "./sweep-instance.ts";

const MINUTES = 60_000;
const none = (): void => undefined;
const ignore = async (): Promise<void> => undefined;

/** A sweep that finds nothing, and counts how often it goes through the rights to read of all instances. */
function aSweep({ units = 0 } = {}) {
  const clock = createVirtualClock();
  let walks = 0;
  const reviewed: UnitId[] = [];
  const statements: string[] = [];
  const sweep = createSweep({
    shards: {
      async listLagging(ids: readonly InstanceId[]) {
        statements.push(`lagging ${ids.length}`);
        return { units: [], applications: [] };
      },
      listOwned: async (id: InstanceId) => Array.from({ length: units }, (_, index) => ({ unitId: `${id}-${index}` as UnitId })),
    } as never,
    syncRuns: {
      async listBusy(ids) {
        statements.push(`busy ${ids.length}`);
        return [];
      },
    },
    orphans: { remove: ignore, hasSome: () => false },
    leftovers: { remove: ignore },
    workspaceEntries: {
      async removeLeftReaders() {
        walks += 1;
      },
    },
    takeIn: none,
    requests: { requestUnit: none, reviewUnit: (id) => void reviewed.push(id), requestSync: none },
    clock,
  });
  const host = (id: string): Host => ({ instance: { id: id as InstanceId } }) as Host;
  const { signal } = new AbortController();
  const sweepOf = (id: string): Promise<void> => sweep.sweep(host(id), signal);
  /** What a process does every quarter of a minute. */
  const tick = async (ids: readonly InstanceId[]): Promise<void> => {
    await sweep.requestLagging(ids, signal);
    for (const id of ids) await sweepOf(id);
    await clock.advance(15_000);
  };
  return { clock, sweep, sweepOf, tick, reviewed, statements, walks: () => walks };
}

it("goes through the rights to read of all instances in thorough sweeps only: the first, one in five minutes, and after a loss of trust", async () => {
  const { clock, sweep, sweepOf, walks } = aSweep();
  await sweepOf("one");
  expect(walks()).toBe(1);
  for (let minute = 0; minute < 4; minute += 1) {
    await clock.advance(MINUTES);
    await sweepOf("one");
  }
  expect(walks()).toBe(1);
  await clock.advance(MINUTES);
  await sweepOf("one");
  expect(walks()).toBe(2);
  sweep.distrust((id) => id === "another");
  await sweepOf("one");
  expect(walks()).toBe(2);
  sweep.distrust((id) => id === "one");
  await sweepOf("one");
  expect(walks()).toBe(3);
});

const idsOf = (count: number): readonly InstanceId[] => Array.from({ length: count }, (_, index) => `i${index}` as InstanceId);

it("asks for what lags on all instances in two statements, and for that of one only when its turn of a thorough sweep comes", async () => {
  const { tick, statements } = aSweep();
  await tick(idsOf(3));
  expect(statements).toEqual(["lagging 3", "busy 3", ...idsOf(3).flatMap(() => ["lagging 1", "busy 1"])]);
  statements.length = 0;
  for (let tenth = 0; tenth < 10; tenth += 1) await tick(idsOf(3));
  expect(statements).toEqual(Array.from({ length: 10 }, () => ["lagging 3", "busy 3"]).flat());
});

it.each([
  { instances: 50, minutes: 5 },
  { instances: 100, minutes: 10 },
  { instances: 500, minutes: 50 },
])("compares each of $instances instances thoroughly once in $minutes minutes", async ({ instances, minutes }) => {
  const { tick, walks } = aSweep();
  const ids = idsOf(instances);
  await tick(ids);
  expect(walks()).toBe(instances);
  for (let count = 1; count < 4 * minutes; count += 1) await tick(ids);
  expect(walks()).toBe(instances);
  await tick(ids);
  expect(walks()).toBe(2 * instances);
});

it.each([
  { units: 100, minutes: 30 },
  { units: 1_000, minutes: 85 },
])("reviews each unit of ten instances with $units units each once in $minutes minutes", async ({ units, minutes }) => {
  const { tick, reviewed } = aSweep({ units });
  for (let count = 0; count < 4 * minutes; count += 1) await tick(idsOf(10));
  expect(reviewed).toHaveLength(10 * units);
  await tick(idsOf(10));
  expect(reviewed).toHaveLength(20 * units);
});

it("forgets instances that are another process's now, so that those it has are compared as often as they should be", async () => {
  const { tick, walks } = aSweep();
  await tick(idsOf(100));
  for (let count = 1; count < 21; count += 1) await tick(idsOf(10));
  expect(walks()).toBe(110);
});
