import { describe, expect, test } from "vitest";
import type { ApplicationId } from "../domain/ids.ts";
import { type ObservedApplication, parseApplication } from "../shard/parse-application.ts";
import { isNewerVersion } from "../shard/parse-object.ts";
import { renderApplication } from "../shard/render-application.ts";
import { anApplication, anApplicationPlacement, stored, TARGET } from "../shard/testing/builders.ts";
import { parseStatusKey, placeKey, routeApplication, routeObject, statusKey } from "./keys.ts";

function observed(id: string, status?: object): ObservedApplication {
  const parsed = parseApplication({
    ...stored(renderApplication(anApplicationPlacement(), anApplication({ id: id as ApplicationId }), TARGET)),
    ...(status === undefined ? {} : { status }),
  });
  if (parsed === undefined) throw new Error("unreadable");
  return parsed;
}
const at = { namespace: "argocd-1", name: "a" };

describe("a change of an Application", () => {
  test("concerns whom it named before as well as whom it names now", () => {
    const route = routeApplication({ kind: "upsert", at, before: observed("one"), now: observed("two") });
    expect(route.applications.map(({ id }) => id)).toEqual(["one", "two"]);
    expect(route.applications[0]?.unit).toBe("unit-1");
  });

  test("that only reports concerns the status alone, in its unit's turn", () => {
    const route = routeApplication({ kind: "upsert", at, before: observed("one"), now: observed("one", { sync: { status: "Synced" } }) });
    expect(route).toEqual({ applications: [], isReport: true, unit: "unit-1", syncs: [] });
  });

  test("that is about a run of its sync lets its runs go on, and one about anybody else's sync does not", () => {
    const under = (run: string) =>
      observed("one", { operationState: { phase: "Running", operation: { info: [{ name: run, value: "run-1" }] } } });
    const syncs = (run: string) => routeApplication({ kind: "upsert", at, before: observed("one"), now: under(run) }).syncs;
    expect(syncs("argosy.dev/sync-run")).toEqual([{ id: "one", unit: "unit-1" }]);
    expect(syncs("Reason")).toEqual([]);
  });

  test("whose own sync cannot bring about what is wanted concerns it", () => {
    const operation = { initiatedBy: { automated: true }, sync: { source: { path: "elsewhere" } } };
    const state = { phase: "Running", startedAt: "2026-01-01T00:00:00Z", operation };
    const now = parseApplication({
      ...stored(renderApplication(anApplicationPlacement(), anApplication({ id: "one" as ApplicationId }), TARGET)),
      ...{ operation, status: { operationState: state } },
    }) as ObservedApplication;
    const route = routeApplication({ kind: "upsert", at, before: observed("one"), now });
    expect(route.applications.map(({ id }) => id)).toEqual(["one"]);
  });

  test("of which a sync has ended lets the runs of one go on that is synced by hand", () => {
    const ended = (type: "manual" | "automated") => {
      const raw = stored(renderApplication(anApplicationPlacement(), anApplication({ id: "one" as ApplicationId }, { type }), TARGET));
      const [before, now] = [parseApplication({ ...raw, operation: { sync: {} } }), parseApplication(raw) as ObservedApplication];
      return routeApplication({ kind: "upsert", at, before, now }).syncs.map(({ id }) => id);
    };
    expect([ended("manual"), ended("automated")]).toEqual([["one"], []]);
  });

  test("that ends it concerns both", () => {
    expect(routeApplication({ kind: "delete", at, before: observed("one") })).toMatchObject({
      applications: [{ id: "one" }],
      isReport: true,
    });
  });

  test("that nobody of ours is named by concerns nobody", () => {
    const nameless = { ...observed("one"), labels: {} };
    expect(routeApplication({ kind: "upsert", at, before: undefined, now: nameless }).applications).toEqual([]);
  });
});

test("a change of another object concerns its unit, else its instance", () => {
  const object = observed("one");
  expect(routeObject({ kind: "delete", at, before: object })).toEqual({ units: ["unit-1"], instances: [] });
  expect(routeObject({ kind: "delete", at, before: { ...object, labels: { "argosy.dev/instance": "i" } } })).toEqual({
    units: [],
    instances: ["i"],
  });
  expect(routeObject({ kind: "upsert", at, before: object, now: { ...object, labels: {} } })).toEqual({ units: ["unit-1"], instances: [] });
});

test("versions are compared as numbers, and what is none counts as newer when it differs", () => {
  expect(isNewerVersion("100", "99")).toBe(true);
  expect(isNewerVersion("99", "100")).toBe(false);
  expect(isNewerVersion("99", "99")).toBe(false);
  expect(isNewerVersion("90071992547409930", "90071992547409929")).toBe(true);
  expect(isNewerVersion("x1", "5")).toBe(true);
  expect(isNewerVersion("x1", "x1")).toBe(false);
});

test("the key of a status says again what it was made of", () => {
  expect(parseStatusKey(statusKey("eu-1", at))).toEqual({ place: placeKey({ engineCluster: "eu-1", namespace: at.namespace }), at });
});
