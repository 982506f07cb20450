import { describe, expect, it, test } from "vitest";
import { millis } from "../domain/clock.ts";
import { DefectError, GoneError, InputError, RefusedError, StaleError, UnavailableError } from "../domain/errors.ts";
import { parseApplication } from "../shard/parse-application.ts";
import { CASCADE_FINALIZER } from "../shard/plan-application.ts";
import { reportAfterMs, type TroubleStreak, textOf, troubleOf, troubleOfEnd, waitingFor, waits } from "./trouble.ts";

const said = new Error('Application.argoproj.io "x" is invalid:\n  spec.project: Required value');
const options = { code: "test", cause: said };

describe("why an application is not where it should be", () => {
  it.each([
    [
      new RefusedError("Sending POST", options),
      "Failed",
      'Refused: the instance\'s cluster does not take the Application: Application.argoproj.io "x" is invalid: spec.project: Required value',
    ],
    [
      new InputError("Sending POST", { ...options, path: "spec", remedy: "mend it" }),
      "Failed",
      'Refused: the instance\'s cluster does not take the Application: Application.argoproj.io "x" is invalid: spec.project: Required value',
    ],
    [
      new UnavailableError("Sending POST", { code: "kube.away", context: { cluster: "eu-1" }, cause: new Error("connect ECONNREFUSED") }),
      "In_Progress",
      "Trying again: cluster eu-1, which is needed for it, does not answer: connect ECONNREFUSED",
    ],
    [
      new UnavailableError("reading rows", { code: "store.unavailable" }),
      "In_Progress",
      "Trying again: the database does not answer: reading rows",
    ],
    [
      new UnavailableError("Sending POST", { code: "test" }),
      "In_Progress",
      "Trying again: something that is needed for it does not answer: Sending POST",
    ],
    [new GoneError("Sending POST", { code: "test" }), "In_Progress", "Trying again: the instance's namespace is not there: Sending POST"],
    [
      new StaleError("bringing", { code: "reconciler.contested" }),
      "In_Progress",
      "Trying again: somebody else keeps changing the Application (reconciler.contested)",
    ],
    [new DefectError("reading", { code: "test" }), "In_Progress", "Trying again: Argosy failed at it; the reconciler's log says how"],
    ["no error at all", "In_Progress", "Trying again: Argosy failed at it; the reconciler's log says how"],
  ])("%s", (error, state, message) => {
    expect(troubleOf(error)).toMatchObject({ state, message });
  });

  it("is reported in one line of at most a thousand characters", () => {
    const { message } = troubleOf(new RefusedError("Sending", { code: "test", cause: new Error("x\n".repeat(3000)) }));
    expect(message).toHaveLength(1000);
    expect(message).not.toContain("\n");
  });
});

