import { expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceVerdict } from "../domain/health.ts";
import type { Instance } from "../domain/instance.ts";
import { loadVector } from "../domain/load.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aPool } from "../store/testing/builders.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { createRemedies } from "./carry-out-remedy.ts";

const never = new AbortController().signal;
const MINUTE_MS = 60_000;

it("leaves advice to the scheduler where that gives more of what ran out, and everything while it is just given", async () => {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const world = createWorld(store);
  const instance = await world.addInstance();
  const remedies = createRemedies({
    ...{ store, clock, log: silentLog, metrics: noMetrics, quarantines: undefined },
    ...{ emptyAfter: 2, restartApartMs: 5 * MINUTE_MS, empty: async () => undefined, openNamespace: async () => undefined },
  });
  const help = async (over: object, given: object = {}): Promise<readonly string[]> => {
    const { resources } = aPool("standard");
    const pool = aPool("standard", { resources: { ...resources, max: { controller: { memory: "8Gi" } } } });
    const verdict: InstanceVerdict = {
      ...{ instanceId: instance.id, state: "degraded", cause: "memory", component: "controller", at: clock.now(), since: clock.now() },
      ...{ text: "", evidence: [], baseline: undefined, ...over },
    };
    const repositories = { disk: new Map(), memory: new Map() };
    await remedies.help({ instance: { ...instance, ...given }, verdict, serving: [instance], repositories, pool }, never);
    return (await store.decisions.list({ kind: "health" }, 100, never)).map(({ verdict: step }) => step);
  };
  expect(await help({})).toEqual([]);
  const raised = { amounts: { "controller.memory": "6Gi" }, at: clock.now(), before: {} };
  expect(await help({ state: "stalled", cause: "redis", component: "redis" }, { raised })).toEqual([]);
  expect(await help({ component: "redis" })).toEqual(["RAISE"]);
  expect(await help({ since: millis(clock.now() - 60 * MINUTE_MS) })).toEqual(["DRAIN", "RAISE"]);
});

it("keeps to the limit of restarts where all instances get stuck at the same moment", async () => {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const world = createWorld(store);
  const serving = await Promise.all(
    Array.from({ length: 8 }, (_, index) => world.addInstance({ name: `standard-${index}`, state: "ACTIVE" })),
  );
  const remedies = createRemedies({
    ...{ store, clock, log: silentLog, metrics: noMetrics, quarantines: undefined },
    ...{ emptyAfter: 2, restartApartMs: 5 * MINUTE_MS, empty: async () => undefined, openNamespace: async () => undefined },
  });
  const since = millis(clock.now() - 10 * MINUTE_MS);
  const stuck = { state: "stalled", cause: "redis", component: "redis", since, at: clock.now() } as const;
  const verdictOf = (id: InstanceVerdict["instanceId"]): InstanceVerdict => ({
    ...{ ...stuck, instanceId: id, text: "stuck", evidence: [], baseline: undefined },
  });
  const help = () =>
    Promise.all(
      serving.map((instance) =>
        remedies.help({ instance, verdict: verdictOf(instance.id), serving, repositories: { disk: new Map(), memory: new Map() } }, never),
      ),
    );
  await help();
  await help();
  const taken = await store.decisions.list({ kind: "health", verdict: "RESTART" }, 100, never);
  expect(taken.filter(({ details }) => details["isAdvice"] !== true)).toHaveLength(1);
});

it("names who takes most of the instance that is overloaded, however many take more of others", async () => {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const world = createWorld(store);
  const [instance, other] = [await world.addInstance(), await world.addInstance({ capacity: loadVector(() => 200_000) })];
  const place = async (namespace: string, at: Instance) => {
    const { id } = await world.unit((await world.record({ namespace })).applicationId);
    await world.place(id, at.id);
  };
  await place("shop", instance);
  for (let index = 0; index < 120; index += 1) await place(`larger-${index}`, other);
  const remedies = createRemedies({
    ...{ store, clock, log: silentLog, metrics: noMetrics, quarantines: undefined },
    ...{ emptyAfter: 2, restartApartMs: 5 * MINUTE_MS, empty: async () => undefined, openNamespace: async () => undefined },
  });
  const verdict: InstanceVerdict = {
    ...{ instanceId: instance.id, state: "overloaded", cause: "comparisons", component: "controller", at: clock.now() },
    ...{ since: millis(clock.now() - 600 * MINUTE_MS), text: "", evidence: [], baseline: undefined },
  };
  for (let count = 0; count < 5; count += 1) {
    await clock.advance(30 * MINUTE_MS);
    const now = { ...verdict, at: clock.now() };
    await remedies.help(
      { instance, verdict: now, serving: [instance, other], repositories: { disk: new Map(), memory: new Map() } },
      never,
    );
  }
  const said = await store.decisions.list({ kind: "health", subject: instance.id, verdict: "QUARANTINE" }, 10, never);
  expect(said.map(({ details }) => details.reason)).toContainEqual(expect.stringContaining("give shop an instance of its own"));
});
