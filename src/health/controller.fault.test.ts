import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { Partition } from "../domain/partition.ts";
import { createFaultPoints, FAULT_MODES, type FaultPoints } from "../reconciler/testing/faults.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { createWorld } from "../store/testing/world.ts";
import type { Health } from "./controller.ts";
import { createStage, EVERYTHING, openHealth, PERIOD_MS, RESTART_APART_MS, sendAway } from "./testing/stage.ts";

const never = new AbortController().signal;
const OF_STORE = ["readFleet", "listInstances", "listTroubles", "readWindow", "record", "list", "append"] as const;
const OF_PROCESSES = ["findProcesses", "readController", "readRepoServer"] as const;
const OF_NAMESPACE = ["openNamespace", "ensureCanaries", "askFor", "listCanaries", "sampleApplications", "listPods"] as const;
const CALLS: ReadonlySet<string> = new Set([...OF_STORE, ...OF_PROCESSES, ...OF_NAMESPACE, "deletePod"]);
/**
 * Probes before and after the failure of redis. Before: a minute, to learn what is usual. After: long enough for a
 * restart that is put off once, for ten minutes of so small a fleet's budget.
 */
const [BEFORE, AFTER] = [6, 56];
/**
 * Calls up to here are broken, one per run: those of the probes in which something happens and some more. Later
 * probes repeat themselves.
 */
const EVENTFUL = 250;
/** Samples kept at the end: those of a quarter of an hour, of which the last minutes have every second one, less the one probe that failed. */
const KEPT = 46;

/**
 * An instance whose redis works again after a restart (`isMended`), and the process that probes it. `next`: what
 * happens after a probe that failed.
 */
async function begin(
  points: FaultPoints,
  next: "the same process goes on" | "another process takes over",
  { isMended = true, others = 0 } = {},
) {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const { id } = await createWorld(store).addInstance({ state: "ACTIVE" });
  for (let index = 0; index < others; index += 1) await createWorld(store).addInstance({ state: "ACTIVE", name: `other-${index}` });
  const { stage, portsOf } = createStage(clock);
  stage.isMended = isMended;
  const { fleet, health, decisions } = store;
  const wrapped = { ...store, fleet: points.wrap(fleet), health: points.wrap(health), decisions: points.wrap(decisions) };
  const partition: Partition = { ...EVERYTHING, isMine: (key) => key === `health/${id}` };
  const { empty } = points.wrap({ empty: sendAway(store, clock) });
  const open = (): Health => openHealth({ store: wrapped, clock, partition, empty, ...portsOf(points.wrap) });
  let opened = open();
  let failed = 0;
  const probe = async (times: number): Promise<void> => {
    for (let count = 0; count < times; count += 1) {
      await opened.probeAll(never).catch(() => {
        failed += 1;
        if (next === "another process takes over") opened = open();
      });
      await clock.advance(PERIOD_MS);
    }
  };
  const seen = async () => ({
    verdict: (await store.health.listVerdicts(never))[0],
    samples: (await store.health.readWindow(id, millis(0), never)).samples,
    entries: (await store.decisions.list({ kind: "health" }, 100, never)).toReversed(),
  });
  const drained = async () => (await store.fleet.listInstances(never)).filter(({ failsOver }) => failsOver).map((each) => each.id);
  return { id, stage, probe, seen, drained, failed: () => failed };
}

describe.each(FAULT_MODES)("when any call of a probe %s", (mode) => {
  it.each(["the same process goes on", "another process takes over"] as const)(
    "the stuck component is restarted, nothing else is, and %s",
    async (next) => {
      const broke = new Set<string>();
      for (let index = 0; ; index += 1) {
        const points = createFaultPoints(CALLS);
        const { stage, probe, seen, failed } = await begin(points, next);
        points.arm(index, mode);
        await probe(BEFORE);
        stage.redisFails = true;
        await probe(AFTER);
        const name = points.broke();
        const { verdict, samples, entries } = await seen();
        const about = `call ${index}, ${name}`;
        expect(verdict, about).toMatchObject({ state: "healthy", cause: "none" });
        // A probe that fails may have recorded its sample before. Samples older than a quarter of an hour are dropped.
        expect(failed(), about).toBeLessThanOrEqual(1);
        expect(samples.length, about).toBeGreaterThanOrEqual(KEPT);
        expect(
          samples.every(({ at }, nth) => nth === 0 || at - (samples[nth - 1]?.at ?? 0) <= 3 * PERIOD_MS),
          about,
        ).toBe(true);
        expect(
          entries.map(({ verdict: said }) => said).filter((said) => said === "STALLED"),
          about,
        ).toHaveLength(1);
        const restarts = entries.filter(({ verdict: said }) => said === "RESTART");
        // Each restart is in the journal before it is made. One that broke off is made up for when the next is due.
        expect(
          stage.deleted.map(({ name: pod }) => pod),
          about,
        ).toContain("redis-1");
        expect(
          stage.deleted.every(({ name: pod }) => pod === "redis-1"),
          about,
        ).toBe(true);
        expect(stage.deleted.length, about).toBeLessThanOrEqual(restarts.length);
        expect(
          restarts.every(({ at }, nth) => nth === 0 || at - (restarts[nth - 1]?.at ?? 0) >= RESTART_APART_MS),
          about,
        ).toBe(true);
        if (name === undefined || index >= EVENTFUL) break;
        broke.add(name);
      }
      expect([...broke].sort()).toEqual([...CALLS].sort());
    },
    120_000,
  );
});

const OF_EMPTYING: ReadonlySet<string> = new Set(["list", "append", "empty"]);

describe.each(FAULT_MODES)("when any call of draining an instance that is stuck again %s", (mode) => {
  it("it is drained all the same, after the usual number of restarts", async () => {
    const broke = new Set<string>();
    for (let index = 0; ; index += 1) {
      const points = createFaultPoints(OF_EMPTYING);
      const { id, stage, probe, drained } = await begin(points, "another process takes over", { isMended: false, others: 1 });
      points.arm(index, mode);
      stage.redisFails = true;
      await probe(BEFORE + 3 * (RESTART_APART_MS / PERIOD_MS));
      const name = points.broke();
      const about = `call ${index}, ${name}`;
      expect(await drained(), about).toEqual([id]);
      // A process that dies between the journal entry and the restart has used up budget.
      expect([1, 2], about).toContain(stage.deleted.length);
      if (name === undefined) break;
      broke.add(name);
    }
    expect([...broke].sort()).toEqual([...OF_EMPTYING].sort());
  }, 120_000);
});

describe("an instance that is well", () => {
  it.each([...OF_PROCESSES, ...OF_NAMESPACE])("is not restarted when %s keeps failing", async (call) => {
    const failing: FaultPoints = {
      ...createFaultPoints(),
      wrap: (target) =>
        new Proxy(target, {
          get: (object, name) => (name === call ? () => Promise.reject(new Error("no answer")) : Reflect.get(object, name)),
        }),
    };
    const { stage, probe, seen } = await begin(failing, "the same process goes on");
    await probe(BEFORE + AFTER);
    const { verdict, entries } = await seen();
    expect(["healthy", "unknown"]).toContain(verdict?.state);
    expect(stage.deleted).toEqual([]);
    expect(entries.filter(({ verdict: said }) => said === "RESTART")).toEqual([]);
  });
});
