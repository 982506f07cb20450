import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { millis } from "../domain/clock.ts";
import { applyJsonPatch } from "../runtime/kube/testing/json-patch.ts";
import { type ObservedApplication, parseApplication } from "./parse-application.ts";
import { type ApplicationAction, CASCADE_FINALIZER, planApplication } from "./plan-application.ts";
import { letGoOfStatus } from "./project-status.ts";
import { renderApplication } from "./render-application.ts";
import { calm, type Restlessness, restlessnessOf } from "./restlessness.ts";
import type { Stored } from "./testing/builders.ts";
import { anApplication, anApplicationPlacement, stored, TARGET } from "./testing/builders.ts";

const REFRESH = "argocd.argoproj.io/refresh";
const DESIRED = renderApplication(anApplicationPlacement({ epoch: 7 }), anApplication({ desiredRevision: 2 }), TARGET);
const at = (seconds: number): string =>
  `2026-01-01T00:${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}Z`;
const NOW = millis(Date.parse(at(100)));

interface Shape {
  readonly phase?: string;
  readonly finishedAt?: number;
  readonly comparedAt?: number;
  readonly isRequested?: boolean;
  readonly isManual?: boolean;
  readonly isRefreshing?: boolean;
  readonly sync?: { readonly status: string; readonly revision: string };
  readonly isShared?: boolean;
}

const COMPARED = { isManual: true, finishedAt: 90, comparedAt: 92 } as const;
const SYNCED = { syncResult: { revision: "synced" } };
const OUT = { status: "OutOfSync", revision: "synced" };

function rawOf({
  phase,
  finishedAt,
  comparedAt,
  isRequested = false,
  isManual = false,
  isRefreshing = false,
  sync,
  isShared = false,
}: Shape): Stored {
  const raw = stored(DESIRED) as Stored & Record<string, unknown>;
  raw["spec"] = { ...(raw["spec"] as object), syncPolicy: isManual ? {} : { automated: { prune: true } } };
  if (isRequested) raw["operation"] = { sync: {} };
  if (isRefreshing) raw.metadata["annotations"] = { ...(raw.metadata["annotations"] as object), [REFRESH]: "normal" };
  raw["status"] = {
    ...(isShared ? { conditions: [{ type: "SharedResourceWarning", message: "tracked by another" }] } : {}),
    ...(comparedAt === undefined ? {} : { reconciledAt: at(comparedAt), sync: sync ?? { status: "Synced" } }),
    ...(phase === undefined
      ? {}
      : { operationState: { phase, ...SYNCED, ...(finishedAt === undefined ? {} : { finishedAt: at(finishedAt) }) } }),
  };
  return raw;
}

function observed(shape: Shape): ObservedApplication {
  const parsed = parseApplication(rawOf(shape));
  if (parsed === undefined) throw new Error("an Application");
  // As it is kept once its status is recorded: nothing may be decided by what is let go of then.
  if (parsed.report !== undefined) letGoOfStatus(parsed.report);
  return parsed;
}

describe("an Application is at rest", () => {
  test.each<[string, Shape]>([
    ["when Argo CD has compared well after the last sync", { isManual: true, phase: "Succeeded", finishedAt: 90, comparedAt: 92 }],
    ["when the last sync is long over, even if Git keeps Argo CD from comparing", { isManual: true, phase: "Failed", finishedAt: 69 }],
    ["when it was compared and had nothing to sync", { isManual: true, comparedAt: 99 }],
    ["when it is never compared but for being asked", { isManual: true }],
    ["when a sync is said to be under way that nobody goes on with", { isManual: true, phase: "Running" }],
    ["when a sync failed, and Argo CD has seen that something is missing", { ...COMPARED, phase: "Failed", sync: OUT }],
    ["when Git has something newer than what was synced", { ...COMPARED, phase: "Succeeded", sync: { ...OUT, revision: "next" } }],
    ["when what it is to hold is another Application's by now", { ...COMPARED, phase: "Succeeded", sync: OUT, isShared: true }],
    ["when what a sync made has not been seen for long", { ...COMPARED, phase: "Succeeded", sync: OUT, finishedAt: 69 }],
    ["when a sync ended at no time that anybody knows", { isManual: true, phase: "Error" }],
  ])("%s", (_, shape) => expect(restlessnessOf(observed(shape), NOW)).toBeUndefined());
});

