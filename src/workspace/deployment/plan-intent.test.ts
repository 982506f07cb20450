import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aNamespace, aPolicy, aResource, aSpec } from "../testing/builders.ts";
import { type IntentFacts, planIntent } from "./plan-intent.ts";

const resource = aResource();
function plan(over: Partial<IntentFacts> = {}) {
  const present = "resource" in over ? over.resource : resource;
  return planIntent({
    resource: present,
    namespace: aNamespace(),
    knownUids: present === undefined ? [] : [present.uid],
    siblings: present === undefined ? [] : [present],
    isAdmitted: () => false,
    policy: aPolicy(),
    ...over,
  });
}
const nothing = { deletions: [], record: undefined, release: "never", tell: "nothing" };

describe("what is done about a name", () => {
  it("records a valid resource and lets its instance answer first", () => {
    expect(plan()).toMatchObject({
      deletions: [],
      release: "never",
      tell: "soon",
      record: {
        workspace: { namespace: "jane", namespaceUid: "namespace-uid-1", trustClass: "public" },
        class: "eu/shared/public",
        name: "guestbook",
        uid: "uid-1",
        generation: 1,
        argoName: expect.stringMatching(/^jane-guestbook-/),
        spec: { type: "automated" },
      },
    });
  });

  it("tells the user at once of one that is wrong, and records nothing", () => {
    expect(plan({ resource: aResource({ spec: aSpec({ type: "x" }) }) })).toEqual({ ...nothing, tell: "now" });
  });

  it("records nothing while no pool is declared", () => {
    expect(plan({ policy: aPolicy({ newUnit: undefined }) })).toEqual({ ...nothing, tell: "now" });
  });

  it("records nothing new for one that is paused, and still lets it be deleted", () => {
    expect(plan({ resource: aResource({ isPaused: true }) })).toEqual({ ...nothing, tell: "now" });
    expect(plan({ resource: aResource({ isPaused: true, isDeleting: true }) }).deletions).toHaveLength(1);
  });

  it("deletes nothing and refuses no change where the quota shrinks: only what is new is kept out", () => {
    const count = fc.integer({ min: 1, max: 12 });
    fc.assert(
      fc.property(count, count, fc.integer({ min: 0, max: 12 }), fc.boolean(), (had, added, deployments, isByClass) => {
        const siblings = Array.from({ length: had + added }, (_, index) =>
          // The newest are those that were let in: neither age nor a smaller number puts one out.
          aResource({ uid: `uid-${index}`, name: `app-${index}`, generation: 2, createdAt: `20${String(60 - index)}-01-01T00:00:00Z` }),
        );
        const shrunk = isByClass
          ? { classQuotas: [{ class: "eu/shared/public", deployments }] }
          : { quota: { ...aPolicy().quota, deployments } };
        const isAdmitted = (uid: string): boolean => Number(uid.slice("uid-".length)) < had;
        const plans = siblings.map((one) => plan({ resource: one, knownUids: [one.uid], siblings, isAdmitted, policy: aPolicy(shrunk) }));
        expect(plans.flatMap(({ deletions }) => deletions)).toEqual([]);
        expect(plans.slice(0, had).every(({ record }) => record?.generation === 2)).toBe(true);
        const taken = plans.slice(had).filter(({ record }) => record !== undefined);
        expect(taken).toHaveLength(Math.min(added, Math.max(0, deployments - had)));
      }),
    );
  });

  it("keeps one beyond the quota out until another has gone, but not one that has its row", () => {
    const older = aResource({ uid: "uid-0", name: "older", createdAt: "2025-01-01T00:00:00Z" });
    const policy = aPolicy({ quota: { ...aPolicy().quota, deployments: 1 } });
    const siblings = [resource, older];
    expect(plan({ policy, siblings }).record).toBeUndefined();
    expect(plan({ policy, siblings, isAdmitted: (uid) => uid === "uid-1" }).record).toBeDefined();
    expect(plan({ policy, siblings, resource: older }).record).toBeDefined();
    expect(plan({ policy, siblings, resource: older, isAdmitted: (uid) => uid === "uid-1" }).record).toBeUndefined();
    expect(plan({ policy, siblings: [resource, { ...older, isDeleting: true }] }).record).toBeDefined();
  });

  it.each([
    ["of the cluster's own", aNamespace({ name: "kube-system" })],
    ["of ours", aNamespace({ name: "argosy-accounts" })],
    ["of an instance", aNamespace({ name: "argocd-eu-7" })],
    ["without the selector's labels", aNamespace({ labels: { tier: "internal" } })],
  ])("leaves a namespace %s alone", (_what, namespace) => {
    const policy = aPolicy(namespace.name === "jane" ? { selector: { tier: "gitops" } } : {});
    expect(plan({ namespace, policy })).toEqual(nothing);
  });

  it("takes a namespace that carries the selector's labels", () => {
    expect(
      plan({ namespace: aNamespace({ labels: { tier: "gitops", more: "x" } }), policy: aPolicy({ selector: { tier: "gitops" } }) }).record,
    ).toBeDefined();
  });

  it("leaves what is deployed where a namespace lost the selector's labels, and still lets its user delete", () => {
    const policy = aPolicy({ selector: { tier: "gitops" } });
    expect(plan({ policy, knownUids: ["uid-1"] })).toEqual(nothing);
    expect(plan({ policy, knownUids: ["uid-1"], resource: aResource({ isDeleting: true, isHeld: true }) })).toMatchObject({
      deletions: [{ uid: "uid-1", deletion: "cascade" }],
      release: "when-row-is-gone",
    });
  });

  it("deletes with what was deployed when a resource is gone", () => {
    expect(plan({ resource: undefined, knownUids: ["uid-1"] })).toEqual({ ...nothing, deletions: [{ uid: "uid-1", deletion: "cascade" }] });
  });

  it("treats one that came back under its name as new and the old one as gone", () => {
    const again = plan({ resource: aResource({ uid: "uid-2" }), knownUids: ["uid-1", "uid-2"] });
    expect(again.deletions).toEqual([{ uid: "uid-1", deletion: "cascade" }]);
    expect(again.record?.uid).toBe("uid-2");
  });

  it("keeps the user's finalizer until the row is gone", () => {
    expect(plan({ resource: aResource({ isDeleting: true, isHeld: true }) })).toEqual({
      deletions: [{ uid: "uid-1", deletion: "cascade" }],
      record: undefined,
      release: "when-row-is-gone",
      tell: "now",
    });
  });

  it("leaves a resource that only others hold to them", () => {
    expect(plan({ resource: aResource({ isDeleting: true, isHeld: false }) }).release).toBe("never");
  });

  it("marks one that is being deleted even if it was never seen before", () => {
    expect(plan({ resource: aResource({ isDeleting: true }), knownUids: [] }).deletions).toEqual([{ uid: "uid-1", deletion: "cascade" }]);
  });

  it("lets everything go at once when the namespace goes: what was deployed goes with it", () => {
    const namespace = aNamespace({ isDeleting: true });
    expect(plan({ namespace, resource: aResource({ isDeleting: true, isHeld: true }) })).toMatchObject({
      deletions: [{ uid: "uid-1", deletion: "with-namespace" }],
      release: "now",
    });
    expect(plan({ namespace })).toEqual(nothing);
    expect(plan({ namespace: undefined, resource: undefined, knownUids: ["uid-1"] }).deletions).toEqual([
      { uid: "uid-1", deletion: "with-namespace" },
    ]);
  });

  it("waits for the watch to report the namespace where there is a resource in it", () => {
    expect(plan({ namespace: undefined })).toEqual(nothing);
    expect(plan({ namespace: undefined, resource: aResource({ isDeleting: true, isHeld: true }), knownUids: ["uid-0", "uid-1"] })).toEqual(
      nothing,
    );
  });
});
