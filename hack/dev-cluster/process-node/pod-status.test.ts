import { describe, expect, it } from "vitest";
import { crashesInARow, developmentBackoff, restartDelayMs } from "./backoff.ts";
import { type ContainerState, type ContainerView, phaseOf, renderStatus, type Termination } from "./pod-status.ts";
import { aContainer, aPod } from "./testing/a-pod.ts";

const now = "2026-01-01T00:00:10Z";
const ended = (exitCode: number): Termination => ({
  exitCode,
  reason: exitCode === 0 ? "Completed" : "Error",
  startedAt: "2026-01-01T00:00:00Z",
  finishedAt: now,
});
const view = (state: ContainerState, changes: Partial<ContainerView> = {}): ContainerView => ({
  name: "main",
  image: "example/web:1",
  state,
  last: undefined,
  isReady: state.kind === "running",
  restartCount: 0,
  id: "process://1",
  ...changes,
});
const waiting: ContainerState = { kind: "waiting", reason: "ContainerCreating" };
const running: ContainerState = { kind: "running", startedAt: now };
const over = (exitCode: number): ContainerState => ({ kind: "terminated", termination: ended(exitCode) });

describe("the phase of a pod", () => {
  it.each([
    ["Pending", "Always", [view(running), view(waiting)]],
    ["Running", "Always", [view(running)]],
    ["Running", "Always", [view(waiting, { last: ended(1) })]],
    ["Running", "OnFailure", [view(over(0)), view(running)]],
    ["Succeeded", "Never", [view(over(0)), view(over(0))]],
    ["Failed", "Never", [view(over(0)), view(over(3))]],
  ])("%s with policy %s", (phase, policy, containers) => {
    expect(phaseOf(containers, policy)).toBe(phase);
  });
});

describe("the status of a pod", () => {
  const facts = { podIP: "127.20.0.1", now, startTime: "2026-01-01T00:00:00Z" };
  const scheduled = { type: "PodScheduled", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const condition = (status: object, type: string) =>
    (status as { readonly conditions: readonly { readonly type: string }[] }).conditions.find((one) => one.type === type);

  it("reports a ready pod as ready, and keeps conditions of others", () => {
    const status = renderStatus(aPod({ status: { conditions: [scheduled] } }), facts, [view(running)]);
    expect(status).toMatchObject({
      phase: "Running",
      podIP: "127.20.0.1",
      containerStatuses: [{ ready: true, started: true, restartCount: 0, state: { running: { startedAt: now } } }],
    });
    expect(condition(status, "PodScheduled")).toEqual(scheduled);
    expect(condition(status, "Ready")).toEqual({ type: "Ready", status: "True", lastTransitionTime: now });
  });

  it("changes the time of a condition only with its status", () => {
    const before = { type: "Ready", status: "False", lastTransitionTime: "2025-01-01T00:00:00Z" };
    const pod = aPod({ status: { conditions: [before] } });
    expect(condition(renderStatus(pod, facts, [view(running, { isReady: false })]), "Ready")).toMatchObject({
      status: "False",
      reason: "ContainersNotReady",
      lastTransitionTime: before.lastTransitionTime,
    });
    expect(condition(renderStatus(pod, facts, [view(running)]), "Ready")).toMatchObject({ status: "True", lastTransitionTime: now });
  });

  it("reports a crash loop with the last end", () => {
    const state: ContainerState = { kind: "waiting", reason: "CrashLoopBackOff", message: "back-off 2s" };
    const status = renderStatus(aPod(), facts, [view(state, { last: ended(137), restartCount: 3, isReady: false, id: undefined })]);
    expect(status).toMatchObject({
      phase: "Running",
      containerStatuses: [
        { ready: false, restartCount: 3, state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: { exitCode: 137 } } },
      ],
    });
  });

  it("completes init containers and the pods of jobs", () => {
    const status = renderStatus(aPod({ spec: { restartPolicy: "Never", initContainers: [aContainer({ name: "init" })] } }), facts, [
      view(over(0), { isReady: false }),
    ]);
    expect(status).toMatchObject({ phase: "Succeeded", initContainerStatuses: [{ name: "init", state: { terminated: { exitCode: 0 } } }] });
    expect(condition(status, "Ready")).toMatchObject({ status: "False", reason: "PodCompleted" });
  });
});

describe("the wait before a restart", () => {
  it("is none the first time, then doubles to a limit", () => {
    expect([1, 2, 3, 4, 9].map((crashes) => restartDelayMs(crashes, developmentBackoff))).toEqual([0, 1000, 2000, 4000, 30_000]);
  });

  it("starts from the beginning after a long run", () => {
    expect(crashesInARow(5, 1000, developmentBackoff)).toBe(6);
    expect(crashesInARow(5, 61_000, developmentBackoff)).toBe(1);
  });
});
