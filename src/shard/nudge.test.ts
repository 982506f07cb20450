import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AwaitedRefresh,
  FIRST_NUDGE_MS,
  isAwaited,
  isBlindAtBirth,
  isLeftByOutage,
  isOverlooked,
  isUnbegunSync,
  isUnseenSync,
  MOST_APART_MS,
  NUDGES_AT_ONCE,
  nextNudges,
  planNudge,
  type Waiting,
} from "./nudge.ts";
import { type ObservedApplication, parseApplication } from "./parse-application.ts";
import { CASCADE_FINALIZER } from "./plan-application.ts";
import { renderApplication } from "./render-application.ts";
import { anApplication, anApplicationPlacement, setMeta, stored, TARGET } from "./testing/builders.ts";

const REFRESH = { "argocd.argoproj.io/refresh": "normal" };

function observed(annotations: Readonly<Record<string, string>>, meta: Readonly<Record<string, unknown>> = {}): ObservedApplication {
  const raw = stored(renderApplication(anApplicationPlacement(), anApplication(), TARGET), "object-1", "100");
  setMeta("annotations", { "argosy.dev/epoch": "3", ...annotations })(raw);
  for (const [field, value] of Object.entries(meta)) setMeta(field, value)(raw);
  return parseApplication(raw) as ObservedApplication;
}

describe("isAwaited", () => {
  it("is so while a request stands that Argo CD may do something about", () => {
    expect(isAwaited(observed(REFRESH))).toBe(true);
    expect(isAwaited(observed({}))).toBe(false);
    expect(isAwaited(observed({ ...REFRESH, "argocd.argoproj.io/skip-reconcile": "true" }))).toBe(false);
    expect(isAwaited(observed(REFRESH, { deletionTimestamp: "2026-01-01T00:00:00Z" }))).toBe(false);
  });

  it.each([
    ["with what it deployed", [CASCADE_FINALIZER], {}, true],
    ["after its hooks", ["post-delete-finalizer.argocd.argoproj.io"], {}, true],
    ["when somebody else is done with it", ["example.com/hold"], {}, false],
    ["paused", [CASCADE_FINALIZER], { "argocd.argoproj.io/skip-reconcile": "true" }, false],
  ])("of one that ends %s: %s %o %s", (_, finalizers, annotations, isExpected) => {
    const meta = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers };
    expect(isAwaited(observed(annotations, meta))).toBe(isExpected);
    expect(isAwaited(observed(annotations, { finalizers }))).toBe(false);
  });
});

describe("isUnseenSync", () => {
  const time = (second: number): string => `2026-01-01T00:00:0${second}Z`;
  const synced = (comparedAt: number, over: object = {}, annotations: Readonly<Record<string, string>> = {}, status: object = {}) => {
    const raw = stored(renderApplication(anApplicationPlacement(), anApplication(), TARGET), "object-1", "100");
    setMeta("annotations", { "argosy.dev/epoch": "3", ...annotations })(raw);
    const operationState = { phase: "Succeeded", startedAt: time(1), finishedAt: time(3) };
    Object.assign(raw as object, {
      status: { reconciledAt: time(comparedAt), sync: { status: "OutOfSync" }, operationState, ...status },
      ...over,
    });
    return parseApplication(raw) as ObservedApplication;
  };

  it("is so until Argo CD has compared after a sync that has ended, or says that it agrees", () => {
    expect([2, 3, 4].map((second) => isUnseenSync(synced(second)))).toEqual([true, true, false]);
    expect(isUnseenSync(synced(3, {}, {}, { sync: { status: "Synced" } }))).toBe(false);
    expect(isUnseenSync(synced(2, {}, {}, { sync: { status: "Synced" } }))).toBe(true);
  });

  it("is not so while a sync is asked for, nor where Argo CD does not refresh", () => {
    expect(isUnseenSync(synced(2, { operation: { sync: {} } }))).toBe(false);
    expect(isUnseenSync(synced(2, {}, { "argocd.argoproj.io/skip-reconcile": "true" }))).toBe(false);
    expect(isUnseenSync(synced(2, {}, { "argosy.dev/arriving": "copied" }))).toBe(false);
    expect(isUnseenSync(synced(2, {}, {}, { conditions: [{ type: "InvalidSpecError", message: "no" }] }))).toBe(false);
    expect(isUnseenSync(synced(2, {}, {}, { operationState: undefined }))).toBe(false);
  });
});

