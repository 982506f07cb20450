import { expect, it } from "vitest";
import { seenObject } from "./seen-object.ts";

const READY = { observedGeneration: 2, replicas: 1, readyReplicas: 1, updatedReplicas: 1 };
const failure = { type: "ReplicaFailure", status: "True", message: "no quota" };

const readinessOf = (status: object, spec: object = { replicas: 1 }) =>
  seenObject({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a", generation: 2 }, spec, status } as never).readiness;

it("takes a workload for ready when exactly the wanted number of pods run its current template and are ready", () => {
  expect(readinessOf(READY)).toEqual({ isReady: true, detail: "" });
  expect(readinessOf({ ...READY, replicas: 3, readyReplicas: 3, updatedReplicas: 3 }, { replicas: 3 }).isReady).toBe(true);
  expect(readinessOf(READY, {}).isReady).toBe(true);
});

it.each([
  ["its latest change has not been taken up yet", { ...READY, observedGeneration: 1 }],
  ["its latest change has not been taken up yet", {}],
  ["0 of 1 pods are ready, 1 up to date", { ...READY, readyReplicas: 0 }],
  ["1 of 1 pods are ready, 0 up to date", { ...READY, updatedReplicas: 0 }],
  ["1 of 1 pods are ready, 1 up to date", { ...READY, replicas: 2 }],
  ["2 of 1 pods are ready, 1 up to date", { ...READY, replicas: 2, readyReplicas: 2 }],
  ["0 of 1 pods are ready, 1 up to date: no quota", { ...READY, readyReplicas: 0, conditions: [failure] }],
  ["0 of 1 pods are ready, 1 up to date", { ...READY, readyReplicas: 0, conditions: [{ ...failure, status: "False" }] }],
])("does not take it for ready, and says: %s", (detail, status) => {
  expect(readinessOf(status)).toEqual({ isReady: false, detail });
});

it("keeps what a quota allows and what is used, once Kubernetes has counted it", () => {
  const quotaOf = (status: object, kind = "ResourceQuota") =>
    seenObject({ apiVersion: "v1", kind, metadata: { name: "a" }, spec: { hard: { pods: "6" } }, status } as never).quota;
  expect(quotaOf({ hard: { pods: "7" }, used: { pods: "3" } })).toEqual({ hard: { pods: "6" }, used: { pods: "3" } });
  expect(quotaOf({})).toBeUndefined();
  expect(quotaOf({ used: { pods: "3" } }, "ConfigMap")).toBeUndefined();
});
