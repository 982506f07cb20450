import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { ProbedApplication } from "../domain/probed.ts";
import { ACTIVE_CANARIES, type AskedCanaries, nextCanary, PASSIVE_CANARY, renderCanaries } from "./canaries.ts";
import { isSampleDue, namespaceSignals, nextAsked, type SeenNamespace, sampledOf } from "./canary-signals.ts";
import { parsePod, parseProbed } from "./parse-probed.ts";
import { aProbedPod } from "./testing/stage.ts";

const NOW = millis(1_700_000_000_000);
const ago = (seconds: number) => millis(NOW - seconds * 1_000);
const [ONE, TWO] = ACTIVE_CANARIES;

const seen = (name: string, over: Partial<ProbedApplication> = {}): ProbedApplication => ({
  ...{ name, awaitsObservation: false, isPaused: false, reconciledAt: ago(0), hasError: false },
  ...over,
});
const asked = (one: number, two: number, tookS?: readonly [number | undefined, number | undefined]): AskedCanaries =>
  new Map([
    [ONE, { at: ago(one), remindedAt: ago(one), tookS: tookS?.[0] }],
    [TWO, { at: ago(two), remindedAt: ago(two), tookS: tookS?.[1] }],
  ]);
const signalsOf = (over: Partial<SeenNamespace>) =>
  namespaceSignals({ ...{ now: NOW, asked: new Map(), canaries: [], sampled: sampledOf([]), pods: [], errors: 0 }, ...over });

