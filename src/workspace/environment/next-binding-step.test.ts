import { expect, it } from "vitest";
import type { EnvironmentId, InstanceId, UnitId } from "../../domain/ids.ts";
import { environmentOwnerBinding } from "./account-objects.ts";
import { nextBindingStep, parseClusterBinding } from "./next-binding-step.ts";

const ENVIRONMENT = { id: "environment-1" as EnvironmentId, namespaces: [], clusterResources: false };
const bindingOf = (epoch: number, to: string | undefined) =>
  environmentOwnerBinding(ENVIRONMENT, { unitId: "unit-1" as UnitId, epoch }, to as InstanceId | undefined).bindings[0]!;
const seen = (epoch: number, to: string | undefined, over: Readonly<Record<string, unknown>> = {}) => {
  const { metadata, ...rest } = bindingOf(epoch, to);
  return parseClusterBinding({ ...rest, metadata: { ...metadata, uid: "u", resourceVersion: "5", ...over } });
};

it.each([
  ["what is not there", undefined, "create"],
  ["what says so already", seen(7, "one"), "done"],
  ["what an older epoch wrote", seen(6, "one"), "patch"],
  ["what names somebody else", seen(7, "two"), "patch"],
  ["what names nobody", seen(7, undefined), "patch"],
  ["what carries no epoch", seen(7, "one", { annotations: undefined }), "patch"],
  ["what carries an epoch that is none", seen(7, "one", { annotations: { "argosy.dev/epoch": "-1e9" } }), "patch"],
  ["what a newer epoch wrote", seen(8, "two"), "fenced"],
  ["what a newer epoch wrote and is on its way out", seen(8, "two", { deletionTimestamp: "2026-01-01T00:00:00Z" }), "fenced"],
  ["what is on its way out", seen(6, "one", { deletionTimestamp: "2026-01-01T00:00:00Z" }), "wait"],
  ["what binds to another role", { ...seen(7, "one")!, roleRef: "other" }, "delete"],
] as const)("decides about %s", (_what, observed, kind) => {
  expect(nextBindingStep(bindingOf(7, "one"), 7, observed).kind).toBe(kind);
});

it("tests in every patch the very object that was seen, and writes epoch and subjects at once", () => {
  const step = nextBindingStep(bindingOf(9, undefined), 9, seen(7, "one"));
  expect(step).toMatchObject({
    patch: [
      { op: "test", path: "/metadata/uid", value: "u" },
      { op: "test", path: "/metadata/resourceVersion", value: "5" },
      { op: "add", path: "/metadata/annotations/argosy.dev~1epoch", value: "9" },
      { op: "add", path: "/subjects", value: [] },
    ],
  });
});

it("takes nothing for a binding that has no identity", () => {
  for (const raw of [null, 7, {}, { metadata: {} }, { metadata: { uid: 1, resourceVersion: "2" } }])
    expect(parseClusterBinding(raw)).toBeUndefined();
});
