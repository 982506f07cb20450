import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { ObservedInstance } from "../domain/engine.ts";
import type { InstanceId } from "../domain/ids.ts";
import { INSTANCE_STATES, type Instance } from "../domain/instance.ts";
import { nextState } from "./life-cycle.ts";
import { COMPONENT_NAMES } from "./manifests/names.ts";
import { afterRefusal, heldReason, type InstanceFacts, nextProvisionStep } from "./next-step.ts";
import { anInstance } from "./testing/instances.ts";

const MINUTE = 60_000;
const absent: ObservedInstance = { namespace: "absent" };
const terminating: ObservedInstance = { namespace: "terminating" };
const foreign: ObservedInstance = { namespace: "foreign", owner: "somebody" as InstanceId };
const unowned: ObservedInstance = { namespace: "foreign", owner: undefined };
const away: ObservedInstance = { namespace: "unknown", reason: "engine cluster eu-1 does not answer" };
const ready: ObservedInstance = { namespace: "ours", components: COMPONENT_NAMES.map((name) => ({ name, isReady: true, detail: "" })) };
const starting: ObservedInstance = {
  namespace: "ours",
  components: [
    { name: "argocd-redis", isReady: true, detail: "" },
    { name: "argocd-repo-server", isReady: false, detail: "0 of 1 pods are ready" },
  ],
};

function facts(instance: Partial<Instance>, observed: ObservedInstance, more: Partial<InstanceFacts> = {}): InstanceFacts {
  return { instance: anInstance(instance), observed, wanted: { kind: "renderable", hash: "new" }, units: 0, now: millis(0), ...more };
}

const impossible = { wanted: { kind: "impossible", reason: "version 9.9.9 is not in the catalogue" } } as const;

describe("an instance that is REQUESTED", () => {
  it("begins its creation", () => {
    expect(nextProvisionStep(facts({}, absent))).toMatchObject({ kind: "change", event: "begin" });
  });
  it("is FAILED when it is not known what to create", () => {
    expect(nextProvisionStep(facts({}, absent, impossible))).toMatchObject({
      kind: "change",
      event: "giveUp",
      reason: "version 9.9.9 is not in the catalogue",
    });
  });
});

describe("an instance that is CREATING", () => {
  const state = "CREATING";
  it.each([absent, ready, starting])("is written, whatever a crash has left: %j", (observed) => {
    expect(nextProvisionStep(facts({ state }, observed))).toMatchObject({ kind: "apply", then: { event: "applied" } });
  });
  it("waits before each further attempt, also when an event comes", () => {
    expect(nextProvisionStep(facts({ state, attempt: 2, appliedHash: "new" }, absent, { now: millis(12_000) }))).toMatchObject({
      kind: "wait",
      afterMs: 8_000,
    });
    expect(nextProvisionStep(facts({ state, attempt: 2, appliedHash: "new" }, absent, { now: millis(20_000) }))).toMatchObject({
      kind: "apply",
    });
  });
  it("begins again at once when the declaration that failed has changed, but not before the first attempt", () => {
    expect(nextProvisionStep(facts({ state, attempt: 4, appliedHash: "old" }, absent))).toEqual({
      kind: "change",
      event: "retry",
      attempt: 0,
      reason: "its declaration has changed",
    });
    expect(nextProvisionStep(facts({ state, attempt: 0, appliedHash: "" }, absent))).toMatchObject({ kind: "apply" });
  });
  it("waits until an old namespace of its name is gone, and until its cluster answers", () => {
    expect(nextProvisionStep(facts({ state }, terminating))).toMatchObject({ kind: "wait" });
    expect(nextProvisionStep(facts({ state }, away))).toMatchObject({ kind: "wait", reason: "engine cluster eu-1 does not answer" });
  });
  it("never takes over a namespace of somebody else", () => {
    expect(nextProvisionStep(facts({ state }, foreign))).toMatchObject({
      event: "giveUp",
      reason: expect.stringContaining("belongs to instance somebody"),
    });
    expect(nextProvisionStep(facts({ state }, unowned))).toMatchObject({
      cause: { code: "NAMESPACE_TAKEN" },
      event: "giveUp",
      reason: expect.stringContaining("was not made by Argosy"),
    });
  });
  it.each([
    [away, "engine cluster eu-1 does not answer"],
    [terminating, "namespace argosy-standard-1 is still being deleted"],
    [absent, "attempt 4 of 5 failed: no"],
  ])("is given up with the last reason when its deadline is over: %j", (observed, reason) => {
    expect(nextProvisionStep(facts({ state, reason: "attempt 4 of 5 failed: no" }, observed, { now: millis(10 * MINUTE) }))).toMatchObject({
      event: "giveUp",
      reason: expect.stringContaining(reason),
    });
  });
  it("is given up when its release has left the catalogue", () => {
    expect(nextProvisionStep(facts({ state }, absent, impossible))).toMatchObject({ event: "giveUp" });
  });
  it("is tried five times in all when it is refused", () => {
    expect(afterRefusal(facts({ state, attempt: 0 }, absent), "quota exceeded")).toEqual({
      kind: "change",
      event: "attemptFailed",
      attempt: 1,
      reason: "attempt 1 of 5 failed: quota exceeded",
    });
    expect(afterRefusal(facts({ state, attempt: 4 }, absent), "quota exceeded")).toEqual({
      kind: "change",
      event: "giveUp",
      attempt: 5,
      reason:
        "given up after 5 attempts: quota exceeded. Mend that: it is tried again every 30 minutes, and at once when fleet.yaml changes for it",
    });
  });
});

