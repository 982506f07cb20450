import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RESOURCE_LIMIT } from "../domain/status.ts";
import { mirrorOperationState } from "./mirror-operation.ts";
import { letGoOfStatus, projectKeptStatus, projectStatus } from "./project-status.ts";

const resource = (name: string, over = {}) => ({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  namespace: "team-a",
  name,
  status: "Synced",
  ...over,
});
const STATUS = {
  sync: {
    status: "Synced",
    revision: "abc",
    comparedTo: {
      source: { repoURL: "https://git.example/a", path: "deploy", targetRevision: "main" },
      destination: { server: "https://api", namespace: "team-a" },
    },
  },
  health: { status: "Healthy", lastTransitionTime: "2026-01-01T00:00:00Z" },
  resources: [resource("b", { health: { status: "Healthy", message: "fine" } }), resource("a", { hook: true })],
  conditions: [{ type: "SharedResourceWarning", message: "shared", lastTransitionTime: "2026-01-01T00:00:00Z" }],
  reconciledAt: "2026-01-01T00:00:10Z",
  history: [{ id: 1 }],
  operationState: { phase: "Succeeded", operation: { sync: { revision: "abc" } }, startedAt: "2026-01-01T00:00:00Z" },
};

describe("what is kept of Argo CD's status", () => {
  test("is what users see, in an order of its own", () => {
    expect(projectStatus(STATUS)?.status).toEqual({
      sync: { status: "Synced", revision: "abc" },
      health: { status: "Healthy", message: "" },
      conditions: [{ type: "SharedResourceWarning", message: "shared" }],
      // What is healthy says nothing to act on, and changes all the time.
      resources: [resource("a"), resource("b", { health: { status: "Healthy" } })],
      resourceCount: 2,
      comparedTo: { repoUrl: "https://git.example/a", path: "deploy", targetRevision: "main", namespace: "team-a" },
      operationState: STATUS.operationState,
    });
    expect(projectStatus(STATUS)?.reconciledAt).toBe(Date.UTC(2026, 0, 1, 0, 0, 10));
  });

  test("has the same hash after a mere refresh, and whatever order resources come in", () => {
    const again = { ...STATUS, reconciledAt: "2026-01-01T00:03:00Z", resources: [...STATUS.resources].reverse(), history: [] };
    expect(projectStatus(again)?.hash).toBe(projectStatus(STATUS)?.hash);
    expect(projectStatus({ ...STATUS, health: { status: "Degraded" } })?.hash).not.toBe(projectStatus(STATUS)?.hash);
  });

  test("is nothing before the controller has said anything", () => {
    for (const nothing of [undefined, null, {}, "x", []]) expect(projectStatus(nothing)).toBeUndefined();
  });

  test("is bounded, and says how much there was", () => {
    const many = {
      ...STATUS,
      resources: Array.from({ length: 800 }, (_, index) => resource(`r-${index}`)),
      conditions: Array.from({ length: 90 }, () => ({ type: "SyncError", message: "x".repeat(9_000) })),
    };
    const status = projectStatus(many)?.status;
    expect(status?.resources).toHaveLength(RESOURCE_LIMIT);
    expect(status?.resourceCount).toBe(800);
    expect(status?.conditions).toHaveLength(20);
    expect(status?.conditions[0]?.message).toHaveLength(4096);
  });

  test("of too many objects is what is wrong before all else, and keeps what they say within bounds", () => {
    const broken = (name: string, message: string) => resource(name, { health: { status: "Degraded", message } });
    const fine = Array.from({ length: 2_000 }, (_, index) => resource(`fine-${index}`, { health: { status: "Healthy" } }));
    const one = projectStatus({ ...STATUS, resources: [...fine, broken("zebra", "no such image")] })?.status;
    expect(one?.resources).toHaveLength(RESOURCE_LIMIT);
    expect(one?.resources.at(-1)).toEqual(broken("zebra", "no such image"));
    expect(one?.resourceCount).toBe(2_001);
    const all = projectStatus({ ...STATUS, resources: fine.map(({ name }) => broken(name, "x".repeat(9_000))) })?.status;
    expect(all?.resources.filter(({ health }) => health?.status === "Degraded")).toHaveLength(RESOURCE_LIMIT);
    expect(all?.resources[0]?.health?.message).toHaveLength(500);
    expect(all?.resources.map(({ health }) => health?.message ?? "").join("").length).toBeLessThanOrEqual(64 * 1024);
  });

  test("takes states it does not know for unknown, and anything at all without failing", () => {
    expect(projectStatus({ sync: { status: "Sideways" }, reconciledAt: "soon" })).toMatchObject({
      status: { sync: { status: "Unknown" }, health: { status: "Unknown" } },
      reconciledAt: undefined,
    });
    const field = fc.constantFrom(...Object.keys(STATUS));
    fc.assert(fc.property(field, fc.jsonValue(), (name, value) => projectStatus({ ...STATUS, [name]: value }) !== undefined));
  });
});

