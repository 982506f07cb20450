import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { HealthCause, InstanceVerdict } from "../domain/health.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { nextRemedy, type RemedyFacts, type RemedyStep, type StepTaken } from "./next-remedy.ts";

const NOW = millis(1_700_000_000_000);
const minutesAgo = (minutes: number) => millis(NOW - minutes * 60_000);

const verdict = (over: Partial<InstanceVerdict>): InstanceVerdict => ({
  ...{ instanceId: "i-a" as InstanceId, at: NOW, since: NOW, text: "", evidence: [], component: undefined, baseline: undefined },
  ...{ state: "healthy", cause: "none" },
  ...over,
});
const STUCK = verdict({ state: "stalled", cause: "redis", component: "redis" });
const EVICTED = verdict({ state: "failed", cause: "disk", component: "repo-server" });
const EVICTED_ONCE: InstanceVerdict = { ...EVICTED, state: "degraded" };
const FILLER = { unitId: "u" as UnitId, share: 0.914, namespace: "video" };
const HOT = verdict({ state: "overloaded", cause: "queue" });

const facts = (over: Partial<RemedyFacts>): RemedyFacts => ({
  ...{ now: NOW, apartMs: 300_000, emptyAfter: 2, stateSince: minutesAgo(999), others: 3, verdict: STUCK, taken: [], noisiest: "shop" },
  filler: undefined,
  fleet: { restarts: 0, emptied: 0, instances: 10 },
  ...over,
});
const since = (one: InstanceVerdict, minutes: number): InstanceVerdict => ({ ...one, since: minutesAgo(minutes) });
const taken = (...steps: readonly (readonly [RemedyStep, number, HealthCause?])[]): readonly StepTaken[] =>
  steps.map(([step, minutes, cause = "redis"]) => ({ step, cause, isAdvice: false, at: minutesAgo(minutes) }));
const advised = (minutes: number): readonly StepTaken[] =>
  taken(["QUARANTINE", minutes, "disk"]).map((step) => ({ ...step, isAdvice: true }));
const TWICE = taken(["RESTART", 20], ["RESTART", 10]);

