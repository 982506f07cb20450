import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { millis } from "../domain/clock.ts";
import type { UnitId } from "../domain/ids.ts";
import type { Deletion } from "../domain/workspace.ts";
import { applyJsonPatch } from "../runtime/kube/testing/json-patch.ts";
import type { DesiredObject } from "./managed-object.ts";
import { parseApplication } from "./parse-application.ts";
import type { ApplicationAction, ApplicationRequest } from "./plan-application.ts";
import { CASCADE_FINALIZER, deletionOf, planApplication, planRelease } from "./plan-application.ts";
import { renderApplication } from "./render-application.ts";
import type { Stored } from "./testing/builders.ts";
import { anApplication, anApplicationPlacement, deleted, stored, TARGET } from "./testing/builders.ts";

const request = (revision = 2, epoch = 7, path = "deploy"): DesiredObject =>
  renderApplication(
    anApplicationPlacement({ epoch }),
    anApplication({ desiredRevision: revision }, { source: { repoUrl: "https://git.example/a", path, targetRevision: "main" } }),
    TARGET,
  );
const PAUSE = "argocd.argoproj.io/skip-reconcile";
const OTHER = "post-delete-finalizer.argocd.argoproj.io";

/** An API server with one place for an Application, as far as deletion and versions go. */
function createPlace(initial?: Stored) {
  let raw = initial;
  let version = 100;
  const settle = (next: Stored | undefined): void => {
    version += 1;
    const finalizers = (next?.metadata["finalizers"] as string[] | undefined) ?? [];
    const isEnded = next?.metadata["deletionTimestamp"] !== undefined && finalizers.length === 0;
    raw = next === undefined || isEnded ? undefined : { ...next, metadata: { ...next.metadata, resourceVersion: String(version) } };
  };
  const remove = (): void =>
    raw === undefined ? undefined : settle({ ...raw, metadata: { ...raw.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
  return {
    raw: () => raw,
    observed: () => parseApplication(raw),
    remove,
    /** Argo CD finishes a cascade: the finalizer goes. */
    cascade(): boolean {
      const finalizers = (raw?.metadata["finalizers"] as string[] | undefined) ?? [];
      if (raw?.metadata["deletionTimestamp"] === undefined || !finalizers.includes(CASCADE_FINALIZER)) return false;
      settle({ ...raw, metadata: { ...raw.metadata, finalizers: finalizers.filter((one) => one !== CASCADE_FINALIZER) } });
      return true;
    },
    carryOut(action: ApplicationAction): void {
      if (action.kind === "create")
        settle({
          ...(action.manifest as unknown as Stored),
          metadata: { ...action.manifest.metadata, uid: `uid-${version}`, resourceVersion: "0" },
        });
      if (action.kind === "delete") remove();
      if (action.kind !== "change") return;
      const next = applyJsonPatch(raw as never, action.patch) as Stored | undefined;
      if (next === undefined) throw new Error(`refused: ${JSON.stringify(action.patch)}`);
      settle(next);
    },
  };
}

/** The timeout is over unless said otherwise: {@link restlessnessOf} has tests of its own. */
const requested = (deletion: Deletion, mayWait = false): ApplicationRequest => ({ deletion, now: millis(0), mayWait });

function drive(place: ReturnType<typeof createPlace>, desired: DesiredObject, deletion: Deletion): ApplicationAction {
  for (let step = 0; step < 8; step += 1) {
    const action = planApplication(desired, requested(deletion), place.observed());
    if (["settled", "gone", "await-end", "fenced"].includes(action.kind)) return action;
    place.carryOut(action);
  }
  throw new Error("never settles");
}

const somePlace = fc.record({
  exists: fc.boolean(),
  path: fc.constantFrom("deploy", "other"),
  finalizers: fc.subarray([CASCADE_FINALIZER, OTHER, "resources-finalizer.argocd.argoproj.io"]),
  isPaused: fc.boolean(),
  isArriving: fc.boolean(),
  isDeleting: fc.boolean(),
  hasLabels: fc.boolean(),
  hasAnnotations: fc.boolean(),
});

function annotate(raw: ReturnType<typeof stored>, annotations: Readonly<Record<string, string>>): void {
  raw.metadata["annotations"] = { ...(raw.metadata["annotations"] as object), ...annotations };
}

function placeOf(shape: typeof somePlace extends fc.Arbitrary<infer S> ? S : never): ReturnType<typeof createPlace> {
  if (!shape.exists) return createPlace();
  const raw = stored(request(2, 7, shape.path));
  raw.metadata["finalizers"] = shape.finalizers;
  if (shape.isPaused) annotate(raw, { [PAUSE]: "true" });
  if (shape.isArriving) annotate(raw, { "argosy.dev/arriving": "compared", "argosy.dev/copied-status": "1" });
  if (!shape.hasLabels) delete raw.metadata["labels"];
  if (!shape.hasAnnotations) delete raw.metadata["annotations"];
  const place = createPlace(raw);
  if (shape.isDeleting) place.remove();
  return place;
}

describe("an Application that is wanted", () => {
  test("ends settled from anywhere, or waits for another's finalizer, and never cascades (I2)", () => {
    fc.assert(
      fc.property(somePlace, (shape) => {
        const place = placeOf(shape);
        const end = drive(place, request(), "none");
        expect(["settled", "await-end"]).toContain(end.kind);
        expect(place.cascade()).toBe(false);
        if (end.kind === "await-end") expect(place.raw()?.metadata["finalizers"]).toEqual([OTHER]);
        else expect(place.raw()?.["spec"]).toEqual(request().content["spec"]);
      }),
    );
  });

  test("is settled by what it settled to", () => {
    const place = createPlace();
    drive(place, request(), "none");
    const before = place.raw();
    expect(drive(place, request(), "none").kind).toBe("settled");
    expect(place.raw()).toBe(before);
  });

  test("is refreshed again by Argo CD once for each poke of its user", () => {
    const poked = (refresh: string): DesiredObject =>
      renderApplication(anApplicationPlacement({ epoch: 7 }), anApplication({ desiredRevision: 3 }, { refresh }), TARGET);
    const place = createPlace();
    drive(place, poked("first"), "none");
    const annotations = () => place.raw()?.metadata["annotations"] as Readonly<Record<string, string>> | undefined;
    expect(annotations()?.["argocd.argoproj.io/refresh"]).toBeUndefined();
    drive(place, poked("second"), "none");
    expect(annotations()?.["argocd.argoproj.io/refresh"]).toBe("normal");
    const before = place.raw();
    drive(place, poked("second"), "none");
    expect(place.raw()).toBe(before);
  });

  test("works where a move had put it and ended before it was activated: it refreshes once more, and goes on with no sync that is not its own", () => {
    const raw = stored(request());
    annotate(raw, { [PAUSE]: "true", "argosy.dev/arriving": "compared", "argosy.dev/copied-status": "1" });
    const place = createPlace({ ...raw, operation: { sync: {} }, status: { operationState: { phase: "Running" }, health: {} } });
    expect(drive(place, request(), "none").kind).toBe("settled");
    const [annotations, own] = [place.raw()?.metadata["annotations"], stored(request()).metadata["annotations"] as object];
    expect(annotations).toEqual({ ...own, "argocd.argoproj.io/refresh": "normal" });
    expect(place.raw()?.["operation"]).toBeUndefined();
    expect(place.raw()?.["status"]).toEqual({ health: {} });
  });

  test("keeps finalizers that Argo CD put on for hooks", () => {
    const raw = stored(request());
    raw.metadata["finalizers"] = [OTHER];
    expect(planApplication(request(), requested("none"), parseApplication(raw)).kind).toBe("settled");
  });

  test("is left alone by rows of an older epoch or revision, whatever they want (I7)", () => {
    for (const newer of [request(1, 8), request(4, 7)]) {
      for (const deletion of ["none", "cascade"] as const)
        expect(planApplication(request(2, 7, "other"), requested(deletion), parseApplication(stored(newer))).kind).toBe("fenced");
    }
  });
});

describe("an Application that was deleted by its user", () => {
  test("goes from anywhere, with its workloads if it was not on its way already", () => {
    fc.assert(
      fc.property(somePlace, (shape) => {
        const place = placeOf(shape);
        const wasWanted = place.raw() !== undefined && place.raw()?.metadata["deletionTimestamp"] === undefined;
        const end = drive(place, request(), "cascade");
        if (end.kind === "await-end")
          expect(place.observed()?.annotations, "Argo CD ends nothing that is paused").not.toHaveProperty([PAUSE]);
        if (wasWanted) expect(place.cascade() || shape.finalizers.includes("resources-finalizer.argocd.argoproj.io")).toBe(true);
        else expect(["gone", "await-end"]).toContain(end.kind);
      }),
    );
  });

  test("gets its finalizer before it is deleted, not after", () => {
    const place = createPlace(stored(request()));
    const first = planApplication(request(), requested("cascade"), place.observed());
    expect(first.kind).toBe("change");
    place.carryOut(first);
    expect(place.raw()?.metadata["finalizers"]).toEqual([CASCADE_FINALIZER]);
    expect(planApplication(request(), requested("cascade"), place.observed())).toMatchObject({
      kind: "delete",
      preconditions: { uid: "object-1", resourceVersion: "101" },
    });
  });

  test("is not taken for a wanted one by somebody who read the row before it was marked", () => {
    const place = createPlace(stored(request()));
    place.carryOut(planApplication(request(), requested("cascade"), place.observed()));
    expect(planApplication(request(), requested("none"), place.observed()).kind).toBe("fenced");
    place.remove();
    expect(planApplication(request(), requested("none"), place.observed()).kind).toBe("fenced");
  });

  test("ends as what its present unit has, by that one's project: the one of the unit before may be gone", () => {
    const before = renderApplication(anApplicationPlacement({ id: "unit-before" as UnitId, epoch: 6 }), anApplication(), TARGET);
    const place = createPlace(stored(before, "uid-1"));
    place.carryOut(planApplication(request(), requested("cascade"), place.observed()));
    expect(place.raw()).toMatchObject({
      metadata: { labels: request().labels, finalizers: [CASCADE_FINALIZER] },
      spec: { project: (request().content["spec"] as { readonly project: string }).project },
    });
    expect(planApplication(request(), requested("cascade"), place.observed()).kind).toBe("delete");
  });

  test("leaves its workloads where they are to stay, even if a cascade had begun", () => {
    fc.assert(
      fc.property(somePlace, (shape) => {
        const place = placeOf(shape);
        expect(["gone", "await-end"]).toContain(drive(place, request(), "orphan").kind);
        expect(place.cascade()).toBe(false);
      }),
    );
  });

  test("without any say about its workloads leaves them (I2)", () => {
    const application = anApplication();
    expect(deletionOf(application)).toBe("none");
    expect(deletionOf(deleted(application, "cascade"))).toBe("cascade");
    expect(deletionOf({ ...deleted(application, "cascade"), deletion: "none" })).toBe("orphan");
  });
});

test("an Application of nobody loses its cascade before it is deleted (I2)", () => {
  const raw = stored(request());
  raw.metadata["finalizers"] = [CASCADE_FINALIZER];
  const place = createPlace(raw);
  place.carryOut(planRelease(place.observed()));
  expect(place.raw()?.metadata["finalizers"]).toEqual([]);
  expect(planRelease(place.observed()).kind).toBe("delete");
  expect(planRelease(undefined).kind).toBe("gone");
});
