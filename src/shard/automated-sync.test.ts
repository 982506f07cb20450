import { describe, expect, test } from "vitest";
import { millis } from "../domain/clock.ts";
import type { Json } from "../domain/json.ts";
import type { ApplicationSpec } from "../domain/workspace.ts";
import { applyJsonPatch } from "../runtime/kube/testing/json-patch.ts";
import { isSyncDue } from "./automated-sync.ts";
import { mayWait } from "./may-wait.ts";
import { type ObservedApplication, parseApplication } from "./parse-application.ts";
import { planApplication } from "./plan-application.ts";
import { renderApplication } from "./render-application.ts";
import { anApplication, anApplicationPlacement, type Stored, setMeta, stored, TARGET } from "./testing/builders.ts";

const REQUEST = { deletion: "none", now: millis(0), mayWait: false } as const;
const STOPPED = "argosy.dev/stopped-sync";
const STARTED = "2026-01-01T00:00:00Z";
const FAILED = { finishedAt: "2026-01-01T00:00:09Z" };

const source = (path: string) => ({ repoUrl: "https://git.example/team/app", path, targetRevision: "main" });
const wanted = (spec: Partial<ApplicationSpec> = {}) =>
  renderApplication(anApplicationPlacement(), anApplication({}, { source: source("a"), ...spec }), TARGET);
const GOOD = wanted();
const OTHER = wanted({ source: source("b") });
const MANUAL = wanted({ type: "manual" });
const REMOTE = { environment: "prod", namespace: "web" };