describe("the next remedy", () => {
  it.each<readonly [string, Partial<RemedyFacts>, RemedyStep | undefined]>([
    ["a stuck component is restarted", {}, "RESTART"],
    ["it is left alone while it may be starting", { taken: taken(["RESTART", 4]) }, undefined],
    ["it is restarted again when that did not help", { verdict: since(STUCK, 6), taken: taken(["RESTART", 6]) }, "RESTART"],
    [
      "after six restarts in a day a person is advised",
      { emptyAfter: 0, verdict: since(STUCK, 60), taken: taken(...[10, 20, 30, 40, 50, 60].map((at) => ["RESTART", at] as const)) },
      "RAISE",
    ],
    ["what happens to many at once is not helped by restarts", { fleet: { restarts: 1, emptied: 0, instances: 39 } }, undefined],
    ["an instance that is stuck again after two restarts is drained", { taken: TWICE }, "DRAIN"],
    ["also where it was well for only a minute", { verdict: since(STUCK, 1), taken: taken(["RESTART", 20], ["RESTART", 2]) }, "DRAIN"],
    ["not while it may be starting", { verdict: since(STUCK, 5), taken: taken(["RESTART", 20], ["RESTART", 4]) }, undefined],
    ["restarts of another component do not count", { taken: taken(["RESTART", 20, "repo-server"], ["RESTART", 10]) }, "RESTART"],
    ["nor do restarts of long ago", { taken: taken(["RESTART", 60], ["RESTART", 10]) }, "RESTART"],
    ["no drain where no other instance could take its units", { others: 0, taken: TWICE }, "RESTART"],
    ["nor while another one is drained", { taken: TWICE, fleet: { restarts: 0, emptied: 1, instances: 39 } }, "RESTART"],
    ["nor for restarts before a person ended its drain", { stateSince: minutesAgo(15), taken: TWICE }, "RESTART"],
    ["a large fleet may drain several at once", { taken: TWICE, fleet: { restarts: 0, emptied: 1, instances: 40 } }, "DRAIN"],
    ["nor where only a person may drain", { emptyAfter: 0, taken: TWICE }, "RESTART"],
    ["a large fleet may restart several at once", { fleet: { restarts: 1, emptied: 0, instances: 40 } }, "RESTART"],
    ["without a known component nothing is restarted", { verdict: verdict({ state: "failed", cause: "not-ready" }) }, undefined],
    [
      "a component that restarts again and again is restarted by its cluster already",
      { verdict: verdict({ state: "failed", cause: "restarts", component: "redis" }) },
      undefined,
    ],
    ["advice follows if it goes on", { verdict: since(verdict({ state: "failed", cause: "not-ready" }), 10) }, "RAISE"],
    [
      "the last advice is to drain it",
      { verdict: since(verdict({ state: "failed", cause: "not-ready" }), 20), taken: taken(["RAISE", 10]) },
      "DRAIN",
    ],
    ["an overloaded instance sheds load at once", { verdict: HOT }, "SHED"],
    ["and does so once", { verdict: since(HOT, 5), taken: taken(["SHED", 5]) }, undefined],
    ["then has its resources raised", { verdict: since(HOT, 10), taken: taken(["SHED", 10]) }, "RAISE"],
    ["then its noisiest workspace is to leave", { verdict: since(HOT, 20), taken: taken(["SHED", 20], ["RAISE", 10]) }, "QUARANTINE"],
    ["then is drained", { verdict: since(HOT, 60), taken: taken(["SHED", 60], ["RAISE", 50], ["QUARANTINE", 40]) }, "DRAIN"],
    ["steps of an earlier overload count no more", { verdict: HOT, taken: taken(["SHED", 300]) }, "SHED"],
    [
      "an instance short of memory is to get more",
      { verdict: verdict({ state: "degraded", cause: "memory", component: "redis" }) },
      "RAISE",
    ],
    [
      "and is to be drained if it gets none",
      { verdict: since(verdict({ state: "failed", cause: "memory" }), 60), taken: taken(["RAISE", 60]) },
      "DRAIN",
    ],
    ["unless it gets that anyway", { verdict: verdict({ state: "degraded", cause: "memory" }), isRaised: true }, undefined],
    [
      "which does not keep it from being drained",
      { verdict: since(verdict({ state: "failed", cause: "memory" }), 60), isRaised: true },
      "DRAIN",
    ],
    ["nor who fills it from leaving", { verdict: EVICTED, filler: FILLER, isRaised: true }, "QUARANTINE"],
    ["an instance that was evicted once is to get more disk", { verdict: EVICTED_ONCE, filler: FILLER }, "RAISE"],
    ["who fills its repo-server again and again leaves at once", { verdict: EVICTED, filler: FILLER }, "QUARANTINE"],
    ["also who fills its memory", { verdict: { ...EVICTED, cause: "memory" }, filler: FILLER }, "QUARANTINE"],
    [
      "not where another component is short of memory",
      { verdict: { ...EVICTED, cause: "memory", component: "redis" }, filler: FILLER },
      "RAISE",
    ],
    ["nor where nobody stands out", { verdict: EVICTED }, "RAISE"],
    ["and not twice within an hour", { verdict: EVICTED, filler: FILLER, taken: taken(["QUARANTINE", 59, "disk"]) }, "RAISE"],
    ["but again where it goes on", { verdict: EVICTED, filler: FILLER, taken: taken(["QUARANTINE", 60, "disk"]) }, "QUARANTINE"],
    ["nor where it was advice just now", { verdict: EVICTED, filler: FILLER, taken: advised(9) }, "RAISE"],
    ["but soon after: what spoke against it may have ended", { verdict: EVICTED, filler: FILLER, taken: advised(10) }, "QUARANTINE"],
    ["one for an overload does not count", { verdict: EVICTED, filler: FILLER, taken: taken(["QUARANTINE", 9, "queue"]) }, "QUARANTINE"],
    ["nothing is done about slow Git", { verdict: since(verdict({ state: "degraded", cause: "git" }), 600) }, undefined],
    ["nor about a node that ran short", { verdict: since(verdict({ state: "degraded", cause: "node" }), 600) }, undefined],
    ["nor about a workspace's own trouble", { verdict: since(verdict({ cause: "workspace" }), 600) }, undefined],
    ["nor about an unknown state", { verdict: since(verdict({ state: "unknown", cause: "no-metrics" }), 600) }, undefined],
  ])("%s", (_what, over, step) => expect(nextRemedy(facts(over))?.step).toBe(step));

  it("says what is carried out and what is advice, and names the workspace or component", () => {
    expect(nextRemedy(facts({}))).toMatchObject({ component: "redis", isAdvice: false });
    expect(nextRemedy(facts({ verdict: HOT }))).toMatchObject({ isAdvice: false });
    expect(nextRemedy(facts({ taken: TWICE }))).toMatchObject({ step: "DRAIN", component: "redis", isAdvice: false });
    const advice = nextRemedy(facts({ verdict: since(HOT, 30), taken: taken(["SHED", 20], ["RAISE", 10]) }));
    expect(advice).toMatchObject({ isAdvice: true, text: expect.stringContaining("shop") });
    expect(nextRemedy(facts({ verdict: EVICTED, filler: FILLER }))?.text).toBe(
      "give video an instance of its own: `argosy pin`, because 91 % of the time of all fetches went to its repositories",
    );
    expect(nextRemedy(facts({ verdict: { ...EVICTED, cause: "memory" }, filler: FILLER }))?.text).toBe(
      "give video an instance of its own: `argosy pin`, because 91 % of what was under way when its repo-server ended was of its repositories",
    );
    expect(nextRemedy(facts({ verdict: EVICTED }))?.text).toBe(
      "raise the disk of its repo-server in fleet.yaml (pools[].resources.repoServer.disk)",
    );
  });
});