describe("a deletion that has not ended", () => {
  const observed = (over: { readonly finalizers?: readonly string[]; readonly status?: object }) => {
    const { finalizers = [CASCADE_FINALIZER], status } = over;
    const metadata = { name: "shop", namespace: "argocd-one", uid: "u", resourceVersion: "1", finalizers };
    const parsed = parseApplication({ metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" }, status });
    if (parsed === undefined) throw new Error("unreadable");
    return parsed;
  };
  const at = (deletion: "cascade" | "orphan" | "none") => ({ deletion, environment: undefined });
  const blockage = { since: millis(0), held: [] };
  const held = [{ group: "", kind: "ConfigMap", namespace: "team", name: "settings", finalizers: ["example.com/hold"] }];

  it("is nothing lasting at first", () => {
    const passing = { state: "In_Progress", isLasting: false };
    expect(troubleOfEnd(observed({}), at("cascade"), undefined)).toEqual({
      ...passing,
      message: "Deleting: the instance removes what was deployed",
    });
    for (const deletion of ["orphan", "none"] as const)
      expect(troubleOfEnd(observed({}), at(deletion), undefined)).toEqual({
        ...passing,
        message: "Deleting: the Application goes, and what was deployed stays",
      });
  });

  it("says where to look for what is held on the cluster of an environment, which none of our accounts may read", () => {
    const trouble = troubleOfEnd(observed({}), { deletion: "cascade", environment: "prod" }, blockage);
    expect(trouble.message).toBe(
      "Deletion blocked: what it deployed has not gone from the cluster of environment prod; see what is held there",
    );
  });

  it.each([
    ["what is held", {}, held, "Deletion blocked: ConfigMap settings in namespace team has the finalizer example.com/hold"],
    [
      "the Application's own finalizer",
      { finalizers: [CASCADE_FINALIZER, "post-delete-finalizer.argocd.argoproj.io"] },
      [],
      "Deletion blocked: Application argocd-one/shop has the finalizer post-delete-finalizer.argocd.argoproj.io",
    ],
    [
      "what Argo CD says",
      { status: { conditions: [{ type: "DeletionError", message: "cluster not found" }] } },
      [],
      "Deletion blocked: the instance says: cluster not found",
    ],
    [
      "that nothing is seen",
      {},
      [],
      "Deletion blocked: nothing that it deployed was seen to be held; see whether the instance's controller works",
    ],
  ])("names %s", (_what, over, found, message) => {
    expect(troubleOfEnd(observed(over), at("cascade"), { ...blockage, held: found })).toMatchObject({ message, isLasting: true });
  });
});

describe("telling people", () => {
  const passing = waitingFor("for it");
  const lasting = troubleOf(new RefusedError("x", options));
  const streak = (over: Partial<TroubleStreak>): TroubleStreak => ({ sinceMs: 0, attempts: 1, reported: undefined, desired: "", ...over });
  const reported = (trouble: typeof passing, atMs: number) => ({ text: textOf(trouble), atMs });

  it.each([
    { what: "what lasts, at once", before: streak({}), trouble: lasting, nowMs: 0, afterMs: 0 },
    { what: "not what may pass in a moment", before: streak({}), trouble: passing, nowMs: 4_999, afterMs: 1 },
    { what: "what did not pass", before: streak({}), trouble: passing, nowMs: 5_000, afterMs: 0 },
    { what: "not the same again", before: streak({ reported: reported(lasting, 0) }), trouble: lasting, nowMs: 59_999, afterMs: 1 },
    {
      what: "the same again after a minute",
      before: streak({ reported: reported(lasting, 0) }),
      trouble: lasting,
      nowMs: 60_000,
      afterMs: 0,
    },
    {
      what: "nothing again where nothing was tried",
      before: streak({ attempts: 0, reported: reported(passing, 0) }),
      trouble: passing,
      nowMs: 600_000,
      afterMs: undefined,
    },
    { what: "what is different now", before: streak({ reported: reported(passing, 0) }), trouble: lasting, nowMs: 5_000, afterMs: 0 },
    {
      what: "not what is different every moment",
      before: streak({ reported: reported(passing, 0) }),
      trouble: lasting,
      nowMs: 4_999,
      afterMs: 1,
    },
  ])("$what", ({ before, trouble, nowMs, afterMs }) => {
    expect(reportAfterMs(before, trouble, nowMs)).toBe(afterMs);
  });
});

describe("what work is put off for", () => {
  const name = "n".repeat(3000);
  test.each([
    waits.unlisted(name),
    waits.entry,
    waits.repair,
    waits.unit,
    waits.turn,
    waits.going("the former project"),
    waits.going(waits.environmentEntry(name)),
    waits.environment(name),
    waits.credential({ kind: "repository", url: name, urlKey: name }),
    waits.credential({ kind: "environment", id: "e" as never, name }),
  ])("is said in one form and few words: %s", (words) => {
    expect(words).toMatch(/^for .+, which (is|are|do|cannot)\b/);
    expect(words.length).toBeLessThan(350);
  });
});
