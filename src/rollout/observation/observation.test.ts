import { describe, expect, it } from "vitest";
import { millis, rfc3339 } from "../../domain/clock.ts";
import { AT } from "../../store/testing/builders.ts";
import { countApplication, decidedSync, NOTHING_COUNTED, parseKept } from "./count-application.ts";
import { judgePods } from "./judge-pods.ts";

const RESYNC_MS = 180_000;
const ago = (ms: number) => rfc3339(millis(AT - ms));
const at = { now: AT, since: millis(AT - 60_000), resyncMs: RESYNC_MS };
const count = (...all: readonly unknown[]) =>
  all
    .flatMap((raw) => parseKept(raw) ?? [])
    .reduce<typeof NOTHING_COUNTED>((counted, kept) => countApplication(counted, kept, at), NOTHING_COUNTED);
const decided = (raw: unknown, since: typeof at.since | undefined) => {
  const kept = parseKept(raw);
  return kept && decidedSync(kept, since);
};

type Json = Readonly<Record<string, unknown>>;
const anApplication = (status: Json = {}, metadata: Json = {}) => ({
  metadata: { name: "web", ...metadata },
  status: {
    reconciledAt: ago(1_000),
    sync: { status: "Synced", revision: "b" },
    history: [{ revision: "a" }, { revision: "b" }],
    ...status,
  },
});
const aSync = (phase: string, over: Json = {}) => ({
  operationState: { phase, startedAt: ago(30_000), finishedAt: ago(20_000), operation: { initiatedBy: { username: "ada" } }, ...over },
});
const BY_ITSELF = { operation: { initiatedBy: { automated: true }, sync: { resources: [{ kind: "ConfigMap", name: "x" }] } } };

describe("what is counted of an application", () => {
  it.each([
    ["a healthy one", anApplication(), { applications: 1, fresh: 1 }],
    ["one whose comparison is overdue", anApplication({ reconciledAt: ago(RESYNC_MS + 1_000) }), { applications: 1, fresh: 0 }],
    ["one that is Unknown", anApplication({ sync: { status: "Unknown" } }), { applications: 1, fresh: 1, faulty: 1 }],
    ["one with a ComparisonError", anApplication({ conditions: [{ type: "ComparisonError" }] }), { applications: 1, fresh: 1, faulty: 1 }],
    [
      "one that differs from what it deployed",
      anApplication({ sync: { status: "OutOfSync", revision: "b" } }),
      { applications: 1, fresh: 1, strayed: 1 },
    ],
    [
      "one that has something new to deploy",
      anApplication({ sync: { status: "OutOfSync", revision: "c" } }),
      { applications: 1, fresh: 1 },
    ],
    ["a repair by Argo CD", anApplication(aSync("Succeeded", BY_ITSELF)), { applications: 1, fresh: 1, resynced: 1 }],
    [
      "a repair that deleted something",
      anApplication(aSync("Succeeded", { ...BY_ITSELF, syncResult: { resources: [{ status: "Synced" }, { status: "Pruned" }] } })),
      { applications: 1, fresh: 1, resynced: 1, pruned: 1 },
    ],
  ])("is right for %s", (_what, raw, counted) => {
    expect(count(raw)).toEqual({ ...NOTHING_COUNTED, newestReconciledAt: expect.any(Number), ...counted });
  });

  it.each([
    ["nothing", undefined],
    ["a list", [1]],
    ["one that was never compared", anApplication({ reconciledAt: undefined })],
    ["one whose time is malformed", anApplication({ reconciledAt: "soon" })],
    ["one that is paused", anApplication({}, { annotations: { "argocd.argoproj.io/skip-reconcile": "true" } })],
    ["one that has arrived with a move", anApplication({}, { annotations: { "argosy.dev/arriving": "x" } })],
    ["one that is being deleted", anApplication({}, { deletionTimestamp: ago(0) })],
  ])("is nothing for %s", (_what, raw) => {
    expect(count(raw)).toEqual(NOTHING_COUNTED);
  });

  it("adds up, and keeps the newest comparison", () => {
    const seen = count(
      anApplication({ reconciledAt: ago(5_000) }),
      anApplication({ reconciledAt: ago(2_000) }),
      anApplication({ reconciledAt: ago(9_000) }),
    );
    expect(seen).toMatchObject({ applications: 3, fresh: 3, newestReconciledAt: AT - 2_000 });
  });
});

