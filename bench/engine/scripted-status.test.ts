import { describe, expect, it } from "vitest";
import { millis, parseRfc3339, rfc3339 } from "../../src/domain/clock.ts";
import type { KubeObject } from "../../src/runtime/kube/resource.ts";
import { compareEveryMs, nextEngineStep, REFRESH_ANNOTATION, revisionOf, type SeenApplication, seeApplication } from "./scripted-status.ts";

const NOW = millis(1_767_225_600_000);
const source = { repoURL: "https://git.example/app", path: "d/1", targetRevision: "main" };
const seen = (over: Partial<SeenApplication> = {}): SeenApplication => ({
  ...{ namespace: "argocd-1", name: "app", isDeleting: false, finalizers: [], isRefreshAsked: false },
  ...{ source, destination: { namespace: "team" }, comparedTo: source, reconciledAt: NOW },
  ...over,
});
const patchOf = (application: SeenApplication, now = NOW): object | undefined => {
  const step = nextEngineStep(application, now);
  return step.kind === "patch" ? step.patch : undefined;
};

describe("the scripted engine", () => {
  it("calls a new Application, or one with a changed source, synced and healthy", () => {
    const synced = { status: { sync: { status: "Synced", comparedTo: { source } }, health: { status: "Healthy" } } };
    expect(patchOf(seen({ reconciledAt: undefined, comparedTo: undefined }))).toMatchObject(synced);
    expect(patchOf(seen({ comparedTo: { ...source, path: "d/0" } }))).toMatchObject(synced);
  });

  it("lists as many objects as asked for; applications take turns by their names", () => {
    const counts = Array.from({ length: 60 }, (_, index) => {
      const step = nextEngineStep(seen({ name: `app-${index}`, reconciledAt: undefined, comparedTo: undefined }), NOW, {
        resources: [1, 10, 30],
        history: 5,
        reconciliationSeconds: 120,
      });
      const { status } = (step.kind === "patch" ? step.patch : {}) as {
        readonly status: { readonly resources: readonly object[]; readonly history: readonly object[] };
      };
      expect(status.history).toHaveLength(5);
      return status.resources.length;
    });
    for (const count of [1, 10, 30]) expect(counts.filter((each) => each === count).length).toBeGreaterThan(8);
  });

  it("compares a canary, which has two sources, and answers its refresh", () => {
    const sources = ["first", "second"].map((ref) => ({ repoURL: "https://git.example/canary", targetRevision: "main", ref }));
    const metadata = { namespace: "argocd-1", name: "canary", annotations: { [REFRESH_ANNOTATION]: "normal" } };
    const spec = { sources, destination: {} };
    const before = seeApplication({ apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata, spec } as KubeObject);
    const synced = { reconciledAt: rfc3339(NOW), sync: { comparedTo: { source: sources[0] } } };
    expect(patchOf(before)).toMatchObject({ status: synced });
    const compared = seeApplication({
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata,
      spec,
      status: synced,
    } as KubeObject);
    expect(patchOf(compared)).toEqual({
      metadata: { annotations: { [REFRESH_ANNOTATION]: null } },
      status: { reconciledAt: rfc3339(NOW) },
    });
  });

  it("removes its own finalizer from one that is being deleted, and no other", () => {
    const finalizers = ["resources-finalizer.argocd.argoproj.io", "other", "resources-finalizer.argocd.argoproj.io/background"];
    expect(patchOf(seen({ isDeleting: true, finalizers }))).toEqual({ metadata: { finalizers: ["other"] } });
    expect(nextEngineStep(seen({ isDeleting: true, finalizers: ["other"] }), NOW)).toEqual({ kind: "rest" });
    expect(patchOf(seen({ finalizers }))).toBeUndefined();
  });

  it("answers a request to refresh by removing the annotation", () => {
    const patch = { metadata: { annotations: { [REFRESH_ANNOTATION]: null } }, status: { reconciledAt: rfc3339(NOW) } };
    expect(patchOf(seen({ isRefreshAsked: true }))).toEqual(patch);
  });

  it("compares again once in a period, each application at its own moment", () => {
    const waits = Array.from({ length: 100 }, (_, index) => nextEngineStep(seen({ name: `app-${index}` }), NOW)).map((step) =>
      step.kind === "wait" ? step.ms : 0,
    );
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(compareEveryMs() / 2);
    expect(Math.max(...waits)).toBeLessThanOrEqual(compareEveryMs() * 1.5);
    const tenths = new Set(waits.map((ms) => Math.floor((10 * (ms - compareEveryMs() / 2)) / compareEveryMs())));
    expect(tenths.size).toBe(10);
  });

  it("keeps that rhythm from comparison to comparison", () => {
    let application = seen();
    const observations: number[] = [];
    for (let now = NOW; observations.length < 4; now = millis(now + 1_000)) {
      const patch = patchOf(application, now) as { readonly status: { readonly reconciledAt: string } } | undefined;
      if (patch === undefined) continue;
      observations.push(now);
      application = { ...application, reconciledAt: parseRfc3339(patch.status.reconciledAt) };
    }
    const gaps = observations.slice(1).map((at, index) => at - (observations[index] ?? 0));
    expect(gaps).toEqual([compareEveryMs(), compareEveryMs(), compareEveryMs()]);
  });

  it("parses an Application, and takes an empty status for none", () => {
    const metadata = { name: "app", namespace: "argocd-1", annotations: { [REFRESH_ANNOTATION]: "normal" }, finalizers: ["a"] };
    const object = { metadata, spec: { source, destination: { namespace: "team" } } };
    expect(seeApplication(object)).toEqual(
      seen({ isRefreshAsked: true, finalizers: ["a"], comparedTo: undefined, reconciledAt: undefined }),
    );
  });

  it("numbers revisions so that later ones are greater, also as texts", () => {
    expect([revisionOf(9) < revisionOf(10), revisionOf(99_999).length]).toEqual([true, 40]);
  });
});