describe("an Application is restless", () => {
  test.each<[Restlessness, string, Shape]>([
    ["requested", "a sync is asked for", { isRequested: true, comparedAt: 99 }],
    ["requested", "a second sync is asked for", { isRequested: true, phase: "Succeeded", finishedAt: 90, comparedAt: 99 }],
    ["syncing", "a sync is under way", { isRequested: true, phase: "Running" }],
    ["syncing", "a failed sync waits to be tried again", { isRequested: true, phase: "Running", finishedAt: 10, comparedAt: 99 }],
    ["ending", "a sync is being stopped", { isRequested: true, phase: "Terminating" }],
    ["automated", "the first comparison, which may begin a sync, is not over", {}],
    ["automated", "a comparison that is under way may find something new in Git", { phase: "Succeeded", finishedAt: 50, comparedAt: 99 }],
    ["refreshing", "a comparison that began when it was automated may not be over", { isManual: true, isRefreshing: true, comparedAt: 99 }],
    ["unsettled", "a sync has just ended", { isManual: true, phase: "Succeeded", finishedAt: 99, comparedAt: 98 }],
    [
      "unsettled",
      "what was compared since may not show what the sync made",
      { isManual: true, phase: "Succeeded", finishedAt: 90, comparedAt: 91 },
    ],
    ["unsettled", "nothing was compared since", { isManual: true, phase: "Failed", finishedAt: 70 }],
    ["unseen", "what was compared since shows nothing of what the sync made", { ...COMPARED, phase: "Succeeded", sync: OUT }],
  ])("%s: %s", (restlessness, _, shape) => expect(restlessnessOf(observed(shape), NOW)).toBe(restlessness));
});

test("calming stops what is under way and what would begin, and has Argo CD refresh where a refresh is missing, once", () => {
  const paths = (shape: Shape, restlessness: Restlessness) => calm(observed(shape), restlessness).map(({ path }) => path);
  expect(paths({ isRequested: true, phase: "Running" }, "syncing")).toEqual(["/spec/syncPolicy/automated", "/status/operationState/phase"]);
  expect(paths({ isRequested: true, isManual: true }, "requested")).toEqual([]);
  const refresh = "/metadata/annotations/argocd.argoproj.io~1refresh";
  expect(paths({}, "automated")).toEqual(["/spec/syncPolicy/automated", refresh]);
  expect(paths({ isManual: true, phase: "Succeeded", finishedAt: 99 }, "unsettled")).toEqual([refresh]);
  expect(paths({ ...COMPARED, phase: "Succeeded", sync: OUT }, "unseen")).toEqual([]);
  expect(paths({ isManual: true, isRefreshing: true, phase: "Succeeded", finishedAt: 99 }, "unsettled")).toEqual([]);
});