describe("isUnbegunSync", () => {
  const asked = (over: object = {}, annotations: Readonly<Record<string, string>> = {}, meta: object = {}) => {
    const raw = stored(renderApplication(anApplicationPlacement(), anApplication(), TARGET), "object-1", "100");
    setMeta("annotations", { "argosy.dev/epoch": "3", ...annotations })(raw);
    for (const [field, value] of Object.entries(meta)) setMeta(field, value)(raw);
    return parseApplication(Object.assign(raw as object, { operation: { sync: {} }, ...over })) as ObservedApplication;
  };
  const phase = (phase: string) => ({ status: { operationState: { phase, startedAt: "2026-01-01T00:00:01Z" } } });

  it("is so from when a sync is asked for until the controller says that it runs", () => {
    expect(isUnbegunSync(asked())).toBe(true);
    for (const last of ["Succeeded", "Failed", "Error"]) expect(isUnbegunSync(asked(phase(last)))).toBe(true);
    for (const present of ["Running", "Terminating"]) expect(isUnbegunSync(asked(phase(present)))).toBe(false);
    expect(isUnbegunSync(asked({ operation: undefined, ...phase("Succeeded") }))).toBe(false);
    expect(isOverlooked(asked())).toBe(true);
  });

  it("is not so where Argo CD begins no sync", () => {
    expect(isUnbegunSync(asked({}, { "argocd.argoproj.io/skip-reconcile": "true" }))).toBe(false);
    expect(isUnbegunSync(asked({}, { "argosy.dev/arriving": "copied" }))).toBe(false);
    expect(isUnbegunSync(asked({}, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }))).toBe(false);
  });

  it("is reminded of, and no comparison is asked for", () => {
    expect(planNudge(asked()).flatMap((each) => (each.op === "add" ? [each.path] : []))).toEqual([
      "/metadata/annotations/argosy.dev~1nudged",
    ]);
  });
});

describe("isBlindAtBirth", () => {
  const born = "2026-01-01T00:00:00Z";
  const blind = (reconciledAt: string, annotations: Readonly<Record<string, string>> = {}, type = "ComparisonError") => {
    const raw = stored(renderApplication(anApplicationPlacement(), anApplication(), TARGET), "object-1", "100");
    setMeta("annotations", { "argosy.dev/epoch": "3", ...annotations })(raw);
    setMeta("creationTimestamp", born)(raw);
    const conditions = [{ type, message: "authentication required" }];
    Object.assign(raw as object, { status: { reconciledAt, conditions, sync: { status: "Unknown" }, health: { status: "Healthy" } } });
    return parseApplication(raw) as ObservedApplication;
  };

  it("is so once, after a first refresh that could not read the repository", () => {
    expect(isBlindAtBirth(blind("2026-01-01T00:00:01Z"))).toBe(true);
    expect(isBlindAtBirth(blind("2026-01-01T00:00:01Z", { "argosy.dev/nudged": "99" }))).toBe(false);
    expect(isBlindAtBirth(blind("2026-01-01T00:00:01Z", REFRESH))).toBe(false);
    expect(isBlindAtBirth(blind("2026-01-01T00:00:01Z", { "argocd.argoproj.io/skip-reconcile": "true" }))).toBe(false);
    expect(isBlindAtBirth(blind("2026-01-01T00:02:01Z"))).toBe(false);
    expect(isBlindAtBirth(blind("2026-01-01T00:00:01Z", {}, "SyncError"))).toBe(false);
    expect(isBlindAtBirth(observed({}))).toBe(false);
  });

  it("has it refreshed again", () => {
    const paths = (seen: ObservedApplication) => planNudge(seen).flatMap((each) => (each.op === "add" ? [each.path] : []));
    expect(paths(blind("2026-01-01T00:00:01Z"))).toEqual([
      "/metadata/annotations/argosy.dev~1nudged",
      "/metadata/annotations/argocd.argoproj.io~1refresh",
    ]);
    expect(paths(observed(REFRESH))).toEqual(["/metadata/annotations/argosy.dev~1nudged"]);
  });
});

describe("isLeftByOutage", () => {
  const away =
    'Failed to load target state: rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing"';
  const unreadable =
    'Failed to load live state: failed to get cluster info for "https://10.0.0.1:443": error synchronizing cache state : timed out';
  const said = (
    message: string,
    over: { readonly type?: string; readonly annotations?: Readonly<Record<string, string>>; readonly meta?: object } = {},
  ): ObservedApplication => {
    const raw = stored(renderApplication(anApplicationPlacement(), anApplication(), TARGET), "object-1", "100");
    setMeta("annotations", { "argosy.dev/epoch": "3", ...over.annotations })(raw);
    for (const [field, value] of Object.entries(over.meta ?? {})) setMeta(field, value)(raw);
    const conditions = [{ type: over.type ?? "ComparisonError", message }];
    Object.assign(raw as object, { status: { conditions, sync: { status: "Unknown" }, health: { status: "Healthy" } } });
    return parseApplication(raw) as ObservedApplication;
  };

  it("is so where a part of Argo CD's was away, or the API cluster could not be read", () => {
    for (const message of [away, unreadable, "redis: connection pool timeout"]) expect(isLeftByOutage(said(message))).toBe(true);
    expect(isLeftByOutage(said(away, { type: "UnknownError" }))).toBe(true);
    // Whether it is being asked already does not matter: it would begin to wait anew.
    expect(isLeftByOutage(said(away, { annotations: REFRESH }))).toBe(true);
  });

  it("is not so of what a repository or its user's cluster says, nor where Argo CD does not compare", () => {
    for (const message of ["authentication required", "app path does not exist"]) expect(isLeftByOutage(said(message))).toBe(false);
    expect(isLeftByOutage(said(away, { type: "SyncError" }))).toBe(false);
    expect(isLeftByOutage({ ...said(unreadable), entersBy: "environment-project" })).toBe(false);
    expect(isLeftByOutage({ ...said(away), entersBy: "environment-project" })).toBe(true);
    expect(isLeftByOutage(said(away, { annotations: { "argocd.argoproj.io/skip-reconcile": "true" } }))).toBe(false);
    expect(isLeftByOutage(said(away, { annotations: { "argosy.dev/arriving": "copied" } }))).toBe(false);
    expect(isLeftByOutage(said(away, { meta: { deletionTimestamp: "2026-01-01T00:00:00Z" } }))).toBe(false);
    expect(isLeftByOutage(observed({}))).toBe(false);
  });
});

