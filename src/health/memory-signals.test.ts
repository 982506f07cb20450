import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { ProbedPod } from "../domain/probed.ts";
import { memorySignals } from "./memory-signals.ts";
import { parsePod } from "./parse-probed.ts";
import { aHealthPage, aProbedPod } from "./testing/stage.ts";

const NOW = millis(1_700_000_000_000);
const ago = (seconds: number) => millis(NOW - seconds * 1_000);
const GIB = 2 ** 30;
const using = (bytes: number | undefined) =>
  aHealthPage({ counters: { startedAt: 5, ...(bytes === undefined ? {} : { residentBytes: bytes }) } });
const CONTROLLER = aProbedPod({ component: "controller", name: "c", memoryLimit: 4 * GIB });
const repoServer = (name: string, over: Partial<ProbedPod> = {}) =>
  aProbedPod({ component: "repo-server", name, memoryLimit: GIB, ...over });

describe("the memory of an instance's components", () => {
  it("is given as the share of its limit, for the fullest repo-server", () => {
    const probe = {
      controller: using(3 * GIB),
      repoServers: new Map([...["a", "b"].entries()].map(([at, pod]) => [pod, using((at + 1) * 2 ** 28)])),
    };
    expect(memorySignals(probe, [CONTROLLER, repoServer("a"), repoServer("b")], NOW)).toEqual({
      controllerMemory: 0.75,
      repoServerMemory: 0.5,
    });
  });

  it.each<readonly [string, Parameters<typeof memorySignals>[0], readonly ProbedPod[]]>([
    ["that gives no metrics", { controller: undefined, repoServers: new Map([["a", undefined]]) }, [CONTROLLER, repoServer("a")]],
    [
      "of an older release",
      { controller: using(undefined), repoServers: new Map([["a", using(undefined)]]) },
      [CONTROLLER, repoServer("a")],
    ],
    ["whose pods are not known", { controller: using(GIB), repoServers: new Map([["a", using(GIB)]]) }, []],
    ["that is being replaced", { controller: using(GIB), repoServers: new Map() }, [CONTROLLER, { ...CONTROLLER, name: "d" }]],
    ["without a limit", { controller: using(GIB), repoServers: new Map() }, [{ ...CONTROLLER, memoryLimit: undefined }]],
  ])("is not known of one %s", (_what, probe, pods) => expect(memorySignals(probe, pods, NOW)).toEqual({}));

  it("shows when each was last killed for using too much", () => {
    const killed = [{ ...CONTROLLER, killedAt: ago(30) }, repoServer("a", { killedAt: ago(700) }), repoServer("b", { killedAt: ago(80) })];
    expect(memorySignals({ controller: undefined, repoServers: new Map() }, killed, NOW)).toEqual({
      controllerKilledS: 30,
      repoServerKilledS: 80,
    });
  });
});

describe("a pod's memory", () => {
  const labels = { "app.kubernetes.io/name": "argocd-redis" };
  const pod = (containers: readonly object[], containerStatuses: readonly object[]) =>
    parsePod({ metadata: { name: "redis-1", labels }, spec: { containers }, status: { containerStatuses } });
  const limited = (memory: unknown) => ({ resources: { limits: { memory } } });
  const ended = (reason: string, finishedAt: unknown) => ({ terminated: { reason, finishedAt } });

  it.each<readonly [readonly object[], number | undefined]>([
    [[limited("1Gi"), limited("512Mi")], 1.5 * GIB],
    [[limited("1Gi"), {}], undefined],
    [[limited("much")], undefined],
    [[limited(5)], undefined],
    [[], undefined],
  ])("is limited for %j", (containers, bytes) => expect(pod(containers, [])?.memoryLimit).toBe(bytes));

  it("was too little where a container was killed for it, whether that has restarted or not", () => {
    const time = "2026-01-01T00:00:00Z";
    const later = "2026-01-01T00:00:09Z";
    const oom = "OOMKilled";
    expect(pod([], [{ lastState: ended(oom, time) }])?.killedAt).toBe(Date.parse(time));
    expect(pod([], [{ state: ended(oom, later), lastState: ended(oom, time) }])?.killedAt).toBe(Date.parse(later));
    expect(
      pod([], [{ lastState: ended("Error", time) }, { lastState: ended(oom, 7) }, { state: { running: {} } }])?.killedAt,
    ).toBeUndefined();
  });
});
