import { describe, expect, it } from "vitest";
import { RefusedError, UnavailableError } from "../domain/errors.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { planRemoval } from "../shard/diff-object.ts";
import type { ObservedObject } from "../shard/managed-object.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { createObjectWriter, createUnanswered, MAY_LAND_MS } from "./apply-object.ts";
import type { ManagedObjects } from "./port.ts";

const at = { namespace: "n", name: "a" };
const manifest = { apiVersion: "v1", kind: "K", metadata: { ...at, labels: {}, annotations: {} } };
const { signal } = new AbortController();

/** A writer to a cluster on which nothing stands, and on which each creation ends like this. */
function writing(failure: Error) {
  const clock = createVirtualClock();
  const writer = createObjectWriter({ clock, log: silentLog, metrics: noMetrics });
  const objects = {
    get: () => undefined,
    read: async () => undefined,
    create: () => Promise.reject(failure),
  } as unknown as ManagedObjects<ObservedObject>;
  const task = { objects, at, name: "application" };
  return {
    clock,
    create: () => writer.apply({ ...task, plan: () => ({ kind: "create", manifest }) }, signal),
    remove: () => writer.apply({ ...task, plan: (observed) => planRemoval(observed) }, signal),
  };
}

it("believes no absence while a creation that nobody answered may land still", async () => {
  const { clock, create, remove } = writing(new UnavailableError("creating", { code: "kube.timeout" }));
  expect(await remove()).toEqual({ kind: "gone" });
  await expect(create()).rejects.toThrow(UnavailableError);
  expect(await remove()).toEqual({ kind: "unsure" });
  await clock.advance(MAY_LAND_MS);
  expect(await remove()).toEqual({ kind: "gone" });
});

it("believes it at once where the creation was refused", async () => {
  const { create, remove } = writing(new RefusedError("creating", { code: "kube.refused" }));
  await expect(create()).rejects.toThrow(RefusedError);
  expect(await remove()).toEqual({ kind: "gone" });
});

describe("creations that nobody answered", () => {
  it("may land for a minute after it was sent, whatever was answered since, and says nothing of others", () => {
    const unanswered = createUnanswered();
    expect(unanswered.mayLand("application a/b", 0)).toBe(false);
    unanswered.lost("application a/b", 1_000);
    expect(unanswered.mayLand("application a/b", MAY_LAND_MS)).toBe(true);
    expect(unanswered.mayLand("application a/b", MAY_LAND_MS + 1_000)).toBe(false);
    expect(unanswered.mayLand("application a/c", 1_000)).toBe(false);
  });

  it("counts from the last one, and keeps none that cannot land any more", () => {
    const unanswered = createUnanswered();
    unanswered.lost("one", 0);
    unanswered.lost("one", 10_000);
    expect(unanswered.mayLand("one", MAY_LAND_MS + 5_000)).toBe(true);
    unanswered.lost("two", 2 * MAY_LAND_MS);
    expect(unanswered.mayLand("one", 20_000)).toBe(false);
  });
});
