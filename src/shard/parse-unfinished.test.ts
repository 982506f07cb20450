import { describe, expect, test } from "vitest";
import { parseApplication } from "./parse-application.ts";
import { renderApplication } from "./render-application.ts";
import { anApplication, anApplicationPlacement, stored, TARGET } from "./testing/builders.ts";

const raw = stored(renderApplication(anApplicationPlacement(), anApplication(), TARGET));
const { source, destination } = raw["spec"] as { readonly source: object; readonly destination: object };
const annotations = raw.metadata["annotations"] as object;
const AT = "2026-01-01T00:00:10Z";
const compared = { reconciledAt: AT, sync: { status: "Synced", comparedTo: { source, destination } } };
const operationState = (phase: string, finishedAt?: string) => ({
  phase,
  startedAt: AT,
  ...(finishedAt === undefined ? {} : { finishedAt }),
});

const isUnfinished = (over: object): boolean | undefined => parseApplication({ ...raw, ...over })?.isUnfinished;
const withMeta = (metadata: object) => ({ metadata: { ...raw.metadata, ...metadata }, status: compared });
const withCompared = (part: "source" | "destination", change: object) => {
  const comparedTo = { source, destination, [part]: { ...{ source, destination }[part], ...change } };
  return { status: { ...compared, sync: { status: "Synced", comparedTo } } };
};
const refused = [{ type: "InvalidSpecError", message: "no such project" }];

describe("an instance's controller has work with an Application", () => {
  test.each([
    ["it has never compared", {}],
    ["it is asked to refresh", withMeta({ annotations: { ...annotations, "argocd.argoproj.io/refresh": "normal" } })],
    ["it has compared with another path", withCompared("source", { path: "before" })],
    ["it has compared with another revision", withCompared("source", { targetRevision: "before" })],
    ["it has compared with another repository", withCompared("source", { repoURL: "https://before.example" })],
    ["it has compared for another namespace", withCompared("destination", { namespace: "before" })],
    ["it has compared for another cluster", withCompared("destination", { server: "https://before.example" })],
    ["it is asked to sync", { status: compared, operation: { sync: {} } }],
    ["it syncs", { status: { ...compared, operationState: operationState("Running") }, operation: { sync: {} } }],
    ["it is to stop syncing", { status: { ...compared, operationState: operationState("Terminating", AT) }, operation: { sync: {} } }],
    ["it is asked to sync again", { status: { ...compared, operationState: operationState("Succeeded", AT) }, operation: { sync: {} } }],
    [
      "it has synced and not compared since",
      { status: { ...compared, operationState: operationState("Succeeded", "2026-01-01T00:00:11Z") } },
    ],
  ])("that %s", (_, over) => expect(isUnfinished(over)).toBe(true));

  test.each([
    ["has compared as it is", { status: compared }],
    [
      "could not render",
      { status: { ...compared, sync: { ...compared.sync, status: "Unknown" }, conditions: [{ type: "ComparisonError" }] } },
    ],
    ["has synced and compared since", { status: { ...compared, operationState: operationState("Succeeded", AT) } }],
    ["tries to sync again later", { status: { ...compared, operationState: operationState("Running", AT) }, operation: { sync: {} } }],
    ["refuses to compare at all", { status: { conditions: refused } }],
    ["refuses to compare as it is now", { status: { ...withCompared("source", { path: "before" }).status, conditions: refused } }],
    ["removes", { ...withMeta({ deletionTimestamp: AT }), status: {} }],
  ])("but not one that it %s", (_, over) => expect(isUnfinished(over)).toBe(false));

  test("or not, as any form of it can be read", () => {
    for (const status of [null, 7, "x", [], { sync: 1 }, { sync: { comparedTo: [] }, conditions: "x", operationState: 3 }])
      expect(isUnfinished({ status, operation: null })).toBe(true);
  });
});