describe("the last sync of an application", () => {
  it.each<readonly [string, unknown, boolean | undefined]>([
    ["that succeeded", anApplication(aSync("Succeeded")), false],
    ["that failed", anApplication(aSync("Failed")), true],
    ["that ended with an error", anApplication(aSync("Error")), true],
    ["that is retried for ever", anApplication(aSync("Running", { retryCount: 1 })), true],
    ["that succeeded when it was retried", anApplication(aSync("Succeeded", { retryCount: 2 })), true],
    ["that is under way", anApplication(aSync("Running", { finishedAt: undefined })), undefined],
    ["that began before the release", anApplication(aSync("Failed", { startedAt: ago(61_000) })), undefined],
    ["that is its first", anApplication({ ...aSync("Failed"), history: [] }), undefined],
    ["of one that is paused", anApplication(aSync("Failed"), { annotations: { "argocd.argoproj.io/skip-reconcile": "true" } }), undefined],
    ["that was never made", anApplication(), undefined],
    ["of no application", undefined, undefined],
  ])("%s", (_what, raw, isFailed) => {
    expect(decided(raw, at.since)).toEqual(isFailed === undefined ? undefined : { application: "web", startedAt: AT - 30_000, isFailed });
    expect(decided(raw, undefined)).toBeUndefined();
  });
});

const RELEASES = ["3.5.6", "3.5.7"].map((version) => ({ version, image: `argocd:v${version}`, redisImage: "redis:8" }));
const aPod = (
  component: string,
  image: string,
  over: { readonly status?: Json; readonly isReady?: boolean; readonly metadata?: Json } = {},
) => ({
  metadata: { name: `${component}-0`, labels: { "app.kubernetes.io/component": component }, ...over.metadata },
  spec: { containers: [{ image }] },
  status: {
    conditions: [{ type: "Ready", status: over.isReady === false ? "False" : "True" }],
    containerStatuses: [over.status ?? { restartCount: 0 }],
  },
});
const podsOf = (version: string, controller: ReturnType<typeof aPod> = aPod("application-controller", `argocd:v${version}`)) => [
  controller,
  aPod("repo-server", `argocd:v${version}`),
  aPod("redis", "redis:8"),
];
const judge = (pods: readonly unknown[]) => judgePods(pods, { releases: RELEASES, version: "3.5.7" });

describe("what an instance's pods show", () => {
  it("is which release all of them run", () => {
    expect(judge(podsOf("3.5.7"))).toEqual({ runs: "3.5.7", crashes: [], outOfMemory: [] });
    expect(judge(podsOf("3.5.6")).runs).toBe("3.5.6");
    expect(judge(podsOf("3.5.7", aPod("application-controller", "argocd:v3.5.6"))).runs).toBeUndefined();
    expect(judge(podsOf("3.5.7", aPod("application-controller", "argocd:v3.5.7", { isReady: false }))).runs).toBeUndefined();
    expect(judge(podsOf("3.5.7").slice(1)).runs).toBeUndefined();
    expect(judge([]).runs).toBeUndefined();
    const leaving = aPod("repo-server", "argocd:v3.5.6", { metadata: { deletionTimestamp: ago(0) } });
    expect(judge([...podsOf("3.5.7"), leaving, null, { metadata: {} }]).runs).toBe("3.5.7");
    const evicted = ["Failed", "Succeeded"].map((phase) => {
      const pod = aPod("repo-server", "argocd:v3.5.6", { isReady: false });
      return { ...pod, status: { ...pod.status, phase } };
    });
    expect(judge([...podsOf("3.5.7"), ...evicted]).runs).toBe("3.5.7");
  });

  it.each([
    ["waits for its restart", { restartCount: 1, state: { waiting: { reason: "CrashLoopBackOff" } } }, 1, 0],
    ["was restarted twice", { restartCount: 2, state: { running: {} } }, 1, 0],
    ["was restarted once", { restartCount: 1, state: { running: {} }, lastState: { terminated: { reason: "Error" } } }, 0, 0],
    ["was killed for using too much memory", { restartCount: 1, lastState: { terminated: { reason: "OOMKilled" } } }, 0, 1],
  ])("is that one %s", (_what, status, crashes, outOfMemory) => {
    const of = (version: string) => judge(podsOf("3.5.7", aPod("application-controller", `argocd:v${version}`, { status })));
    expect(of("3.5.7").crashes).toHaveLength(crashes);
    expect(of("3.5.7").outOfMemory).toHaveLength(outOfMemory);
    // Restarts of the old release do not count.
    expect(of("3.5.6")).toMatchObject({ crashes: [], outOfMemory: [] });
  });

  it("is nothing about restarts of a pod that is older than the upgrade", () => {
    const status = { restartCount: 5, lastState: { terminated: { reason: "OOMKilled" } } };
    const judgeRedis = (createdMsAgo: number) => {
      const redis = aPod("redis", "redis:8", { status, metadata: { creationTimestamp: ago(createdMsAgo) } });
      const pods = [...podsOf("3.5.7").slice(0, 2), redis];
      return judgePods(pods, { releases: RELEASES, version: "3.5.7", askedAt: AT });
    };
    expect(judgeRedis(3_600_000)).toEqual({ runs: "3.5.7", crashes: [], outOfMemory: [] });
    expect(judgeRedis(0)).toMatchObject({ crashes: [expect.stringContaining("5 times")], outOfMemory: [expect.any(String)] });
  });
});
