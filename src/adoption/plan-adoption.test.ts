import { describe, expect, it } from "vitest";
import { ANNOTATION_ADOPTS, PAUSE, planAdoption } from "./plan-adoption.ts";
import type { StandingDeployment } from "./schema.ts";
import { adoptionFacts, aHandMade, type HandMadeTree } from "./testing/hand-made.ts";

const WEB = { source: { repoURL: "https://git.example/team/app", path: "apps/web", targetRevision: "main" }, type: "automated" } as const;
const planned = (change: (raw: HandMadeTree) => void = () => undefined) => planAdoption(adoptionFacts([aHandMade("web", change)]))[0];
const standing = (over: { readonly spec?: unknown; readonly adopts?: string } = {}): StandingDeployment => ({
  metadata: {
    ...{ name: "web", namespace: "shop", uid: "uid-of-web", resourceVersion: "1", finalizers: [], labels: {}, ownerReferences: [] },
    annotations: { [ANNOTATION_ADOPTS]: over.adopts ?? "web" },
  },
  spec: over.spec ?? WEB,
});

describe("an Application that is imported", () => {
  it("becomes a GitOpsDeployment of the same content and name, in the namespace it deploys to", () => {
    expect(planned()).toMatchObject({ name: "web", verdict: "import", namespace: "shop", wanted: WEB });
  });

  it.each<[string, (raw: HandMadeTree) => void, object]>([
    [
      "one that is synced by hand, even where it is not Synced",
      (raw) => {
        raw.spec.syncPolicy = {};
        raw.status["sync"] = { status: "OutOfSync" };
      },
      { ...WEB, type: "manual" },
    ],
    ["one without a policy", (raw) => Reflect.deleteProperty(raw.spec, "syncPolicy"), { ...WEB, type: "manual" }],
    [
      "one that was never synced",
      (raw) => {
        raw.spec.syncPolicy = {};
        Reflect.deleteProperty(raw, "status");
      },
      { ...WEB, type: "manual" },
    ],
    [
      "HEAD",
      (raw) => Reflect.deleteProperty(raw.spec.source, "targetRevision"),
      { source: { repoURL: WEB.source.repoURL, path: "apps/web" }, type: "automated" },
    ],
    [
      "CreateNamespace",
      (raw) => {
        raw.spec.syncPolicy["syncOptions"] = ["CreateNamespace=true", "PrunePropagationPolicy=background"];
      },
      { ...WEB, syncPolicy: { syncOptions: ["CreateNamespace=true"] } },
    ],
    [
      "a cluster named in-cluster",
      (raw) => {
        raw.spec.destination = { name: "in-cluster", namespace: "shop" };
      },
      WEB,
    ],
    [
      "fields that are empty",
      (raw) => {
        Object.assign(raw.spec, { ignoreDifferences: [], sources: [], info: [{ name: "owner", value: "anna" }] });
      },
      WEB,
    ],
  ])("takes %s", (_what, change, wanted) => {
    expect(planned(change)).toMatchObject({ verdict: "import", wanted });
  });
});

