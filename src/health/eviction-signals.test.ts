import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { Eviction, ProbedPod } from "../domain/probed.ts";
import { evictionSignals } from "./eviction-signals.ts";
import { parsePod } from "./parse-probed.ts";
import { aProbedPod } from "./testing/stage.ts";

const NOW = millis(1_700_000_000_000);
const ago = (seconds: number) => millis(NOW - seconds * 1_000);
const evicted = (seconds: number, by: Eviction["by"] = "limit", component: ProbedPod["component"] = "repo-server"): ProbedPod =>
  aProbedPod({ component, name: `${component}-${seconds}`, evicted: { at: ago(seconds), by } });

describe("evictions among an instance's pods", () => {
  it("are counted for an hour, and the last one is told apart from those by a node", () => {
    const pods = [evicted(3_600), evicted(3_599), evicted(40), evicted(90, "node"), evicted(20, "node", "redis"), aProbedPod()];
    expect(evictionSignals(pods, NOW)).toEqual({ repoServerEvictedS: 40, repoServerEvictions: 2, nodeEvictedS: 20 });
  });

  it("say nothing where there are none, nor of other components' disks, which no workspace fills", () => {
    expect(evictionSignals([], NOW)).toEqual({});
    expect(evictionSignals([aProbedPod(), evicted(5, "limit", "redis")], NOW)).toEqual({});
  });
});

describe("an evicted pod", () => {
  const END = "2026-01-01T00:00:09Z";
  const labels = { "app.kubernetes.io/name": "argocd-repo-server" };
  const ready = { type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const disrupted = { type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet" };
  const containerStatuses = [{ state: { terminated: { reason: "Error", exitCode: 137, finishedAt: END } } }];
  const pod = (status: object): ProbedPod | undefined => parsePod({ metadata: { name: "repo-1", labels }, status });
  const FULL = {
    ...{ phase: "Failed", reason: "Evicted", message: 'Usage of EmptyDir volume "tmp" exceeds the limit "20Gi". ' },
    ...{ conditions: [ready], containerStatuses },
  };

  it.each<readonly [string, object, Eviction | undefined]>([
    ["that used more disk than it may", FULL, { at: millis(Date.parse(END)), by: "limit" }],
    ["whose container ended in order", { ...FULL, phase: "Succeeded", reason: undefined }, { at: millis(Date.parse(END)), by: "limit" }],
    ["whose containers say nothing", { ...FULL, containerStatuses: [] }, { at: millis(Date.parse(ready.lastTransitionTime)), by: "limit" }],
    [
      "whose node ran short of memory",
      { ...FULL, message: "The node was low on resource: memory. ", conditions: [ready, disrupted] },
      { at: millis(Date.parse(END)), by: "node" },
    ],
    ["that says not when", { phase: "Failed", reason: "Evicted" }, undefined],
    ["that its node did not take", { ...FULL, reason: "OutOfcpu" }, undefined],
    ["that runs", { ...FULL, phase: "Running" }, undefined],
    ["of any shape", { phase: 5, reason: [], conditions: "no", containerStatuses: [7] }, undefined],
  ])("%s is recognised", (_what, status, expected) => expect(pod(status)?.evicted).toEqual(expected));

  it("does not count as one that gets not ready, however long it lies there", () => {
    expect(pod(FULL)?.unreadySince).toBeUndefined();
    expect(pod({ ...FULL, phase: "Succeeded" })?.unreadySince).toBeUndefined();
    expect(pod({ ...FULL, phase: "Running" })?.unreadySince).toBe(Date.parse(ready.lastTransitionTime));
  });
});
