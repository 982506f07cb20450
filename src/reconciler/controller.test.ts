import { expect, it } from "vitest";
import type { UnitId } from "../domain/ids.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { createQueues, requestsOf } from "./controller.ts";

/** Queues of a reconciler, which write down the order in which keys have their turns. */
function someQueues() {
  const clock = createVirtualClock();
  const queues = createQueues({ clock, rng: createSeededRng("queues"), log: silentLog, metrics: noMetrics });
  const turns: string[] = [];
  const start = async (): Promise<void> => {
    for (const queue of [queues.units, queues.statuses]) queue.start(async (key) => void turns.push(key));
    await clock.advance(0);
  };
  return { requests: requestsOf(queues), turns, start };
}

const unit = (id: string): UnitId => id as UnitId;

it("lets units that are only compared wait behind those that have changed, until they change themselves", async () => {
  const { requests, turns, start } = someQueues();
  for (const id of ["compared-1", "compared-2", "compared-3"]) requests.reviewUnit(unit(id), 0);
  for (const id of ["changed-1", "changed-2", "compared-3"]) requests.requestUnit(unit(id));
  await start();
  expect(turns).toEqual(["compared-1", "changed-1", "changed-2", "compared-3", "compared-2"]);
});

it("lets statuses that may have been recorded wait behind those that have changed", async () => {
  const { requests, turns, start } = someQueues();
  for (const id of ["recorded-1", "recorded-2", "recorded-3"]) requests.reviewStatus(id, unit(id));
  for (const id of ["changed-1", "changed-2"]) requests.requestStatus(id, unit(id));
  await start();
  expect(turns).toEqual(["recorded-1", "changed-1", "changed-2", "recorded-2", "recorded-3"]);
});
