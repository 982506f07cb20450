import { describe, expect, test } from "vitest";
import { millis } from "../domain/clock.ts";
import type { Json } from "../domain/json.ts";
import { applyJsonPatch } from "../runtime/kube/testing/json-patch.ts";
import { INFO_RUN } from "./names.ts";
import { parseApplication } from "./parse-application.ts";
import { planApplication } from "./plan-application.ts";
import { renderApplication } from "./render-application.ts";
import { anApplication, anApplicationPlacement, type Stored, stored, TARGET } from "./testing/builders.ts";

const REQUEST = { deletion: "none", now: millis(0), mayWait: false } as const;
const PAUSE = "argocd.argoproj.io/skip-reconcile";
const automated = renderApplication(anApplicationPlacement({ epoch: 8 }), anApplication(), TARGET);
const manual = renderApplication(anApplicationPlacement({ epoch: 8 }), anApplication({}, { type: "manual" }), TARGET);

/** As a move of an earlier epoch left it on its source: fenced, and paused unless said otherwise. */
function fenced(operationState: Json | undefined, { operation, isPaused = true }: { operation?: Json; isPaused?: boolean } = {}): Stored {
  const raw = stored(renderApplication(anApplicationPlacement({ epoch: 7 }), anApplication(), TARGET)) as Stored & {
    spec: { syncPolicy: Json };
  };
  const { automated: _automated, ...syncPolicy } = raw.spec.syncPolicy;
  const annotations = { ...(raw.metadata["annotations"] as object), ...(isPaused ? { [PAUSE]: "true" } : {}) };
  return {
    ...raw,
    metadata: { ...raw.metadata, annotations },
    spec: { ...raw.spec, syncPolicy },
    ...(operation === undefined ? {} : { operation }),
    status: { health: {}, ...(operationState === undefined ? {} : { operationState }) },
  };
}

/** What it is after the next step, and what the step was. */
function next(raw: Stored, desired = automated): { readonly kind: string; readonly raw: Json } {
  const action = planApplication(desired, REQUEST, parseApplication(raw));
  return { kind: action.kind, raw: action.kind === "change" ? (applyJsonPatch(raw as never, action.patch) as unknown as Json) : raw };
}

const annotationsOf = (raw: Json) => (raw["metadata"] as { readonly annotations: Readonly<Record<string, string>> }).annotations;
const isAutomated = (raw: Json) => JSON.stringify(raw["spec"]).includes('"automated"');

describe("an Application that follows Git again after a move was given up", () => {
  test.each(["Failed", "Error"])("forgets a sync that ended %s, which Argo CD would not try again, and is looked at", (phase) => {
    const { raw } = next(fenced({ phase, message: "Operation terminated (retried 1 times)." }));
    expect(raw["status"]).toEqual({ health: {} });
    expect(isAutomated(raw)).toBe(true);
    expect(annotationsOf(raw)["argocd.argoproj.io/refresh"]).toBe("normal");
    expect(annotationsOf(raw)[PAUSE]).toBeUndefined();
  });

  test.each([
    ["one that succeeded", { phase: "Succeeded" }, undefined],
    ["one that goes on", { phase: "Running" }, { sync: {} }],
    ["one that is asked for", { phase: "Failed" }, { sync: {} }],
    ["a run that its user follows", { phase: "Failed", operation: { info: [{ name: INFO_RUN, value: "run-1" }] } }, undefined],
  ])("keeps %s", (_, operationState, operation) => {
    const { raw } = next(fenced(operationState, operation === undefined ? {} : { operation }));
    expect(isAutomated(raw)).toBe(true);
    expect(raw["status"]).toEqual({ health: {}, operationState });
    expect(raw["operation"]).toEqual(operation);
  });

  test("waits for the end of one that is being stopped, and lets it end", () => {
    const stopping = fenced({ phase: "Terminating" }, { operation: { sync: {} } });
    const first = next(stopping);
    expect(annotationsOf(first.raw)[PAUSE]).toBeUndefined();
    expect(isAutomated(first.raw)).toBe(false);
    expect(next(first.raw as unknown as Stored).kind).toBe("await-rest");
    const ended = next(fenced({ phase: "Failed" }, { isPaused: false }));
    expect(isAutomated(ended.raw)).toBe(true);
    expect(ended.raw["status"]).toEqual({ health: {} });
  });

  test("does not wait for one that is said to be stopped and that nobody goes on with", () => {
    expect(isAutomated(next(fenced({ phase: "Terminating" })).raw)).toBe(true);
  });
});

test("an Application that follows Git keeps what it says of its last sync", () => {
  const raw = { ...stored(automated), status: { operationState: { phase: "Failed" } } };
  expect(next(raw as unknown as Stored).kind).toBe("settled");
});

test("an Application that is synced by hand keeps a failure, whatever a move did to it", () => {
  const { raw } = next(fenced({ phase: "Failed" }), manual);
  expect(raw["status"]).toEqual({ health: {}, operationState: { phase: "Failed" } });
});
