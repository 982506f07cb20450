import { expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceVerdict } from "../domain/health.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { createRemedies } from "./carry-out-remedy.ts";

const never = new AbortController().signal;
const MINUTE_MS = 60_000;

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