describe("the mirror of an operation", () => {
  test("leaves out local manifests, which are whole applications", () => {
    const state = mirrorOperationState({ phase: "Running", operation: { sync: { manifests: ["secret"], revision: "abc" } }, extra: 1 });
    expect(state).toEqual({ phase: "Running", operation: { sync: { revision: "abc" } } });
  });

  test("is never large, and loses its outcome last", () => {
    const many = Array.from({ length: 3_000 }, (_, index) => ({ name: `r-${index}`, message: "m".repeat(8_000) }));
    const state = mirrorOperationState({ phase: "Failed", message: "x".repeat(10_000), syncResult: { revision: "abc", resources: many } });
    expect(JSON.stringify(state).length).toBeLessThanOrEqual(256 * 1024);
    expect(state).toMatchObject({ phase: "Failed", syncResult: { revision: "abc" } });
    expect(state).toHaveProperty("syncResult.resources.length", 50);
    const info = Array.from({ length: 100 }, () => ({ name: "n".repeat(4_000), value: "v".repeat(4_000) }));
    expect(mirrorOperationState({ phase: "Failed", operation: { info }, syncResult: { source: info } })).toEqual({ phase: "Failed" });
  });

  test("keeps as many resources of a result as the status does", () => {
    const resources = Array.from({ length: 600 }, (_, index) => ({ name: `r-${index}` }));
    expect(mirrorOperationState({ syncResult: { resources } })).toHaveProperty("syncResult.resources.length", RESOURCE_LIMIT);
  });

  test("is bounded in depth and size for anything at all", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 50; level += 1) deep = { deep };
    expect(JSON.stringify(mirrorOperationState({ operation: deep }))).not.toContain("end");
    expect(mirrorOperationState(undefined)).toBeUndefined();
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (value) => JSON.stringify(mirrorOperationState({ operation: value, phase: "Running" })).length <= 256 * 1024,
      ),
    );
  });
});

describe("a report that is kept", () => {
  test("says what a read one says", () => {
    const kept = projectKeptStatus(STATUS, undefined);
    const read = projectStatus(STATUS);
    expect(kept).toMatchObject({ hash: read?.hash, reconciledAt: read?.reconciledAt, unrecorded: read?.status });
    expect(kept).toMatchObject({ sync: read?.status.sync, conditions: read?.status.conditions });
    expect(projectKeptStatus({}, kept)).toBeUndefined();
  });

  test("is not made anew by a comparison that brings nothing new, whether or not its status was let go of", () => {
    const kept = projectKeptStatus(STATUS, undefined);
    const again = projectKeptStatus({ ...STATUS, reconciledAt: "2026-01-01T00:03:00Z" }, kept);
    expect(again).toEqual({ ...kept, reconciledAt: Date.UTC(2026, 0, 1, 0, 3) });
    expect(again?.unrecorded).toBe(kept?.unrecorded);
    if (again !== undefined) letGoOfStatus(again);
    const third = projectKeptStatus({ ...STATUS, reconciledAt: "2026-01-01T00:06:00Z" }, again);
    expect(third).toEqual({ ...kept, unrecorded: undefined, reconciledAt: Date.UTC(2026, 0, 1, 0, 6) });
  });

  test("is made anew by whatever else is new", () => {
    const kept = projectKeptStatus(STATUS, undefined);
    if (kept !== undefined) letGoOfStatus(kept);
    for (const change of [
      { health: { status: "Degraded" } },
      { sync: { status: "OutOfSync" } },
      { operationState: { phase: "Running" } },
      { new: 1 },
    ])
      expect(projectKeptStatus({ ...STATUS, ...change }, kept)).toMatchObject({
        unrecorded: projectStatus({ ...STATUS, ...change })?.status,
      });
  });
});