describe("an instance that is WARMING", () => {
  const state = "WARMING";
  it("is active as soon as all its pods are ready", () => {
    expect(nextProvisionStep(facts({ state, attempt: 3 }, ready))).toEqual({
      kind: "change",
      event: "ready",
      reason: "all its pods are ready",
      attempt: 0,
    });
  });
  it("is kept as declared, and observed again, until they are", () => {
    expect(nextProvisionStep(facts({ state }, starting))).toMatchObject({ kind: "apply", then: undefined, againAfterMs: 5_000 });
    expect(nextProvisionStep(facts({ state }, away))).toMatchObject({ kind: "wait" });
  });
  it("is written again when pods do not become ready, naming them", () => {
    expect(nextProvisionStep(facts({ state }, starting, { now: millis(10 * MINUTE) }))).toMatchObject({
      event: "attemptFailed",
      reason: "attempt 1 of 5 failed: argocd-repo-server: 0 of 1 pods are ready; argocd-application-controller: is not there",
    });
    expect(nextProvisionStep(facts({ state, attempt: 4 }, away, { now: millis(10 * MINUTE) }))).toMatchObject({ event: "giveUp" });
  });
  it("says once what keeps its pods from starting, and ends the attempt early when that lasts", () => {
    const trouble = "image images.example/argocd:v9 cannot be pulled";
    const component = { name: "argocd-repo-server", isReady: false, detail: "0 of 1 pods are ready", trouble };
    const troubled: ObservedInstance = { namespace: "ours", components: [component] };
    const reason = `waiting for its pods: argocd-repo-server: ${trouble}`;
    const cause = { code: "PODS", trouble: `argocd-repo-server: ${trouble}` } as const;
    expect(nextProvisionStep(facts({ state }, troubled))).toEqual({ kind: "say", reason, cause });
    expect(nextProvisionStep(facts({ state, reason }, troubled))).toEqual({ kind: "say", reason, cause });
    expect(nextProvisionStep(facts({ state, cause }, troubled))).toMatchObject({ kind: "apply", againAfterMs: 5_000 });
    expect(nextProvisionStep(facts({ state, cause }, troubled, { now: millis(2 * MINUTE) }))).toMatchObject({
      event: "attemptFailed",
      reason: expect.stringContaining(trouble),
    });
  });
  it("is written again when somebody deleted its namespace", () => {
    expect(nextProvisionStep(facts({ state }, absent))).toMatchObject({ event: "attemptFailed" });
    expect(nextProvisionStep(facts({ state }, terminating))).toMatchObject({ event: "attemptFailed" });
  });
  it("is given up when its namespace belongs to another, or its release is unknown", () => {
    expect(nextProvisionStep(facts({ state }, foreign))).toMatchObject({ event: "giveUp" });
    expect(nextProvisionStep(facts({ state }, ready, impossible))).toMatchObject({ event: "giveUp" });
  });
});

describe.each(["ACTIVE", "CORDONED"] as const)("an instance that is %s", (state) => {
  it.each([absent, starting, ready])("is kept as declared: %j", (observed) => {
    expect(nextProvisionStep(facts({ state }, observed))).toEqual({ kind: "apply", then: undefined, againAfterMs: undefined });
  });
  it("is left as it is when its pool is no longer declared", () => {
    expect(nextProvisionStep(facts({ state }, ready, impossible))).toEqual({ kind: "rest" });
  });
  it.each([away, foreign, terminating])("stays in its state whatever happens to its namespace: %j", (observed) => {
    expect(nextProvisionStep(facts({ state }, observed))).toMatchObject({ kind: "wait" });
  });
  it("has another version once that is written and all its pods are ready", () => {
    const changing = { state, version: "3.5.6", desiredVersion: "3.5.7" };
    expect(nextProvisionStep(facts({ ...changing, appliedHash: "old" }, ready))).toMatchObject({ kind: "apply", againAfterMs: 5_000 });
    expect(nextProvisionStep(facts({ ...changing, appliedHash: "new" }, starting))).toMatchObject({ kind: "apply", againAfterMs: 5_000 });
    expect(nextProvisionStep(facts({ ...changing, appliedHash: "new" }, ready))).toEqual({ kind: "upgraded", version: "3.5.7" });
  });
});

