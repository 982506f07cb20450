import { describe, expect, test } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { RunProgress } from "../../domain/sync-run.ts";
import { ARGO_NAME } from "../testing/builders.ts";
import { composeRun, isRunShown, type RunStatusFacts } from "./run-status.ts";
import { aRunRecord, aRunResource, aSyncRun, NOW } from "./testing/builders.ts";

const compose = (over: Partial<RunStatusFacts> = {}, now = NOW) =>
  composeRun(
    {
      resource: aRunResource(),
      record: aRunRecord(),
      hasDeployment: true,
      quota: undefined,
      hidden: ["argocd-eu-7", "standard-7"],
      kinds: {},
      ...over,
    },
    now,
  );
const said = (over: Partial<RunStatusFacts> = {}) => {
  const { status } = compose(over);
  return [status.phase, ...status.conditions.map(({ type, status: is, reason }) => `${type}=${is}/${reason}`)];
};
const record = (progress: Partial<RunProgress>, over: Parameters<typeof aRunRecord>[1] = {}) => ({ record: aRunRecord(progress, over) });
const automated = { ...aRunRecord().application, spec: { ...aRunRecord().application?.spec, type: "automated" } } as never;
const deleted = { ...aRunRecord().application, deletedAt: 0 } as never;

describe("the status of a run", () => {
  test.each<[string, Partial<RunStatusFacts>, readonly string[]]>([
    ["waits for its turn", {}, ["Pending", "Ready=False/Pending", "Reconciling=True/Pending"]],
    [
      "waits for its workspace's quota",
      { record: undefined, quota: 20 },
      ["Pending", "Ready=False/QuotaExceeded", "Reconciling=True/QuotaExceeded"],
    ],
    ["waits behind others", { record: aRunRecord({}, { ahead: 2 }) }, ["Pending", "Ready=False/Queued", "Reconciling=True/Queued"]],
    [
      "waits for an instance that has room",
      { record: aRunRecord({}, { isPlaced: false }) },
      ["Pending", "Ready=False/WaitingForCapacity", "Reconciling=True/WaitingForCapacity"],
    ],
    [
      "waits for a deployment that is being deleted",
      { record: aRunRecord({}, { application: deleted }) },
      ["Pending", "Ready=False/DeploymentDeleting", "Reconciling=True/DeploymentDeleting"],
    ],
    [
      "has no deployment",
      { record: aRunRecord({}, { application: undefined }), hasDeployment: false },
      ["Pending", "ErrorOccurred=True/ErrorOccurred", "Ready=False/DeploymentNotFound", "Reconciling=True/DeploymentNotFound"],
    ],
    [
      "has a deployment that is not accepted",
      { record: undefined },
      ["Pending", "Ready=False/WaitingForDeployment", "Reconciling=True/WaitingForDeployment"],
    ],
    [
      "names an automated deployment",
      { record: aRunRecord({}, { application: automated }) },
      ["Pending", "ErrorOccurred=True/ErrorOccurred", "Ready=False/DeploymentAutomated", "Stalled=True/DeploymentAutomated"],
    ],
    [
      "cannot be read",
      { resource: aRunResource({}, { gitopsDeploymentName: 7 }) },
      ["Pending", "ErrorOccurred=True/ErrorOccurred", "Ready=False/InvalidSpec", "Stalled=True/InvalidSpec"],
    ],
    ["is paused", { resource: aRunResource({ isPaused: true }), record: undefined }, ["Pending", "Ready=False/Paused"]],
    ["is under way", record({ phase: "Running" }), ["Running", "Ready=False/Running", "Reconciling=True/Running"]],
    [
      "is being ended",
      { resource: aRunResource({ isDeleting: true }), ...record({ phase: "Running" }) },
      ["Running", "Ready=False/Terminating", "Reconciling=True/Terminating"],
    ],
    ["has succeeded", record({ phase: "Succeeded" }), ["Succeeded", "ErrorOccurred=False/", "Ready=True/Succeeded"]],
    [
      "has failed",
      record({ phase: "Failed", message: "why" }),
      ["Failed", "ErrorOccurred=True/ErrorOccurred", "Ready=False/Failed", "Stalled=True/Failed"],
    ],
    ["was terminated", record({ phase: "Terminated" }), ["Terminated", "Ready=False/Terminated", "Stalled=True/Terminated"]],
  ])("that %s", (_what, over, expected) => expect(said(over)).toEqual(expected));

  test("has the words users' scripts look for", () => {
    const words = (over: Partial<RunStatusFacts>) => compose(over).status.conditions.find(({ type }) => type === "ErrorOccurred")?.message;
    expect(words({ record: aRunRecord({}, { application: undefined }), hasDeployment: false })).toBe(
      "Unable to retrieve GitOpsDeployment 'guestbook' referenced by the GitOpsDeploymentSyncRun",
    );
    expect(words({ record: aRunRecord({}, { application: automated }) })).toBe(
      "invalid GitOpsDeploymentSyncRun 'release-42'. Syncing a GitOpsDeployment with Automated sync policy is not allowed",
    );
    expect(words(record({ phase: "Succeeded" }))).toBe("");
  });

  test("W8: says what was deployed, when, and how its hooks went, and nothing of where", () => {
    const hooks = [
      { kind: "Job", namespace: "", name: "migrate", type: "PreSync", phase: "Failed", message: "no answer from 10.1.2.3 in argocd-eu-7" },
    ];
    const times = { startedAt: NOW, finishedAt: millis(NOW + 1000) };
    const message = `one or more objects of ${ARGO_NAME} failed on standard-7`;
    const { status } = compose(record({ phase: "Failed", revision: "3f2c1d0", message, hooks, ...times }));
    expect(status).toMatchObject({
      ...{ observedGeneration: 1, phase: "Failed", revision: "3f2c1d0" },
      ...{ startedAt: "2026-01-01T12:00:00Z", finishedAt: "2026-01-01T12:00:01Z" },
      message: "one or more objects of guestbook failed on …",
      hooks: [{ kind: "Job", name: "migrate", type: "PreSync", phase: "Failed", message: "no answer from … in …" }],
    });
  });

  test("counts as shown until somebody changes what it says", () => {
    const composed = compose();
    const resource = aRunResource({ conditions: composed.status.conditions, observedGeneration: 1 });
    expect(isRunShown(resource, composed)).toBe(true);
    expect(compose({ resource }, millis(NOW + 60_000))).toEqual(composed);
    expect(isRunShown(aRunResource(), composed)).toBe(false);
    const ended = compose({ resource, record: aRunRecord({}, { run: aSyncRun({ phase: "Succeeded" }) }) });
    expect(ended.hash).not.toBe(composed.hash);
    expect(isRunShown(resource, ended)).toBe(false);
  });
});
