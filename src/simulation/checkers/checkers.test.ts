import { describe, expect, it } from "vitest";
import { argoName } from "../../workspace/argo-name.ts";
import { createHistory, type Happening, type Photograph } from "../history.ts";
import { TRACKING, trackingId } from "../models/engine/application.ts";
import { followHistory } from "./checker.ts";
import { nothingComesBack, nothingWantedIsDeleted } from "./deletions.ts";
import { disagreements } from "./settled.ts";

const DEPLOYMENT = { namespace: "team-1", name: "app-1", uid: "uid-1", path: "folder" };
const APPLICATION = argoName(DEPLOYMENT);
const MINUTE_MS = 60_000;
const CLASSES = { class: "eu/shared/public", ownerClass: "eu/shared/public", askedClass: undefined };

const user = (act: "create" | "delete"): Happening => ({ kind: "user", act, ...DEPLOYMENT });
const made: Happening = {
  ...{ kind: "object", cluster: "api", change: "ADDED", resource: "configmaps", namespace: "team-1", name: "app-1-0", before: undefined },
  ...{ object: { metadata: { annotations: { [TRACKING]: trackingId(APPLICATION, "team-1", "app-1-0") } } }, by: "standard-1" },
  askedAt: 1,
};

describe("I2", () => {
  it.each([
    ["by a call of its maker that came before it was made", "standard-1", 500, 0],
    ["by a call of its maker that came after", "standard-1", 1_500, 1],
    ["by a call of another instance that came before", "standard-2", 500, 1],
  ])("is broken where what is wanted is deleted %s: %s at %i, %i times", (_, by, askedAt, times) => {
    const history = createHistory();
    const violations = followHistory(history, [nothingWantedIsDeleted()]);
    history.add(0, user("create"));
    history.add(0, { kind: "push", path: DEPLOYMENT.path, files: ["app-1-0"], revision: "1" });
    history.add(1_000, { ...made, askedAt: 1_000 });
    history.add(2_000, { ...made, change: "DELETED", by, askedAt });
    expect(violations).toHaveLength(times);
  });

  it.each([
    ["a moment after", 3_000, 0],
    ["long after", 5 * MINUTE_MS, 1],
  ])("is not broken by a sync that prunes what was put back into Git %s (%i ms): %i times", (_, at, times) => {
    const history = createHistory();
    const violations = followHistory(history, [nothingWantedIsDeleted()]);
    const push = (files: readonly string[]): Happening => ({ kind: "push", path: DEPLOYMENT.path, files, revision: "1" });
    history.add(0, user("create"));
    history.add(0, push(["app-1-0"]));
    history.add(500, push([]));
    history.add(1_000, push(["app-1-0"]));
    history.add(2_000, { ...made, askedAt: 2_000 });
    history.add(at, { ...made, change: "DELETED", by: "standard-1", askedAt: at });
    expect(violations).toHaveLength(times);
  });
});

describe("I6", () => {
  it.each([
    [1 * MINUTE_MS, 0],
    [8 * MINUTE_MS, 1],
  ])("is broken by what comes back %i ms after its deletion %i times", (afterMs, times) => {
    const history = createHistory();
    const violations = followHistory(history, [nothingComesBack()]);
    history.add(0, user("create"));
    history.add(1, made);
    history.add(1_000, user("delete"));
    history.add(1_000 + afterMs, made);
    expect(violations).toHaveLength(times);
  });
});

describe("what does not agree in a photograph", () => {
  const good: Photograph = {
    namespaces: ["team-1"],
    deployments: [{ ...DEPLOYMENT, isDeleting: false, isReady: true, wanted: { "app-1-0": "content" } }],
    rows: [{ uid: "uid-1", argoName: APPLICATION, namespace: "team-1", owner: "standard-1" }],
    units: [{ namespace: "team-1", account: "u-1", epoch: 3, ...CLASSES }],
    applications: [{ instance: "standard-1", name: APPLICATION, epoch: 3, path: DEPLOYMENT.path, isDeleting: false }],
    ownerBindings: [{ namespace: "team-1", subjects: ["u-1"], epoch: 3 }],
    moves: [],
    objects: [{ namespace: "team-1", name: "app-1-0", content: "content", tracking: "" }],
  };
  const [deployment, application, ownerBinding, object] = [
    good.deployments[0]!,
    good.applications[0]!,
    good.ownerBindings[0]!,
    good.objects[0]!,
  ];
  const unit = good.units[0]!;

  it("is nothing where everything does", () => {
    expect(disagreements(good)).toEqual([]);
  });

  it.each<readonly [string, Partial<Photograph>]>([
    ["is not said to be ready", { deployments: [{ ...deployment, isReady: false }] }],
    ["still being deleted", { deployments: [{ ...deployment, isDeleting: true }] }],
    ["misses app-1-0", { objects: [{ ...object, content: "older" }] }],
    ["nobody wants object", { objects: [object, { ...object, name: "app-9-0" }] }],
    ["has no row", { rows: [] }],
    ["has no deployment", { deployments: [] }],
    ["there is no Application", { applications: [] }],
    ["nobody wants Application standard-2", { applications: [application, { ...application, instance: "standard-2" }] }],
    ["the owner binding of team-1 names u-1, u-2", { ownerBindings: [{ ...ownerBinding, subjects: ["u-1", "u-2"] }] }],
    ["under epoch 2", { ownerBindings: [{ ...ownerBinding, epoch: 2 }] }],
    ["there is no owner binding", { ownerBindings: [] }],
    ["and lives on an instance of us/shared/public", { units: [{ ...unit, ownerClass: "us/shared/public" }] }],
    ["asks for class us/shared/public, and has eu/shared/public", { units: [{ ...unit, askedClass: "us/shared/public" }] }],
  ])("says that something %s", (text, over) => {
    expect(disagreements({ ...good, ...over }).join("\n")).toContain(text);
  });
});
