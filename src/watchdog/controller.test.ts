import { beforeEach, describe, expect, it } from "vitest";
import { RefusedError } from "../domain/errors.ts";
import { openFindings } from "../domain/ownership.ts";
import type { Partition } from "../domain/partition.ts";
import type { SeenApplication } from "../domain/seen-application.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import type { OwnershipStore } from "../store/port.ts";
import { aStatus } from "../store/testing/builders.ts";
import { createWorld, type Deployed, soon } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { createPromMetrics } from "../telemetry/prom-metrics.ts";
import { createWatchdog, type Watchdog, type WatchdogDeps } from "./controller.ts";
import { aSeen } from "./testing/observations.ts";

describe("the watchdog", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let deployed: Deployed;
  let argoName: string;
  let stands: Map<string, readonly SeenApplication[] | undefined>;
  let reported: Map<string, readonly SeenApplication[]>;
  let listed: string[];
  let rested: number;
  let answers: boolean | undefined;
  let trouble: "refuses" | "hangs" | undefined;
  let metrics: ReturnType<typeof createPromMetrics>;
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    metrics = createPromMetrics({ process: false });
    const world = createWorld(store);
    deployed = await world.deploy();
    await store.statuses.recordStatuses([aStatus(deployed)], soon());
    ({ argoName } = await world.application(deployed.applicationId));
    stands = new Map();
    reported = new Map();
    listed = [];
    rested = 0;
    answers = true;
    trouble = undefined;
  });

  const mine: Partition = { isMine: () => true, onChange: () => () => undefined };
  const watchdog = (partition = mine, of: WatchdogDeps["store"] = store): Watchdog =>
    createWatchdog({
      ...{ store: of, partition, clock, rng: createSeededRng("watchdog"), log: silentLog, metrics },
      applications: {
        async list({ namespace }) {
          listed.push(namespace);
          if (trouble === "hangs") await new Promise(() => undefined);
          if (trouble === "refuses") throw new RefusedError("Listing", { code: "kube.forbidden" });
          return stands.get(namespace);
        },
        reported: ({ namespace }) => reported.get(namespace),
        async rest() {
          rested += 1;
        },
      },
      controllers: { on: async () => async () => answers },
    });
  const put = async (seen: readonly SeenApplication[] | undefined) => {
    const instance = await store.fleet.readInstance(deployed.instanceId, soon());
    stands.set(instance?.namespace ?? "", seen);
  };
  const standing = () => aSeen({ name: argoName, reconciledAt: clock.now() });
  const journal = async () => (await store.decisions.list({ kind: "ownership" }, 10, soon())).map(({ verdict, rule }) => [verdict, rule]);

  it("reports what is wrong within a minute, once, and says when it has ended (P3)", async () => {
    await put([standing()]);
    const dog = watchdog();
    const ended = new AbortController();
    dog.start(ended.signal);
    await clock.advance(31_000);
    expect(await journal()).toEqual([]);
    await put([]);
    await clock.advance(60_000);
    await expect.poll(journal).toEqual([["NO_OWNER", "WATCHDOG"]]);
    await clock.advance(120_000);
    expect(await journal()).toHaveLength(1);
    expect(await metrics.text()).toContain('argosy_watchdog_findings{rule="NO_OWNER"} 1');
    await put([standing()]);
    await clock.advance(60_000);
    await expect.poll(journal).toEqual([
      ["CLEARED", "NO_OWNER"],
      ["NO_OWNER", "WATCHDOG"],
    ]);
    expect(openFindings(await store.decisions.list({ kind: "ownership" }, 10, soon()))).toEqual([]);
    expect(await metrics.text()).toContain('argosy_watchdog_findings{rule="NO_OWNER"} 0');
    await dog.stop();
  });

  it("knows after a restart what was reported, and says nothing while an instance cannot be reached", async () => {
    await put([]);
    const first = watchdog();
    for (let index = 0; index < 2; index += 1) await first.observe(soon());
    expect(await journal()).toEqual([["NO_OWNER", "WATCHDOG"]]);
    const second = watchdog();
    await put(undefined);
    for (let index = 0; index < 3; index += 1) await second.observe(soon());
    await put([]);
    await second.observe(soon());
    expect(await journal()).toEqual([["NO_OWNER", "WATCHDOG"]]);
    await put([standing()]);
    expect(await second.observe(soon())).toEqual({ requeueAfterMs: 5_000 });
    expect(await second.observe(soon())).toEqual({});
    expect(await journal()).toHaveLength(2);
  });

  it("reports a controller that does not answer, within a minute, and not one that cannot be asked", async () => {
    await put([standing()]);
    const dog = watchdog();
    answers = undefined;
    for (let index = 0; index < 2; index += 1) await dog.observe(soon());
    expect(await journal()).toEqual([]);
    answers = false;
    expect(await dog.observe(soon())).toEqual({ requeueAfterMs: 5_000 });
    await dog.observe(soon());
    expect(await journal()).toEqual([["FROZEN", "WATCHDOG"]]);
    answers = true;
    for (let index = 0; index < 2; index += 1) await dog.observe(soon());
    expect(await journal()).toEqual([
      ["CLEARED", "FROZEN"],
      ["FROZEN", "WATCHDOG"],
    ]);
  });

  it("reports by rows that are read again, and nothing by one that is out of date", async () => {
    await put([standing()]);
    let inTurn: OwnershipStore["listOwned"] = store.ownership.listOwned;
    const ownership: OwnershipStore = { ...store.ownership, listOwned: (page, signal) => inTurn(page, signal) };
    const dog = watchdog(mine, { ...store, ownership });
    for (let index = 0; index < 3; index += 1) await dog.observe(soon());
    // The row is thought to be gone.
    inTurn = async () => ({ owned: [], next: undefined });
    expect(await dog.observe(soon())).toEqual({ requeueAfterMs: 5_000 });
    inTurn = async () => ({ owned: [], next: "" as never });
    expect(await dog.observe(soon())).toEqual({});
    expect(await journal()).toEqual([]);
    await dog.stop();
  });

  it.each([
    ["after a check that was refused", "refuses", 60_000],
    ["ten minutes after a check that hangs", "hangs", 600_000],
  ] as const)("goes on %s", async (_when, what, withinMs) => {
    await put([]);
    trouble = what;
    const dog = watchdog();
    const ended = new AbortController();
    dog.start(ended.signal);
    await clock.advance(61_000);
    expect(await journal()).toEqual([]);
    trouble = undefined;
    await clock.advance(withinMs);
    await expect.poll(journal).toEqual([["NO_OWNER", "WATCHDOG"]]);
    await dog.stop();
  });

  it("does nothing in a process that does not own its key", async () => {
    await put([]);
    const dog = watchdog({ ...mine, isMine: () => false });
    const ended = new AbortController();
    dog.start(ended.signal);
    await clock.advance(120_000);
    expect(await journal()).toEqual([]);
    // Another process may have had the key before.
    expect(rested).toBeGreaterThan(0);
    await dog.stop();
  });

  it("goes by what watches tell, lists each instance within twenty checks, and what a finding is about before it reports it", async () => {
    const world = createWorld(store);
    for (let index = 0; index < 39; index += 1) {
      const { namespace } = await world.addInstance();
      reported.set(namespace, []);
      stands.set(namespace, []);
    }
    const own = (await store.fleet.readInstance(deployed.instanceId, soon()))?.namespace ?? "";
    const tell = (seen: readonly SeenApplication[]) => reported.set(own, seen);
    tell([standing()]);
    await put([standing()]);
    const dog = watchdog();
    for (let index = 0; index < 20; index += 1) {
      const before = listed.length;
      await dog.observe(soon());
      expect(listed.length - before).toBe(2);
    }
    expect(new Set(listed).size).toBe(40);
    expect(await journal()).toEqual([]);
    // The watch is behind: what it does not tell of is there.
    tell([]);
    listed = [];
    while ((await dog.observe(soon()))?.requeueAfterMs !== 5_000);
    await dog.observe(soon());
    expect(listed).toContain(own);
    expect(await journal()).toEqual([]);
    // It is gone.
    await put([]);
    for (let index = 0; index < 22; index += 1) await dog.observe(soon());
    expect(await journal()).toEqual([["NO_OWNER", "WATCHDOG"]]);
    await dog.stop();
  });
});
