import { expect, it, vi } from "vitest";
import type { ApplicationId, UnitId } from "../../domain/ids.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import type { Host } from "../find-hosts.ts";
import { createPacing } from "./pace-applications.ts";

it("counts nothing any more of an instance that was forgotten, and follows it no longer", () => {
  const end = vi.fn();
  const subscribe = vi.fn(() => end);
  const applications = { get: () => undefined, list: () => [], subscribe };
  const host = { instance: { id: "one", name: "one" }, engine: { applications } } as unknown as Host;
  const requests = { requestApplication: () => undefined, requestSync: () => undefined };
  const pacing = createPacing({ requests, unfinishedPerUnit: 1, clock: createVirtualClock(), metrics: noMetrics });
  const admits = (name: string) =>
    pacing.admits({ kind: "application", id: name as ApplicationId, unit: "noisy" as UnitId, at: { namespace: "argocd-one", name } }, host);

  expect([admits("a"), admits("b")]).toEqual([true, false]);
  pacing.forget(host.instance.id);
  expect(end).toHaveBeenCalledTimes(1);
  expect([admits("b"), admits("a")]).toEqual([true, false]);
  expect(subscribe).toHaveBeenCalledTimes(2);
});