describe("an instance that was given more than its pool declares", () => {
  const raised = {
    amounts: { "controller.cpu": "3", "controller.memory": "6Gi" },
    at: millis(0),
    before: { "controller.cpu": "3" },
    refused: { amount: "repoServer.disk", at: millis(-1) },
  } as const;
  const { before, ...settled } = raised;
  const given = { state: "ACTIVE", appliedHash: "new", raised } as const;
  const at = (now: number) => ({ now: millis(now) });
  const LATE = at(5 * MINUTE);

  it("has it for good once that is written and all its pods are ready", () => {
    expect(nextProvisionStep(facts(given, ready, LATE))).toMatchObject({ kind: "raised", raised: settled, isTakenBack: false });
    expect(nextProvisionStep(facts({ ...given, raised: settled }, ready, LATE))).toMatchObject({ kind: "apply", againAfterMs: undefined });
  });
  it("is written, and observed again soon, until then", () => {
    const soon = { kind: "apply", againAfterMs: 5_000 };
    expect(nextProvisionStep(facts({ ...given, appliedHash: "old" }, ready, at(0)))).toMatchObject(soon);
    expect(nextProvisionStep(facts(given, starting, at(5 * MINUTE - 1)))).toMatchObject(soon);
  });
  it("goes back to what it had where its pods do not get ready in time, and says with what they did not", () => {
    const taken = nextProvisionStep(facts(given, starting, LATE));
    expect(taken).toEqual({
      ...{ kind: "raised", isTakenBack: true },
      raised: { amounts: before, at: 5 * MINUTE, refused: { amount: "controller.memory", at: 5 * MINUTE } },
      reason:
        "its pods did not get ready with controller.memory 6Gi: argocd-repo-server: 0 of 1 pods are ready; argocd-application-controller: is not there",
    });
    expect(nextProvisionStep(facts({ ...given, appliedHash: "old" }, ready, LATE))).toMatchObject({
      isTakenBack: true,
      reason: "its pods did not get ready with controller.memory 6Gi: it could not be written",
    });
  });
  it("is no longer waited for once its pool is not declared any more", () => {
    expect(nextProvisionStep(facts(given, starting, impossible))).toMatchObject({ kind: "raised", raised: settled, isTakenBack: false });
  });
  it("keeps it while nobody can see how its pods are, or it is being upgraded", () => {
    expect(nextProvisionStep(facts(given, away, LATE))).toMatchObject({ kind: "wait" });
    expect(nextProvisionStep(facts(given, absent, LATE))).toMatchObject({ kind: "apply" });
    expect(nextProvisionStep(facts({ ...given, desiredVersion: "3.6.0" }, starting, LATE))).toMatchObject({ kind: "apply" });
  });
});

describe("an instance that is DRAINING", () => {
  const state = "DRAINING";
  it("serves as before while it holds a unit, and is checked again soon", () => {
    expect(nextProvisionStep(facts({ state }, ready, { units: 1 }))).toMatchObject({ kind: "apply", againAfterMs: 5_000 });
    expect(nextProvisionStep(facts({ state }, ready, { ...impossible, units: 1 }))).toMatchObject({ kind: "wait", afterMs: 5_000 });
  });
  it("has its namespace deleted when it holds nothing, and is retired when that is gone", () => {
    expect(nextProvisionStep(facts({ state }, ready))).toEqual({ kind: "deleteNamespace" });
    expect(nextProvisionStep(facts({ state }, terminating))).toMatchObject({ kind: "wait" });
    expect(nextProvisionStep(facts({ state }, away))).toMatchObject({ kind: "wait" });
    expect(nextProvisionStep(facts({ state }, absent))).toMatchObject({ event: "retired" });
  });
  it("says what is left in a namespace that must not be deleted", () => {
    expect(heldReason(anInstance(), 1)).toBe(
      "namespace argosy-standard-1 still holds 1 Application with a finalizer: delete what is left there while its controller runs",
    );
    expect(heldReason(anInstance(), 2)).toContain("2 Applications");
  });
  it("leaves a namespace alone that is not the instance's own", () => {
    expect(nextProvisionStep(facts({ state }, foreign))).toMatchObject({ event: "retired", reason: expect.stringContaining("left alone") });
  });
});

