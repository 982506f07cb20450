import { describe, expect, test } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import { aNamespace, aPolicy } from "../testing/builders.ts";
import { parseRun } from "./parse-run.ts";
import { dueAt, planRun, type RunFacts, whyGiveUp } from "./plan-run.ts";
import { type KnownRunRow, planRunSweep } from "./plan-run-sweep.ts";
import { createRunIndex } from "./run-index.ts";
import { aRunResource, aSyncRun, NOW } from "./testing/builders.ts";

describe("what a run asks for", () => {
  test.each([
    [{}, { deployment: "guestbook", revision: "", prune: false, ttlMs: undefined }],
    [
      { revisionID: " v1 ", prune: true, ttlSecondsAfterFinished: 0 },
      { deployment: "guestbook", revision: "v1", prune: true, ttlMs: 0 },
    ],
  ])("is read from %j", (spec, request) => expect(parseRun(aRunResource({}, spec))).toEqual({ ok: true, request }));

  test.each([
    [{ revisionID: "-x" }, "spec.revisionID must not begin with '-'"],
    [{ revisionID: "a\u0007b" }, "spec.revisionID must not contain control characters"],
    [{ gitopsDeploymentName: "" }, "spec.gitopsDeploymentName must be the name of a GitOpsDeployment"],
    [{ gitopsDeploymentName: "a/../b" }, "spec.gitopsDeploymentName must be the name of a GitOpsDeployment"],
    [{ gitopsDeploymentName: undefined }, expect.stringContaining("spec.gitopsDeploymentName")],
    [{ ttlSecondsAfterFinished: -1 }, expect.stringContaining("spec.ttlSecondsAfterFinished")],
  ])("is refused where it makes no sense: %j", (spec, message) => {
    const parsed = parseRun(aRunResource({}, spec));
    expect(parsed.ok ? [] : parsed.problems.map((problem) => problem.message)).toEqual([message]);
  });
});

describe("one name in a namespace", () => {
  const plan = (over: Partial<RunFacts> = {}) =>
    planRun({ resource: aRunResource(), namespace: aNamespace(), knownUids: ["run-1"], policy: aPolicy(), ...over });
  const record = { uid: "run-1", revision: "", prune: false, createdAt: NOW };

  test.each<[string, Partial<RunFacts>, Partial<ReturnType<typeof planRun>>]>([
    ["is recorded", {}, { gone: [], record, isOurs: true, isCancelled: false }],
    ["is left while it is paused", { resource: aRunResource({ isPaused: true }) }, { record: undefined, isOurs: true }],
    ["is left while it is wrong", { resource: aRunResource({ spec: {} }) }, { record: undefined, isOurs: true }],
    ["is cancelled when it is going", { resource: aRunResource({ isDeleting: true }) }, { record: undefined, isCancelled: true }],
    ["is cancelled when its namespace is going", { namespace: aNamespace({ isDeleting: true }) }, { record: undefined, isCancelled: true }],
    ["is gone when nothing is there", { resource: undefined }, { gone: ["run-1"], record: undefined, isOurs: false }],
    ["makes its predecessors go", { knownUids: ["run-0", "run-1"] }, { gone: ["run-0"], record }],
    ["is nobody's before its namespace is seen", { namespace: undefined }, { record: undefined, isOurs: false }],
    [
      "is not ours in a namespace that is no workspace",
      { namespace: aNamespace({ name: "kube-system" }) },
      { record: undefined, isOurs: false },
    ],
  ])("%s", (_what, over, expected) => expect(plan(over)).toMatchObject(expected));
});

