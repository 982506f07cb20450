import { expect, it } from "vitest";
import { RefusedError, UnavailableError } from "../../domain/errors.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { planRemoval } from "../../shard/diff-object.ts";
import type { ObservedObject } from "../../shard/managed-object.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import type { ManagedObjects } from "../port.ts";
import { createCarrier } from "./controller.ts";
import { MAY_LAND_MS } from "./unanswered.ts";

const at = { namespace: "n", name: "a" };
const manifest = { apiVersion: "v1", kind: "K", metadata: { ...at, labels: {}, annotations: {} } };
const { signal } = new AbortController();

/** A carrier over a cluster on which nothing stands, and on which each creation ends like this. */
function carrying(failure: Error) {
  const clock = createVirtualClock();
  const carrier = createCarrier({ clock, log: silentLog, metrics: noMetrics });
  const objects = {
    get: () => undefined,
    read: async () => undefined,
    create: () => Promise.reject(failure),
  } as unknown as ManagedObjects<ObservedObject>;
  const task = { objects, at, name: "application" };
  return {
    clock,
    create: () => carrier.carryOut({ ...task, plan: () => ({ kind: "create", manifest }) }, signal),
    remove: () => carrier.carryOut({ ...task, plan: (observed) => planRemoval(observed) }, signal),
  };
}

it("believes no absence while a creation that nobody answered may land still", async () => {
  const { clock, create, remove } = carrying(new UnavailableError("creating", { code: "kube.timeout" }));
  expect(await remove()).toEqual({ kind: "gone" });
  await expect(create()).rejects.toThrow(UnavailableError);
  expect(await remove()).toEqual({ kind: "unsure" });
  await clock.advance(MAY_LAND_MS);
  expect(await remove()).toEqual({ kind: "gone" });
});

it("believes it at once where the creation was refused", async () => {
  const { create, remove } = carrying(new RefusedError("creating", { code: "kube.refused" }));
  await expect(create()).rejects.toThrow(RefusedError);
  expect(await remove()).toEqual({ kind: "gone" });
});