/** Argo CD with one Application: a sync makes an object which its cache shows a second later; a cascade deletes what the cache shows. */
function createEngine(shape: Shape) {
  let raw: Record<string, unknown> | undefined = rawOf(shape);
  let version = 100;
  let seconds = 100;
  let observation: { readonly isAsked: boolean; readonly isAutomated: boolean } | undefined;
  const made: number[] = [];
  const orphans: number[] = [];
  const write = (next: Record<string, unknown>): void => {
    version += 1;
    raw = { ...next, metadata: { ...(next["metadata"] as object), resourceVersion: String(version) } };
  };
  const status = () => (raw?.["status"] ?? {}) as Record<string, unknown>;
  return {
    observed: () => parseApplication(raw),
    now: () => millis(Date.parse(at(seconds))),
    orphans,
    carryOut(action: ApplicationAction): void {
      if (raw === undefined) return;
      if (action.kind === "change") write(applyJsonPatch(raw as never, action.patch) as Record<string, unknown>);
      if (action.kind !== "delete") return;
      const finalizers = ((raw["metadata"] as Record<string, unknown>)["finalizers"] ?? []) as string[];
      expect(finalizers).toContain(CASCADE_FINALIZER);
      // What is under way is ended first; then everything is deleted that is known by now.
      if (raw["operation"] !== undefined || (observation?.isAutomated === true && status()["operationState"] === undefined))
        made.push(seconds);
      orphans.push(...made.filter((madeAt) => seconds - madeAt < 1));
      raw = undefined;
    },
    /** One second of Argo CD's work: refreshes where it was asked to or never did, and begins, goes on with or ends a sync. */
    work(mayEnd: boolean): void {
      seconds += 1;
      if (raw === undefined) return;
      const { metadata, spec, operation } = raw as Record<string, Record<string, unknown> | undefined>;
      const phase = (status()["operationState"] as { phase?: string } | undefined)?.phase;
      if (operation !== undefined) {
        if (phase === "Terminating" || (phase === "Running" && mayEnd)) {
          made.push(seconds);
          const { operation: _, ...rest } = raw;
          return write({ ...rest, status: { ...status(), operationState: { phase: "Succeeded", finishedAt: at(seconds) } } });
        }
        return phase === "Running" ? undefined : write({ ...raw, status: { ...status(), operationState: { phase: "Running" } } });
      }
      const annotations = { ...(metadata?.["annotations"] as object) } as Record<string, string>;
      const isAsked = annotations[REFRESH] !== undefined;
      if (observation === undefined) {
        const isAutomated = (spec?.["syncPolicy"] as { automated?: unknown } | undefined)?.automated !== undefined;
        if (isAsked || status()["reconciledAt"] === undefined) observation = { isAsked, isAutomated };
        return;
      }
      if (!mayEnd) return;
      // It goes by what the Application said when it began.
      if (observation.isAsked) delete annotations[REFRESH];
      const begun = observation.isAutomated && status()["operationState"] === undefined ? { operation: { sync: {} } } : {};
      observation = undefined;
      write({ ...raw, ...begun, metadata: { ...metadata, annotations }, status: { ...status(), reconciledAt: at(seconds) } });
    },
  };
}

test("a cascade leaves nothing behind that a sync made, wherever it is decided on (I2)", () => {
  const shapes: readonly Shape[] = [
    {},
    { isManual: true },
    { comparedAt: 100 },
    { isRequested: true },
    { isRequested: true, phase: "Running" },
    { phase: "Succeeded", finishedAt: 100 },
    { phase: "Succeeded", finishedAt: 50, comparedAt: 60 },
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...shapes),
      fc.nat({ max: 4 }),
      fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
      (shape, late, luck) => {
        const engine = createEngine(shape);
        for (const mayEnd of luck.slice(0, late)) engine.work(mayEnd);
        for (const mayEnd of [...luck.slice(late), ...Array.from({ length: 20 }, () => true)]) {
          for (let step = 0; step < 4; step += 1) {
            const action = planApplication(DESIRED, { deletion: "cascade", now: engine.now(), mayWait: true }, engine.observed());
            if (action.kind === "await-rest") break;
            engine.carryOut(action);
          }
          engine.work(mayEnd);
        }
        expect(engine.observed()).toBeUndefined();
        expect(engine.orphans).toEqual([]);
      },
    ),
  );
});

test("after the timeout a cascade begins whatever is under way", () => {
  const place = observed({ isRequested: true, phase: "Running" });
  const marked = planApplication(DESIRED, { deletion: "cascade", now: NOW, mayWait: false }, place);
  expect(marked).toMatchObject({ kind: "change" });
  expect(JSON.stringify(marked)).not.toContain("Terminating");
});