interface Syncing {
  readonly begunWith?: typeof GOOD;
  readonly state?: Json;
  readonly isAsked?: boolean;
  readonly isAutomated?: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An Application as `reported` has it, with a sync that Argo CD began by itself as `begunWith` had it. */
function syncing(
  reported: typeof GOOD,
  { begunWith = reported, state = {}, isAsked = true, isAutomated = true, annotations = {} }: Syncing = {},
) {
  const raw = stored(reported);
  setMeta("annotations", { ...(raw.metadata["annotations"] as object), ...annotations })(raw);
  const spec = begunWith.content["spec"] as { readonly source: object; readonly syncPolicy: { readonly syncOptions: object } };
  const sync = { source: spec.source, syncOptions: spec.syncPolicy.syncOptions, revision: "0123" };
  const operation = { sync, initiatedBy: isAutomated ? { automated: true } : { username: "anna" } };
  const operationState = { phase: "Running", startedAt: STARTED, operation, ...state };
  return { ...raw, ...(isAsked ? { operation } : {}), status: { operationState } } as Stored;
}

const observed = (raw: Stored) => parseApplication(raw) as ObservedApplication;
const plan = (raw: Stored, desired: typeof GOOD) => planApplication(desired, REQUEST, observed(raw));

/** What it is after the next step, which is none where it is settled. */
function next(raw: Stored, desired: typeof GOOD) {
  const action = plan(raw, desired);
  const after = action.kind === "change" ? (applyJsonPatch(raw as never, action.patch) as unknown as Stored) : raw;
  const { operationState } = after["status"] as { readonly operationState?: Json };
  const annotations = after.metadata["annotations"] as Readonly<Record<string, string>>;
  return { kind: action.kind, after, phase: operationState?.["phase"], mark: annotations[STOPPED], annotations };
}

const ended = { phase: "Terminating", mark: STARTED };

describe("an automated sync that is under way", () => {
  test.each<[string, Stored, typeof GOOD]>([
    ["has another source than what is wanted now, in the same step", syncing(GOOD), OTHER],
    ["has another source than what was wanted before already", syncing(GOOD, { begunWith: OTHER }), GOOD],
    ["has failed and has another source", syncing(GOOD, { state: FAILED }), OTHER],
    ["has other options", syncing(wanted({ createNamespace: true, destination: REMOTE })), wanted({ destination: REMOTE })],
    ["waits for its next attempt where nothing is to sync by itself any more", syncing(GOOD, { state: FAILED }), MANUAL],
    ["waits for its next attempt when Git is to be read again", syncing(GOOD, { state: FAILED }), wanted({ refresh: "again" })],
    ["waits for its next attempt and was to end before", syncing(GOOD, { state: FAILED, annotations: { [STOPPED]: STARTED } }), GOOD],
  ])("is ended where it %s", (_, raw, desired) => {
    expect(next(raw, desired)).toMatchObject({ kind: "change", ...ended });
    expect(next(next(raw, desired).after, desired).kind).toBe("settled");
  });

  test.each<[string, Stored, typeof GOOD]>([
    ["it deploys what is wanted", syncing(GOOD), GOOD],
    ["it waits for its next attempt at what is wanted", syncing(GOOD, { state: FAILED }), GOOD],
    ["Git is to be read again", syncing(GOOD), wanted({ refresh: "again" })],
    ["nothing is to sync by itself any more", syncing(GOOD), MANUAL],
    ["another one was to end", syncing(GOOD, { state: FAILED, annotations: { [STOPPED]: "2025-01-01T00:00:00Z" } }), GOOD],
    ["somebody asked for it", syncing(GOOD, { isAutomated: false }), OTHER],
    ["nobody goes on with it", syncing(GOOD, { isAsked: false }), OTHER],
  ])("goes on where %s", (_, raw, desired) => {
    expect(next(raw, desired)).toMatchObject({ phase: "Running", mark: observed(raw).annotations[STOPPED] });
  });

  test("is ended under the tests of every patch, and no sooner than its instance has room for the new spec", () => {
    const action = plan(syncing(GOOD), OTHER);
    expect(action.kind === "change" && action.patch.filter(({ op }) => op === "test").map(({ path }) => path)).toEqual(
      expect.arrayContaining(["/metadata/uid", "/metadata/resourceVersion"]),
    );
    expect(mayWait(action, observed(syncing(GOOD)))).toBe(true);
    const late = syncing(GOOD, { begunWith: OTHER });
    expect(mayWait(plan(late, GOOD), observed(late))).toBe(false);
  });
});

describe("an automated sync that was ended for another one", () => {
  const over = { state: { phase: "Failed", ...FAILED }, isAsked: false, annotations: { [STOPPED]: STARTED } };

  test("is forgotten once it has ended, and Argo CD refreshes again", () => {
    const { after, mark, annotations } = next(syncing(GOOD, over), GOOD);
    expect(after["status"]).toEqual({});
    expect(mark).toBeUndefined();
    expect(annotations["argocd.argoproj.io/refresh"]).toBe("normal");
    expect(next(after, GOOD).kind).toBe("settled");
  });

  test.each<[string, Syncing, typeof GOOD]>([
    ["another one is asked for", { ...over, isAsked: true }, GOOD],
    ["it is another one that failed", { ...over, annotations: { [STOPPED]: "2025-01-01T00:00:00Z" } }, GOOD],
    ["it succeeded after all", { ...over, state: { phase: "Succeeded", ...FAILED } }, GOOD],
    ["a person syncs from now on", over, MANUAL],
  ])("is kept where %s", (_, how, desired) => {
    expect(next(syncing(GOOD, how), desired).phase).toBe(how.state?.["phase"]);
  });
});

test("what a changed Application tells of its own sync asks for a step until that is done", () => {
  const due = (raw: Stored) => isSyncDue(observed(raw));
  const mark = { annotations: { [STOPPED]: STARTED } };
  expect([
    due(syncing(GOOD, { begunWith: OTHER })),
    due(syncing(MANUAL, { state: FAILED })),
    due(syncing(GOOD, { state: FAILED, ...mark })),
    due(syncing(GOOD, { state: { phase: "Error", ...FAILED }, isAsked: false, ...mark })),
  ]).toEqual([true, true, true, true]);
  expect([
    due(syncing(GOOD)),
    due(syncing(MANUAL)),
    due(syncing(GOOD, { state: FAILED })),
    due(syncing(GOOD, { begunWith: OTHER, state: { phase: "Terminating" } })),
    due(syncing(MANUAL, { state: { phase: "Error", ...FAILED }, isAsked: false, ...mark })),
    due(stored(GOOD)),
  ]).toEqual([false, false, false, false, false, false]);
});
