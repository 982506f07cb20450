import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { millis } from "../domain/clock.ts";
import type { Deletion } from "../domain/workspace.ts";
import { mayWait } from "./may-wait.ts";
import { parseApplication } from "./parse-application.ts";
import { CASCADE_FINALIZER, planApplication } from "./plan-application.ts";
import { renderApplication } from "./render-application.ts";
import { anApplication, anApplicationPlacement, type Stored, stored, TARGET } from "./testing/builders.ts";

interface Wanted {
  readonly epoch?: number;
  readonly path?: string;
  readonly refresh?: string;
}

const request = ({ epoch = 7, path = "deploy", refresh }: Wanted = {}) =>
  renderApplication(
    anApplicationPlacement({ epoch }),
    anApplication(
      { desiredRevision: 2 },
      { source: { repoUrl: "https://git.example/a", path, targetRevision: "main" }, ...(refresh === undefined ? {} : { refresh }) },
    ),
    TARGET,
  );
const may = (wanted: Wanted, raw: Stored | undefined, deletion: Deletion = "none"): boolean => {
  const observed = raw === undefined ? undefined : parseApplication(raw);
  return mayWait(planApplication(request(wanted), { deletion, now: millis(0), mayWait: false }, observed), observed);
};
const standing = stored(request());
const annotations = standing.metadata["annotations"] as object;
const withMeta = (metadata: object): Stored => ({ ...standing, metadata: { ...standing.metadata, ...metadata } });
const edited: Stored = { ...standing, spec: { ...(standing["spec"] as object), project: "other" } };
const paused = withMeta({ annotations: { ...annotations, "argocd.argoproj.io/skip-reconcile": "true" } });
const cascading = withMeta({ finalizers: [CASCADE_FINALIZER] });
const stripped = withMeta({ annotations: {} });

describe("a step may wait for its turn", () => {
  test.each<[string, Wanted, Stored | undefined]>([
    ["a creation", {}, undefined],
    ["a new spec", { path: "other" }, standing],
    ["a request to read Git again", { refresh: "now" }, standing],
  ])("that is %s", (_, wanted, raw) => expect(may(wanted, raw)).toBe(true));

  test.each<[string, Wanted, Stored]>([
    ["what stands as it should", {}, standing],
    ["a later epoch", { epoch: 8 }, standing],
    ["a new spec under a later epoch", { path: "other", epoch: 8 }, standing],
    ["a cascade that nobody asked for, though the spec is new", { path: "other" }, cascading],
    ["a cascade that nobody asked for", {}, cascading],
    ["a pause, though the spec is new", { path: "other" }, paused],
    ["a spec that somebody else has changed", {}, edited],
    ["a spec that somebody else has changed, though it is new", { path: "other" }, edited],
    ["annotations that somebody has taken off", { path: "other" }, stripped],
  ])("but not %s", (_, wanted, raw) => expect(may(wanted, raw)).toBe(false));

  test("but no deletion, of whatever stands there", () => {
    for (const raw of [undefined, standing, edited, paused, cascading, stripped])
      for (const deletion of ["cascade", "orphan"] as const)
        for (const wanted of [{}, { path: "other" }, { refresh: "now" }, { epoch: 8 }]) expect(may(wanted, raw, deletion)).toBe(false);
  });

  test("but none under a later epoch, with a finalizer or a pause to take off, or over what others wrote", () => {
    const marks = fc.record({
      isNew: fc.boolean(),
      isPoked: fc.boolean(),
      isLater: fc.boolean(),
      isPaused: fc.boolean(),
      isCascading: fc.boolean(),
      isEdited: fc.boolean(),
    });
    fc.assert(
      fc.property(marks, ({ isNew, isPoked, isLater, isPaused, isCascading, isEdited }) => {
        const wanted = { ...(isNew ? { path: "other" } : {}), ...(isPoked ? { refresh: "now" } : {}), epoch: isLater ? 8 : 7 };
        const pause = isPaused ? { "argocd.argoproj.io/skip-reconcile": "true" } : {};
        const metadata = {
          annotations: { ...annotations, ...pause },
          ...(isCascading ? { finalizers: [CASCADE_FINALIZER] } : {}),
        };
        const raw = { ...(isEdited ? edited : standing), metadata: { ...standing.metadata, ...metadata } };
        const isUrgent = isLater || isPaused || isCascading || isEdited;
        expect(may(wanted, raw as Stored)).toBe(!isUrgent && (isNew || isPoked));
      }),
    );
  });
});