describe("canaries", () => {
  it("are refreshed in turn", () => {
    expect(nextCanary(new Map())).toBe(ONE);
    expect(nextCanary(asked(15, 30))).toBe(TWO);
    expect(nextCanary(asked(30, 15))).toBe(ONE);
    // One that has waited for long is requested again, and delays the other by one turn only.
    expect(nextCanary(new Map([...asked(0, 15), [ONE, { at: ago(90), remindedAt: ago(5), tookS: undefined }]]))).toBe(TWO);
  });

  it("have answered once they were compared after the request; the time it took is measured from above", () => {
    const took = (one: Partial<ProbedApplication>, since = 15) => nextAsked(asked(since, since), [seen(ONE, one)], NOW).get(ONE)?.tookS;
    expect(took({ reconciledAt: ago(15) })).toBe(1);
    expect(took({ reconciledAt: ago(0) }, 0.3)).toBe(0.3);
    expect(took({ reconciledAt: ago(16) })).toBeUndefined();
    expect(took({ awaitsObservation: true })).toBeUndefined();
    expect(took({ reconciledAt: undefined })).toBeUndefined();
  });

  it("count by the quicker of the two: the controller may have missed the other", () => {
    const canaries = [seen(ONE, { awaitsObservation: true, reconciledAt: ago(300) }), seen(TWO)];
    expect(signalsOf({ canaries, asked: asked(90, 15, [undefined, 0.2]) }).canaryS).toBe(0.2);
    expect(signalsOf({ canaries, asked: asked(90, 15) }).canaryS).toBe(15);
    // One that was requested only just now does not count as the quicker one.
    expect(signalsOf({ canaries, asked: asked(0, 15, [undefined, 10.5]) }).canaryS).toBe(10.5);
    expect(signalsOf({ canaries: [seen(ONE, { reconciledAt: undefined })], asked: asked(90, 15) }).canaryS).toBeUndefined();
  });

  /** Its user deploys something that cannot be compared. */
  const WRONG = seen("d", { reconciledAt: ago(9_000), hasError: true });

  it("show by the passive one, and by users' applications, for how long the controller has compared nothing by itself", () => {
    const others = [seen("a", { reconciledAt: ago(200) }), seen("b", { awaitsObservation: true }), seen("c", { isPaused: true }), WRONG];
    const { passiveAgeS, newestAgeS, sampledApplications } = signalsOf({
      sampled: sampledOf(others),
      canaries: [seen(PASSIVE_CANARY, { reconciledAt: ago(240) })],
    });
    expect({ passiveAgeS, newestAgeS, sampledApplications }).toEqual({ passiveAgeS: 240, newestAgeS: 200, sampledApplications: 1 });
    expect(signalsOf({})).toEqual({ sampledApplications: 0 });
  });

  it("leave users' applications unread while the last sample shows a comparison of the last minute", () => {
    const isDueAfter = (seconds: number) => isSampleDue(sampledOf([seen("a", { reconciledAt: ago(seconds) }), WRONG]), NOW);
    expect([isDueAfter(0), isDueAfter(60), isDueAfter(61)]).toEqual([false, false, true]);
    // Nothing is known of those that count.
    expect([isSampleDue(undefined, NOW), isSampleDue(sampledOf([]), NOW), isSampleDue(sampledOf([WRONG]), NOW)]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("belong to a project of their own that lets them compare one source and deploy nowhere", () => {
    const source = { repository: "https://g/canary.git", revision: "HEAD", path: "." };
    const objects = renderCanaries("argosy-one", "https://api", source);
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      "AppProject argosy-canaries",
      ...[ONE, TWO, PASSIVE_CANARY].map((name) => `Application ${name}`),
    ]);
    expect(JSON.stringify(objects)).not.toContain("syncPolicy");
    expect(objects.every(({ metadata }) => metadata.labels?.["argosy.dev/canary"] === "true")).toBe(true);
  });
});

describe("the objects in an instance's namespace", () => {
  it("are read from Applications of any shape", () => {
    const conditions = [{ type: "ComparisonError", message: "no" }];
    const metadata = { name: "x", annotations: { "argocd.argoproj.io/refresh": "normal" } };
    expect(parseProbed({ metadata, status: { reconciledAt: "2026-01-01T00:00:00Z", conditions } })).toEqual({
      ...{ name: "x", awaitsObservation: true, isPaused: false, hasError: true, reconciledAt: Date.parse("2026-01-01T00:00:00Z") },
    });
    expect(parseProbed({ metadata: { name: "x" }, status: { conditions: "none", reconciledAt: 5 } })).toMatchObject({
      reconciledAt: undefined,
    });
    expect([parseProbed(undefined), parseProbed({ metadata: { name: 5 } })]).toEqual([undefined, undefined]);
  });

  it("are read from pods of its components that are not being deleted", () => {
    const labels = { "app.kubernetes.io/name": "argocd-redis" };
    const ready = (status: string) => [{ type: "Ready", status, lastTransitionTime: "2026-01-01T00:00:00Z" }];
    const pod = (over: object, status: object) => parsePod({ metadata: { name: "redis-1", labels, ...over }, status });
    expect(pod({}, { conditions: ready("False"), containerStatuses: [{ restartCount: 2 }, { restartCount: "x" }] })).toEqual({
      ...{ component: "redis", name: "redis-1", restarts: 2, unreadySince: Date.parse("2026-01-01T00:00:00Z") },
      ...{ memoryLimit: undefined, killedAt: undefined, evicted: undefined },
    });
    expect(pod({}, { conditions: ready("True") })).toMatchObject({ restarts: 0, unreadySince: undefined });
    expect(pod({ deletionTimestamp: "now" }, {})).toBeUndefined();
    expect(pod({ labels: {} }, {})).toBeUndefined();
  });

  it("show how often components restarted, and for how long one has not been ready", () => {
    const pods = [
      aProbedPod({ component: "redis", restarts: 2, unreadySince: ago(30) }),
      aProbedPod({ component: "repo-server", name: "a", restarts: 1, unreadySince: ago(70) }),
      aProbedPod({ component: "repo-server", name: "b", restarts: 1 }),
    ];
    expect(signalsOf({ pods })).toEqual({ redisRestarts: 2, repoServerRestarts: 2, unreadyS: 70, sampledApplications: 0 });
    expect(signalsOf({ pods: pods.slice(2) }).unreadyS).toBe(0);
  });
});
