import { describe, expect, test } from "vitest";
import type { InstanceId } from "../domain/ids.ts";
import type { ShardObject } from "../domain/shard-object.ts";
import { manifestOf } from "./managed-object.ts";
import { type ObservedBinding, parseBinding } from "./parse-rights.ts";
import { renderUnit } from "./render-unit.ts";
import { addRepair, afterRepair, isBorneOutBy, judgeTampering, repairsText, repairWaitMs, type TamperingObservation } from "./tampering.ts";
import { anApplicationPlacement, DESTINATION, NAMESPACES } from "./testing/builders.ts";

const { ownerBinding: desired } = renderUnit(anApplicationPlacement(), {
  destination: DESTINATION,
  namespaces: NAMESPACES,
  repoUrls: [],
  environmentRepoUrls: [],
  environments: [],
});
const manifest = manifestOf(desired);

function observe(over: object = {}, metadata: object = {}): ObservedBinding {
  const observed = parseBinding({
    ...manifest,
    ...over,
    metadata: { ...manifest.metadata, uid: "uid-1", resourceVersion: "1", ...metadata },
  });
  if (observed === undefined) throw new Error("cannot be read");
  return observed;
}
const KNOWN: ShardObject = {
  ...{ instanceId: "instance-1" as InstanceId, kind: "owner-binding", subject: "unit-1", appliedRevision: 3, epoch: 7, uid: "uid-1" },
  hash: desired.contentHash,
};
const judge = (observations: readonly TamperingObservation[], settled = observe(), known: ShardObject | undefined = KNOWN) =>
  judgeTampering(observations, { desired, settled, known })?.what;
const NOBODY = { subjects: [] };

describe("whether somebody tampered with an owner binding", () => {
  const another = observe({}, { uid: "uid-2" });
  test.each<[string, ReturnType<typeof judge>, readonly TamperingObservation[], ObservedBinding, ShardObject | undefined]>([
    ["it is as it was", undefined, [{ observed: observe(), step: "settled" }], observe(), KNOWN],
    ["it names nobody", "edited", [{ observed: observe(NOBODY), step: "change" }], observe(), KNOWN],
    ["its labels are gone", "edited", [{ observed: observe({}, { labels: {} }), step: "change" }], observe(), KNOWN],
    ["it claims an epoch that no row has", "edited", [{ observed: observe(), step: "fenced" }], observe(), KNOWN],
    ["it is gone", "deleted", [{ observed: undefined, step: "create" }], another, KNOWN],
    ["it went and came back before anybody read it", "deleted", [{ observed: another, step: "settled" }], another, KNOWN],
    ["another one stands there", "replaced", [{ observed: observe(NOBODY, { uid: "uid-3" }), step: "delete" }], another, KNOWN],
    ["it never stood", undefined, [{ observed: undefined, step: "create" }], observe(), undefined],
    ["another owner's stood", undefined, [{ observed: observe(NOBODY), step: "change" }], observe(), { ...KNOWN, epoch: 6 }],
    [
      "an earlier version of ours wrote it otherwise",
      undefined,
      [{ observed: observe(NOBODY), step: "change" }],
      observe(),
      { ...KNOWN, hash: observe(NOBODY).contentHash },
    ],
    ["only rows were raised", undefined, [{ observed: observe({}, { annotations: {} }), step: "change" }], observe(), KNOWN],
  ])("where %s: %s", (_what, expected, ...seen) => {
    expect(judge(...seen)).toBe(expected);
  });
});

describe("who wrote to it last", () => {
  const write = (manager: unknown, time?: unknown) => ({ manager, operation: "Update", time });
  const lastWrite = (managedFields: unknown) => observe({}, { managedFields }).lastWrite;

  test("is whom the API server names last, but for us", () => {
    const writes = [
      write("kubectl-edit", "2026-01-02T00:00:00Z"),
      write("curl", "2026-01-01T00:00:00Z"),
      write("argosy", "2026-01-03T00:00:00Z"),
    ];
    expect(lastWrite(writes)).toEqual({ manager: "kubectl-edit", operation: "Update", at: "2026-01-02T00:00:00Z" });
    expect(lastWrite([write("argosy")])).toBeUndefined();
    expect(lastWrite(undefined)).toBeUndefined();
  });

  test.each(["\u001b[2J\u202e\n", "x".repeat(5000), 7, null, { a: 1 }])("is one short line, whatever name was chosen: %j", (manager) => {
    const by = lastWrite([write(manager)]);
    expect(by?.manager).toMatch(/^[ -~]{0,100}$/);
    const text = repairsText(addRepair(undefined, { what: "edited", by }, 0));
    expect(text).toMatch(/^[ -~]{20,400}$/);
  });

  test.each([null, 7, "x", [null, 7, "x", []], { a: 1 }])("is nobody known where the object says nothing sensible: %j", (raw) => {
    expect(() => lastWrite(raw)).not.toThrow();
  });
});

test("repairs are counted from the first to the last", () => {
  const by = undefined;
  const twice = addRepair(addRepair(undefined, { what: "edited", by }, 5), { what: "deleted", by }, 9);
  expect(twice).toEqual({ count: 2, firstAt: 5, last: { what: "deleted", by } });
  expect(repairsText(twice)).toBe(
    "the owner binding was changed 2 times, last deleted, and put back; the object does not say by whom; the API server's audit log says who",
  );
});

test("ten repairs are made at once, and then ten in ten seconds", () => {
  let times: readonly number[] = [];
  let nowMs = 0;
  let repairs = 0;
  for (; nowMs < 60_000; nowMs += 100) {
    if (repairWaitMs(times, nowMs) > 0) continue;
    times = afterRepair(times, nowMs);
    repairs += 1;
  }
  expect(repairs).toBe(60);
  expect(repairWaitMs(times, nowMs + 10_000)).toBe(0);
});

describe("a fence that claims another unit", () => {
  const at = { namespace: "team-a", name: "argosy-deployer" };
  const other = (epoch: number, phase: "IDLE" | "MOVING", namespace = "team-a") =>
    ({ unit: { epoch, phase }, workspace: { namespace } }) as const;
  test.each<readonly [boolean, string, Parameters<typeof isBorneOutBy>[0]]>([
    [true, "has its epoch", other(7, "IDLE")],
    [false, "has an older one", other(6, "IDLE")],
    [true, "is being moved, and gets the move's epoch at COMMIT", other(6, "MOVING")],
    [false, "is being moved elsewhere", other(6, "MOVING", "team-b")],
    [false, "is not there", undefined],
  ])("is borne out (%s) where that unit %s", (expected, _what, unit) => {
    expect(isBorneOutBy(unit, { at, epoch: 7 })).toBe(expected);
  });
});