describe("nextNudges", () => {
  const unchanged: AwaitedRefresh = { resourceVersion: "1", annotations: {} };
  const observe = (before: ReadonlyMap<string, Waiting>, awaited: readonly string[], nowMs: number, seen = unchanged) =>
    nextNudges(before, new Map(awaited.map((name) => [name, seen])), nowMs);

  it("names what has waited for long, less and less often", () => {
    let waiting: ReadonlyMap<string, Waiting> = new Map();
    const at: number[] = [];
    for (let nowMs = 0; nowMs < 20 * 60_000; nowMs += 3_000) {
      const next = observe(waiting, ["a"], nowMs);
      waiting = next.waiting;
      if (next.due.length > 0) at.push(nowMs / 1_000);
    }
    expect(at).toEqual([6, 18, 42, 90, 186, 378, 678, 978]);
  });

  it("begins anew with what was done meanwhile", () => {
    const first = observe(new Map(), ["a"], 0);
    const done = observe(first.waiting, [], 3_000);
    expect(done.waiting.size).toBe(0);
    expect(observe(done.waiting, ["a"], FIRST_NUDGE_MS).due).toEqual([]);
  });

  it("begins anew with what others changed, and not with what a nudge did", () => {
    const first = observe(new Map(), ["a"], 0);
    const touched = observe(first.waiting, ["a"], FIRST_NUDGE_MS, { resourceVersion: "2", annotations: {} });
    expect(touched.due).toEqual([]);
    const overlooked = { resourceVersion: "2", annotations: {} };
    expect(observe(touched.waiting, ["a"], 2 * FIRST_NUDGE_MS, overlooked).due).toEqual(["a"]);
    const { waiting } = observe(touched.waiting, ["a"], 2 * FIRST_NUDGE_MS, overlooked);
    const nudged = { resourceVersion: "3", annotations: { "argosy.dev/nudged": "2" } };
    const after = observe(waiting, ["a"], 3 * FIRST_NUDGE_MS, nudged);
    expect(after.due).toEqual([]);
    expect(observe(after.waiting, ["a"], 4 * FIRST_NUDGE_MS, nudged).due).toEqual(["a"]);
  });

  it("names few at once, and each of them in its turn", () => {
    const names = Array.from({ length: 3 * NUDGES_AT_ONCE }, (_, index) => `app-${index}`);
    let { waiting } = observe(new Map(), names, 0);
    const named: string[] = [];
    for (const nowMs of [6_000, 9_000, 12_000]) {
      const next = observe(waiting, names, nowMs);
      waiting = next.waiting;
      named.push(...next.due);
    }
    expect(named).toEqual(names);
  });

  it("never names one that it has not known for the time it takes, nor more than it may", () => {
    const observations = fc.array(fc.record({ awaited: fc.uniqueArray(fc.stringMatching(/^[a-e]$/)), afterMs: fc.nat(MOST_APART_MS) }));
    fc.assert(
      fc.property(observations, (steps) => {
        let waiting: ReadonlyMap<string, Waiting> = new Map();
        const since = new Map<string, number>();
        let nowMs = 0;
        for (const { awaited, afterMs } of steps) {
          nowMs += afterMs;
          for (const name of [...since.keys()]) if (!awaited.includes(name)) since.delete(name);
          for (const name of awaited) if (!since.has(name)) since.set(name, nowMs);
          const next = observe(waiting, awaited, nowMs);
          waiting = next.waiting;
          for (const name of next.due) expect(nowMs - (since.get(name) ?? Number.NaN)).toBeGreaterThanOrEqual(FIRST_NUDGE_MS);
          expect([...waiting.keys()].sort()).toEqual([...awaited].sort());
        }
      }),
    );
  });
});

describe("planNudge", () => {
  it("changes one mark of that very version, each time to another value", () => {
    expect(planNudge(observed(REFRESH))).toEqual([
      { op: "test", path: "/metadata/uid", value: "object-1" },
      { op: "test", path: "/metadata/resourceVersion", value: "100" },
      { op: "test", path: "/metadata/annotations/argosy.dev~1epoch", value: "3" },
      { op: "add", path: "/metadata/annotations/argosy.dev~1nudged", value: "100" },
    ]);
  });
});