describe("an Application that is refused", () => {
  it.each<[string, string, (raw: HandMadeTree) => void]>([
    ["UNREADABLE", "its spec.destination cannot be read", (raw) => Reflect.deleteProperty(raw.spec, "destination")],
    ["UNREADABLE", "its spec.source.repoURL cannot be read", (raw) => Object.assign(raw.spec.source, { repoURL: 7 })],
    ["DELETING", "it is being deleted", (raw) => Object.assign(raw.metadata, { deletionTimestamp: "2026-01-01T00:00:00Z" })],
    [
      "OWNED",
      "ApplicationSet all makes it",
      (raw) => Object.assign(raw.metadata, { ownerReferences: [{ kind: "ApplicationSet", name: "all" }] }),
    ],
    ["OWNED", "a fleet of Argosy's has it", (raw) => Object.assign(raw.metadata, { labels: { "app.kubernetes.io/managed-by": "argosy" } })],
    [
      "PAUSED",
      "take argocd.argoproj.io/skip-reconcile off",
      (raw) => Object.assign(raw.metadata, { annotations: { "argocd.argoproj.io/skip-reconcile": "true" } }),
    ],
    [
      "ERROR",
      "condition InvalidSpecError",
      (raw) => {
        raw.spec.syncPolicy = {};
        Object.assign(raw.status, { conditions: [{ type: "SharedResourceWarning" }, { type: "InvalidSpecError" }] });
      },
    ],
    [
      "FORBIDDEN_KIND",
      "RoleBinding admins",
      (raw) =>
        Object.assign(raw.status, {
          resources: [{ group: "rbac.authorization.k8s.io", kind: "RoleBinding", name: "admins", namespace: "shop" }],
        }),
    ],
    [
      "FORBIDDEN_KIND",
      "LimitRange small",
      (raw) => Object.assign(raw.status, { resources: [{ kind: "LimitRange", name: "small", namespace: "shop" }] }),
    ],
    ["BUSY", "a sync is under way", (raw) => Object.assign(raw, { operation: { sync: {} } })],
    ["BUSY", "a sync is under way", (raw) => Object.assign(raw.status, { operationState: { phase: "Running" } })],
    [
      "FINALIZER",
      "resources-finalizer.argocd.argoproj.io",
      (raw) => Object.assign(raw.metadata, { finalizers: ["resources-finalizer.argocd.argoproj.io"] }),
    ],
    ["SEVERAL_SOURCES", "several sources", (raw) => Object.assign(raw.spec, { sources: [{ repoURL: "https://git.example/b" }] })],
    ["SEVERAL_SOURCES", "or none", (raw) => Reflect.deleteProperty(raw.spec, "source")],
    ["FIELD", "spec.source.helm", (raw) => Object.assign(raw.spec.source, { helm: { values: "a: b" } })],
    ["FIELD", "spec.source.chart", (raw) => Object.assign(raw.spec.source, { chart: "web" })],
    ["FIELD", "spec.ignoreDifferences", (raw) => Object.assign(raw.spec, { ignoreDifferences: [{ kind: "Deployment" }] })],
    ["FIELD", "syncOptions ServerSideApply=true", (raw) => Object.assign(raw.spec.syncPolicy, { syncOptions: ["ServerSideApply=true"] })],
    ["FIELD", "needs spec.source.path", (raw) => Object.assign(raw.spec.source, { path: "" })],
    ["PROJECT", "no project lost", (raw) => Object.assign(raw.spec, { project: "lost" })],
    ["PROJECT", "night has syncWindows", (raw) => Object.assign(raw.spec, { project: "night" })],
    ["OTHER_CLUSTER", "https://prod.example", (raw) => Object.assign(raw.spec.destination, { server: "https://prod.example" })],
    ["OTHER_CLUSTER", "cluster prod", (raw) => Object.assign(raw.spec.destination, { name: "prod", server: "" })],
    ["NO_WORKSPACE", "namespace kube-system is no workspace", (raw) => Object.assign(raw.spec.destination, { namespace: "kube-system" })],
    [
      "OUTSIDE_NAMESPACE",
      "ClusterRole reader outside namespaces",
      (raw) => Object.assign(raw.status, { resources: [{ kind: "ClusterRole", name: "reader" }] }),
    ],
    [
      "OUTSIDE_NAMESPACE",
      "Service web in namespace other",
      (raw) => Object.assign(raw.status, { resources: [{ kind: "Service", name: "web", namespace: "other" }] }),
    ],
    ["POLICY", "prunes and heals", (raw) => Object.assign(raw.spec.syncPolicy, { automated: { prune: true } })],
    [
      "POLICY",
      "prunes and heals",
      (raw) => Object.assign(raw.spec.syncPolicy, { automated: { prune: true, selfHeal: true, enabled: false } }),
    ],
    ["NOT_SYNCED", "it is OutOfSync", (raw) => Object.assign(raw.status, { sync: { status: "OutOfSync" } })],
    ["NOT_SYNCED", "it is Unknown", (raw) => Reflect.deleteProperty(raw, "status")],
  ])("%s: %s", (code, text, change) => {
    expect(planned(change)).toMatchObject({ name: "web", verdict: "refuse", refusal: { code, text: expect.stringContaining(text) } });
  });

  it("has a name of Argosy's own", () => {
    expect(planAdoption(adoptionFacts([aHandMade("argosy-canary-1")]))[0]).toMatchObject({
      verdict: "refuse",
      refusal: { code: "NAME_TAKEN" },
    });
  });

  it("has a name that is taken, in the namespace or in the fleet", () => {
    const plan = (over: Parameters<typeof adoptionFacts>[1]) => planAdoption(adoptionFacts([aHandMade()], over))[0];
    const taken = { verdict: "refuse", refusal: { code: "NAME_TAKEN" } };
    expect(plan({ deployments: [standing({ adopts: "" })] })).toMatchObject(taken);
    expect(plan({ deployments: [standing({ spec: { ...WEB, type: "manual" } })] })).toMatchObject(taken);
    const left = standing({ spec: { ...WEB, type: "manual" } });
    const metadata = { ...left.metadata, annotations: { ...left.metadata.annotations, [PAUSE.deployment]: "true" } };
    const texts = [left, { ...left, metadata }].map(
      (one) => plan({ deployments: [one] }) as { readonly refusal: { readonly text: string } },
    );
    expect(texts[0]?.refusal.text).toContain("was not made for it: rename one of the two");
    expect(texts[1]?.refusal.text).toContain("delete that, which takes nothing with it, and run this again");
    expect(plan({ known: [{ argoName: "web", namespace: "blog", name: "x" }] })).toMatchObject(taken);
    expect(plan({ known: [{ argoName: "web", namespace: "shop", name: "web" }], deployments: [standing()] })).toMatchObject({
      verdict: "resume",
    });
  });
});

it("leaves an adopted Application as it is, whatever its user has changed since", () => {
  const known = [{ argoName: "web", namespace: "shop", name: "web" }];
  const deployments = [standing({ spec: { ...WEB, type: "manual" } })];
  const paused = (raw: HandMadeTree) => Object.assign(raw.metadata, { annotations: { "argocd.argoproj.io/skip-reconcile": "true" } });
  const plan = (change: (raw: HandMadeTree) => void) => planAdoption(adoptionFacts([aHandMade("web", change)], { known, deployments }))[0];
  expect(plan(paused)).toEqual({ name: "web", verdict: "stand", namespace: "shop" });
  // Somebody has resumed the old Application.
  expect(plan(() => undefined)).toMatchObject({ verdict: "resume" });
});

it("goes on where an earlier run ended, and sorts by name", () => {
  const facts = adoptionFacts([aHandMade("web"), aHandMade("api")], { deployments: [standing()] });
  expect(planAdoption(facts).map(({ name, verdict }) => [name, verdict])).toEqual([
    ["api", "import"],
    ["web", "resume"],
  ]);
  expect(planAdoption({ ...facts, applications: facts.applications.toReversed() })).toEqual(planAdoption(facts));
});