describe("a run that no instance knows of", () => {
  const HOUR = 60 * 60_000;
  const why = (
    found: { isPlaced: boolean; hasApplication: boolean },
    phase: "Pending" | "Running" | "Failed" = "Pending",
    after = HOUR + 1,
  ) => whyGiveUp(aSyncRun({ phase }), found, millis(NOW + after));

  test("waits an hour for its deployment, and for room, and then says what was missing", () => {
    expect(why({ isPlaced: false, hasApplication: false }, "Pending", HOUR)).toBeUndefined();
    expect(why({ isPlaced: false, hasApplication: false })).toContain("did not exist");
    expect(why({ isPlaced: false, hasApplication: true })).toContain("no room");
  });

  test("counts that hour from when it was recorded, not from when its resource was created while nobody was there to see it", () => {
    const run = { ...aSyncRun({ phase: "Pending" }), createdAt: millis(NOW - 9 * HOUR) };
    expect(whyGiveUp(run, { isPlaced: false, hasApplication: false }, millis(NOW + HOUR))).toBeUndefined();
    expect(whyGiveUp(run, { isPlaced: false, hasApplication: false }, millis(NOW + HOUR + 1))).toContain("did not exist");
  });

  test("has lost its deployment if it had begun", () => {
    expect(why({ isPlaced: false, hasApplication: false }, "Running", 0)).toContain("was deleted");
  });

  test("is left to its instance where there is one, and in peace when it has ended", () => {
    expect(why({ isPlaced: true, hasApplication: true })).toBeUndefined();
    expect(why({ isPlaced: false, hasApplication: false }, "Failed")).toBeUndefined();
  });
});

test("a finished run is due when its user wishes, counted from its end", () => {
  const run = aSyncRun({ phase: "Succeeded", finishedAt: NOW });
  expect(dueAt(run, aRunResource({}, { ttlSecondsAfterFinished: 5 }))).toBe(NOW + 5000);
  expect(dueAt(run, aRunResource())).toBeUndefined();
  expect(dueAt(aSyncRun(), aRunResource({}, { ttlSecondsAfterFinished: 5 }))).toBeUndefined();
  expect(dueAt(run, aRunResource({ spec: {} }))).toBeUndefined();
});

test("the sweep looks at what is not settled, and suspects rows without a resource", () => {
  const row = (uid: string, over: Partial<KnownRunRow> = {}): KnownRunRow => ({
    ...{ uid, namespace: "jane", name: uid, phase: "Succeeded", finishedAt: NOW, isPublished: true },
    ...over,
  });
  const resource = (uid: string, spec = {}) => aRunResource({ uid, name: uid }, spec);
  const rows = [row("settled"), row("unheard", { isPublished: false }), row("waiting", { phase: "Pending" }), row("expiring"), row("lost")];
  const resources = ["settled", "unheard", "waiting", "new"]
    .map((uid) => resource(uid))
    .concat(resource("expiring", { ttlSecondsAfterFinished: 9 }));
  const plan = (isMine: boolean) => planRunSweep({ cluster: "api", rows, resources, isMine: () => isMine });
  expect(plan(true).keys).toEqual(["expiring", "new", "unheard", "waiting"].map((name) => `api|jane|${name}`));
  expect(plan(true).suspects.map(({ uid }) => uid)).toEqual(["lost"]);
  expect(plan(false)).toEqual({ keys: [], suspects: [] });
});

test("the index knows keys of rows, and what was seen, until they are forgotten", () => {
  const index = createRunIndex();
  const applicationId = "application-1" as ApplicationId;
  index.saw("k", "b");
  index.saw("k", "a");
  index.recorded("k", { uid: "a", applicationId, isFinished: false });
  expect([index.uidsOf("k"), index.keyOf("a"), index.keyOf("b"), index.keysOf(applicationId), index.isFinished("a")]).toEqual([
    ...[["a", "b"], "k", undefined, ["k"], false],
  ]);
  index.recorded("k", { uid: "a", applicationId, isFinished: true });
  expect([index.keysOf(applicationId), index.isFinished("a")]).toEqual([[], true]);
  index.forgotten("k", "a");
  index.forgotten("k", "b");
  expect([index.uidsOf("k"), index.keyOf("a"), index.isFinished("a")]).toEqual([[], undefined, false]);
});
