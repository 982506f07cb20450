import { expect, it } from "vitest";
import type { InstanceId } from "../../domain/ids.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import type { Host } from "../find-hosts.ts";
import { createSweep } from "./sweep-instance.ts";

const MINUTES = 60_000;
const none = (): void => undefined;
const ignore = async (): Promise<void> => undefined;

/** A sweep that finds nothing, and counts how often it goes through the rights to read of all instances. */
function aSweep() {
  const clock = createVirtualClock();
  let walks = 0;
  const sweep = createSweep({
    shards: { listLagging: async () => ({ units: [], applications: [] }), listOwned: async () => [] } as never,
    syncRuns: { listBusy: async () => [] },
    orphans: { remove: ignore, hasSome: () => false },
    leftovers: { remove: ignore },
    workspaceEntries: {
      async removeLeftReaders() {
        walks += 1;
      },
    },
    takeIn: none,
    requests: { requestUnit: none, reviewUnit: none, requestSync: none },
    clock,
  });
  const host = (id: string): Host => ({ instance: { id: id as InstanceId } }) as Host;
  const sweepOf = (id: string): Promise<void> => sweep.sweep(host(id), new AbortController().signal);
  return { clock, sweep, sweepOf, walks: () => walks };
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