describe("an instance that is FAILED", () => {
  const state = "FAILED";
  it("is tried again at once when its declaration changed", () => {
    expect(nextProvisionStep(facts({ state, appliedHash: "old", attempt: 5 }, absent))).toMatchObject({ event: "retry", attempt: 0 });
  });
  it("is tried again after half an hour, and rests until then", () => {
    expect(nextProvisionStep(facts({ state, appliedHash: "new" }, absent, { now: millis(10 * MINUTE) }))).toMatchObject({
      kind: "wait",
      afterMs: 20 * MINUTE,
    });
    expect(nextProvisionStep(facts({ state, appliedHash: "new" }, absent, { now: millis(30 * MINUTE) }))).toMatchObject({ event: "retry" });
  });
  it("is tried again as soon as the namespace that had its name is gone", () => {
    const taken = { state, cause: { code: "NAMESPACE_TAKEN" }, appliedHash: "new" } as const;
    for (const observed of [unowned, terminating, away]) expect(nextProvisionStep(facts(taken, observed))).toMatchObject({ kind: "wait" });
    expect(nextProvisionStep(facts(taken, absent))).toMatchObject({ event: "retry", reason: "namespace argosy-standard-1 is free now" });
  });
  it("rests while it is not known what it should be", () => {
    expect(nextProvisionStep(facts({ state }, absent, { ...impossible, now: millis(60 * MINUTE) }))).toEqual({ kind: "rest" });
  });
});

describe("every step", () => {
  it("is one that the life cycle has", () => {
    for (const state of INSTANCE_STATES)
      for (const observed of [absent, terminating, foreign, unowned, away, ready, starting])
        for (const now of [0, 9 * MINUTE, 60 * MINUTE])
          for (const units of [0, 1])
            for (const more of [{}, impossible]) {
              const step = nextProvisionStep(facts({ state }, observed, { now: millis(now), units, ...more }));
              const change = step.kind === "change" ? step : step.kind === "apply" ? step.then : undefined;
              if (change !== undefined) expect(nextState(state, change.event), `${state} ${change.event}`).toBeDefined();
            }
  });
  it("for a retired instance is none, unless a late write has created its namespace again", () => {
    expect(nextProvisionStep(facts({ state: "RETIRED" }, absent))).toEqual({ kind: "rest" });
    expect(nextProvisionStep(facts({ state: "RETIRED" }, foreign))).toEqual({ kind: "rest" });
    expect(nextProvisionStep(facts({ state: "RETIRED" }, ready))).toEqual({ kind: "deleteNamespace" });
    expect(nextProvisionStep(facts({ state: "RETIRED" }, ready, { units: 1 }))).toEqual({ kind: "rest" });
  });
});

describe("an instance that is stopped before it is empty", () => {
  const halting = { state: "DRAINING", halt: "wanted", appliedHash: "new" } as const;
  const gone: ObservedInstance = { ...ready, isHalted: true };

  it("counts as stopped once that is written and no pod of its controller exists", () => {
    expect(nextProvisionStep(facts(halting, gone, { units: 1 }))).toEqual({ kind: "halted" });
    expect(nextProvisionStep(facts({ ...halting, appliedHash: "old" }, gone, { units: 1 }))).toMatchObject({ kind: "apply" });
    expect(nextProvisionStep(facts(halting, ready, { units: 1 }))).toMatchObject({ kind: "apply", againAfterMs: 2_000 });
    expect(nextProvisionStep(facts(halting, { ...gone, isHalted: false }, { units: 1 }))).toMatchObject({ kind: "apply" });
    expect(nextProvisionStep(facts(halting, away, { units: 1 }))).toMatchObject({ kind: "wait" });
  });

  it("stays stopped until it is empty and its namespace is deleted", () => {
    expect(nextProvisionStep(facts({ ...halting, halt: "seen" }, gone, { units: 1 }))).toMatchObject({ kind: "apply" });
    expect(nextProvisionStep(facts({ ...halting, halt: "seen" }, gone))).toMatchObject({ kind: "deleteNamespace" });
  });

  it("is not confused with one whose pod is missing by chance", () => {
    expect(nextProvisionStep(facts({ ...halting, halt: "none", failsOver: false }, gone, { units: 1 }))).toMatchObject({ kind: "apply" });
  });
});
