import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { Environment } from "../../domain/environment.ts";
import type { EnvironmentId } from "../../domain/ids.ts";
import type { EngineStatus } from "../../domain/status.ts";
import type { Condition } from "../../domain/user-resource.ts";
import type { ApplicationSpec } from "../../domain/workspace.ts";
import * as say from "../api/messages.ts";
import { ARGO_NAME, anEngineStatus, aPolicy, aRecord, aResource, aSpec } from "../testing/builders.ts";
import { composeStatus, isShown } from "./deployment-status.ts";
import { NOT_YOURS } from "./engine-sentences.ts";
import type { StatusFacts } from "./verdict.ts";

const T0 = millis(Date.parse("2026-01-01T10:00:00Z"));
const LATER = millis(Date.parse("2026-01-01T11:00:00Z"));

function compose(over: Partial<StatusFacts> = {}, now = T0) {
  const resource = over.resource ?? aResource();
  return composeStatus(
    {
      resource,
      siblings: [resource],
      isAdmitted: () => false,
      mayHave: 100,
      record: aRecord(anEngineStatus()),
      policy: aPolicy(),
      ...over,
    },
    now,
  );
}
const withEngine = (over: Partial<EngineStatus>, facts: Partial<StatusFacts> = {}) =>
  compose({ record: aRecord(anEngineStatus(over)), ...facts });
/** Conditions without times, as `Type=Status/Reason`. */
const said = ({ status }: { readonly status: { readonly conditions: readonly Condition[] } }) =>
  status.conditions.map(({ type, status: is, reason }) => `${type}=${is}/${reason}`);
const messageOf = (composed: ReturnType<typeof compose>, type = "Ready") =>
  composed.status.conditions.find((condition) => condition.type === type)?.message;

describe("what a user reads", () => {
  it("is everything the engine says, once it is deployed and healthy", () => {
    const operationState = { phase: "Succeeded", message: "successfully synced (all tasks run)", startedAt: "2026-01-01T09:59:00Z" };
    expect(withEngine({ operationState }).status).toEqual({
      observedGeneration: 1,
      sync: { status: "Synced", revision: "3f2c1d0" },
      health: { status: "Healthy" },
      resources: [{ version: "v1", kind: "ConfigMap", namespace: "jane", name: "settings", status: "Synced" }],
      reconciledState: {
        source: { path: "overlays/dev", repoURL: "https://git.example/jane/guestbook", branch: "main" },
        destination: { name: "", namespace: "jane" },
      },
      operationState,
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "Synced",
          message: "What Git says is deployed and healthy",
          lastTransitionTime: "2026-01-01T10:00:00Z",
          lastProbeTime: "2026-01-01T10:00:00Z",
        },
      ],
    });
  });

  it("always holds Ready and reconciledState, before anything is recorded too", () => {
    expect(compose({ record: undefined }).status).toMatchObject({
      observedGeneration: 1,
      reconciledState: { source: { path: "", repoURL: "", branch: "" }, destination: { name: "", namespace: "" } },
      conditions: [
        { type: "Ready", status: "False", reason: "Reconciling" },
        { type: "Reconciling", status: "True" },
      ],
    });
  });

  const outOfSync = { sync: { status: "OutOfSync", revision: "1" } } as const;
  const manual = {
    record: aRecord(anEngineStatus(outOfSync), {
      application: { ...aRecord(undefined).application, spec: { ...aRecord(undefined).application.spec, type: "manual" } },
    }),
  } as const;
  const condition = (type: string, message = "because") => ({ conditions: [{ type, message }] });
  const homeless = { unit: { owner: undefined }, isUnplaceable: true };

  it.each<readonly [string, Partial<StatusFacts>, readonly string[]]>([
    ["a row without a word from the engine", { record: aRecord(undefined) }, ["Ready=False/Reconciling", "Reconciling=True/Reconciling"]],
    [
      "a unit nobody has room for",
      { record: aRecord(undefined, homeless) },
      ["Ready=False/WaitingForCapacity", "Reconciling=True/WaitingForCapacity"],
    ],
    [
      "a fleet without a pool",
      { record: undefined, policy: aPolicy({ newUnit: undefined }) },
      ["Ready=False/WaitingForCapacity", "Reconciling=True/WaitingForCapacity"],
    ],
    [
      "a unit that is not placed yet",
      { record: aRecord(undefined, { unit: { owner: undefined } }) },
      ["Ready=False/Reconciling", "Reconciling=True/Reconciling"],
    ],
    ["automated and out of sync", { record: aRecord(anEngineStatus(outOfSync)) }, ["Ready=False/OutOfSync", "Reconciling=True/OutOfSync"]],
    ["manual and out of sync", manual, ["Ready=False/OutOfSync"]],
    [
      "not compared",
      { record: aRecord(anEngineStatus({ sync: { status: "Unknown", revision: "" } })) },
      ["Ready=False/Reconciling", "Reconciling=True/Reconciling"],
    ],
    [
      "rolling out",
      { record: aRecord(anEngineStatus({ health: { status: "Progressing", message: "" } })) },
      ["Ready=False/Progressing", "Reconciling=True/Progressing"],
    ],
    [
      "not there yet",
      { record: aRecord(anEngineStatus({ health: { status: "Missing", message: "" } })) },
      ["Ready=False/Missing", "Reconciling=True/Missing"],
    ],
    [
      "of unknown health",
      { record: aRecord(anEngineStatus({ health: { status: "Unknown", message: "" } })) },
      ["Ready=False/Unknown", "Reconciling=True/Unknown"],
    ],
    ["broken", { record: aRecord(anEngineStatus({ health: { status: "Degraded", message: "crash loop" } })) }, ["Ready=False/Degraded"]],
    ["suspended", { record: aRecord(anEngineStatus({ health: { status: "Suspended", message: "" } })) }, ["Ready=False/Suspended"]],
    [
      "not comparable",
      { record: aRecord(anEngineStatus(condition("ComparisonError"))) },
      ["ComparisonError=True/ComparisonError", "Ready=False/ComparisonError", "Stalled=True/ComparisonError"],
    ],
    [
      "not deployable",
      { record: aRecord(anEngineStatus(condition("SyncError"))) },
      ["Ready=False/SyncError", "Stalled=True/SyncError", "SyncError=True/SyncError"],
    ],
    [
      "warned about",
      { record: aRecord(anEngineStatus(condition("OrphanedResourceWarning"))) },
      ["OrphanedResourceWarning=True/OrphanedResourceWarning", "Ready=True/Synced"],
    ],
    ["being deleted", { resource: aResource({ isDeleting: true }) }, ["Ready=False/Deleting", "Reconciling=True/Deleting"]],
    [
      "not deletable",
      { resource: aResource({ isDeleting: true }), record: aRecord(anEngineStatus(condition("DeletionError"))) },
      ["DeletionError=True/DeletionError", "Ready=False/DeletionBlocked", "Stalled=True/DeletionBlocked"],
    ],
    [
      "paused before it was recorded",
      { resource: aResource({ isPaused: true }), record: undefined },
      ["Paused=True/Paused", "Ready=False/Paused"],
    ],
    ["paused with nothing new", { resource: aResource({ isPaused: true }) }, ["Paused=True/Paused", "Ready=True/Synced"]],
    ["paused with something new", { resource: aResource({ isPaused: true, generation: 2 }) }, ["Paused=True/Paused", "Ready=False/Paused"]],
  ])("%s", (_what, facts, expected) => {
    expect(said(compose(facts))).toEqual(expected);
  });

  it("W5: does not stay silent about a deletion that does not end", () => {
    const resource = aResource({ isDeleting: true });
    const record = aRecord(anEngineStatus(), { application: { ...aRecord(undefined).application, deletedAt: T0 } });
    expect(said(compose({ resource, record }, millis(T0 + 5 * 60_000)))).toEqual(["Ready=False/Deleting", "Reconciling=True/Deleting"]);
    expect(said(compose({ resource, record }, millis(T0 + 5 * 60_000 + 1)))).toEqual([
      "Ready=False/DeletionBlocked",
      "Stalled=True/DeletionBlocked",
    ]);
  });

  it("says why something is not deployed yet, in words of what a user knows", () => {
    const trouble = "Waiting: for environment prod, which is not connected";
    const reported = (over: Partial<StatusFacts>) => messageOf(compose(over), "Ready");
    expect(reported({ record: aRecord(undefined, { trouble }) })).toBe(
      "Not deployed yet. It waits for environment prod: see the status of that",
    );
    expect(reported({ resource: aResource({ generation: 2 }), record: aRecord(anEngineStatus(), { trouble }) })).toBe(
      "The latest change is not applied yet. It waits for environment prod: see the status of that",
    );
    expect(reported({ record: aRecord(anEngineStatus(), { trouble }) })).toBe("What Git says is deployed and healthy");
  });

  it("is that it is nobody's fault while parts of Argo CD are away: no error, and no word of theirs", () => {
    const message =
      'Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp: lookup argocd-repo-server on 10.96.0.10:53: no such host"';
    for (const type of ["ComparisonError", "InvalidSpecError", "UnknownError", "SyncError"]) {
      const composed = withEngine(condition(type, message));
      expect(said(composed).filter((each) => !each.startsWith(type))).toEqual(["Ready=False/Reconciling", "Reconciling=True/Reconciling"]);
      for (const each of ["Ready", type]) expect(messageOf(composed, each)).toBe(NOT_YOURS);
    }
    const failed = { phase: "Running", finishedAt: "2026-01-01T00:00:00Z", message: `ComparisonError: ${message}` };
    expect(said(withEngine({ sync: { status: "OutOfSync", revision: "" }, operationState: failed }))).toEqual([
      "Ready=False/Reconciling",
      "Reconciling=True/Reconciling",
    ]);
    const deleting = withEngine(condition("DeletionError", message), { resource: aResource({ isDeleting: true }) });
    expect(said(deleting)).toContain("Ready=False/Deleting");
  });

  it("says on which cluster to look for what holds a deletion where nobody of ours can", () => {
    const observe = (destination: ApplicationSpec["destination"]) => {
      const plain = aRecord(undefined).application;
      const application = { ...plain, deletedAt: T0, spec: { ...plain.spec, destination } };
      const facts = { resource: aResource({ isDeleting: true }), record: aRecord(anEngineStatus(), { application }) };
      return messageOf(compose(facts, millis(T0 + 5 * 60_000 + 1)), "Stalled");
    };
    expect(observe({})).toBe("What was deployed is not gone after five minutes: look for objects that are held by a finalizer");
    expect(observe({ environment: "prod", namespace: "web" })).toBe(
      "What was deployed is not gone after five minutes: look on the cluster of environment prod for objects that are held by a finalizer",
    );
  });

  it("names what holds a deletion as soon as that is known, and neither instance nor Application", () => {
    const held = [
      { group: "", kind: "ConfigMap", namespace: "team", name: "settings", finalizers: ["example.com/hold"] },
      { group: "apps", kind: "Deployment", namespace: "team", name: "web", finalizers: ["a.example/x", "b.example/y"] },
    ];
    const record = aRecord(anEngineStatus(condition("DeletionError")), { blockage: { since: T0, held } });
    expect(messageOf(compose({ resource: aResource({ isDeleting: true }), record }), "Stalled")).toBe(
      "What was deployed is not gone: ConfigMap settings in namespace team has the finalizer example.com/hold; " +
        "Deployment web in namespace team has the finalizers a.example/x, b.example/y",
    );
  });

  it("is an error in the original's words where the resource is wrong, whatever is deployed", () => {
    const resource = aResource({ spec: aSpec({ source: { repoURL: "https://git.example/x", path: "" } }) });
    for (const record of [undefined, aRecord(anEngineStatus())]) {
      const composed = compose({ resource, record });
      expect(said(composed)).toEqual(["ErrorOccurred=True/ErrorOccurred", "Ready=False/InvalidSpec", "Stalled=True/InvalidSpec"]);
      for (const type of ["ErrorOccurred", "Ready", "Stalled"]) expect(messageOf(composed, type)).toBe(say.EMPTY_PATH);
      expect(composed.status.observedGeneration).toBe(1);
    }
  });

  describe("of an environment", () => {
    const destination = { environment: "eu", namespace: "x" };
    const resource = aResource({ spec: aSpec({ destination }) });
    const environment = (state: Environment["state"]) =>
      ({ id: "environment-1" as EnvironmentId, name: "eu", state, apiUrl: "https://203.0.114.7:6443", namespaces: ["x", "y"] }) as const;
    const there = (over: Partial<EngineStatus["comparedTo"]> = {}, state?: Environment["state"]) => {
      const comparedTo = { ...anEngineStatus().comparedTo, namespace: "x", environmentId: "environment-1" as EnvironmentId, ...over };
      const record = aRecord(anEngineStatus({ comparedTo }));
      const application = { ...record.application, spec: { ...record.application.spec, destination } };
      return { ...record, application, environment: state && environment(state) };
    };

    it.each([undefined, "withdrawn", "leaving"] as const)("is an error in the original's words while it is %s", (state) => {
      const before = { ...there({}, state), status: undefined };
      expect(messageOf(compose({ resource, record: before }), "ErrorOccurred")).toBe(say.ENVIRONMENT_UNKNOWN);
      const after = compose({ resource, record: there({}, state) });
      expect(messageOf(after, "ErrorOccurred")).toBe(say.ENVIRONMENT_UNKNOWN_ON_UPDATE);
      expect(said(after)).toContain("Stalled=True/EnvironmentUnavailable");
    });

    it("is its name once the engine has compared with what is there", () => {
      const composed = compose({ resource, record: there({}, "connected") });
      expect(composed.status.reconciledState.destination).toEqual({ name: "eu", namespace: "x" });
      expect(said(composed)).toEqual(["Ready=True/Synced"]);
    });

    it.each([
      ["the own namespace", { environmentId: undefined, namespace: "jane" }],
      ["another environment", { environmentId: "environment-0" as EnvironmentId }],
      ["another namespace of it", { namespace: "y" }],
    ])("is not ready while the engine still speaks of %s", (_what, { environmentId, ...over }: Record<string, unknown>) => {
      const record = there(
        { ...over, ...(environmentId === undefined ? {} : { environmentId: environmentId as EnvironmentId }) },
        "connected",
      );
      const { environmentId: _, ...atOwn } = record.status?.status.comparedTo ?? anEngineStatus().comparedTo;
      const status =
        "namespace" in over && over["namespace"] === "jane" ? { status: anEngineStatus({ comparedTo: atOwn }) } : record.status;
      const composed = compose({ resource, record: { ...record, status } });
      expect(said(composed)).toContain("Ready=False/Reconciling");
      if (environmentId !== undefined) expect(composed.status.reconciledState.destination.name).toBe("");
    });

    it("says nothing of how its cluster is addressed, but the user's own address", () => {
      const message =
        'Get "https://203.0.114.7:6443/api?managedEnvironment=019c-ab": dial tcp 203.0.114.7:6443: refused by argosy-env-0123456789abcdef0123';
      const record = there({}, "connected");
      const status = { status: { ...(record.status?.status ?? anEngineStatus()), conditions: [{ type: "ComparisonError", message }] } };
      expect(messageOf(compose({ resource, record: { ...record, status } }))).toBe(
        'Get "https://203.0.114.7:6443/api": dial tcp 203.0.114.7:6443: refused by …',
      );
    });
  });

  it("is an error for what is beyond the quota, and not for what has its row", () => {
    const siblings = [aResource({ uid: "uid-0", name: "older", createdAt: "2025-01-01T00:00:00Z" }), aResource()];
    expect(said(compose({ siblings, mayHave: 1, record: undefined }))).toEqual([
      "ErrorOccurred=True/ErrorOccurred",
      "Ready=False/QuotaExceeded",
      "Stalled=True/QuotaExceeded",
    ]);
    expect(said(compose({ siblings, mayHave: 1 }))).toEqual(["Ready=True/Synced"]);
  });

  it("W12: does not pass the status of the generation before for the present one's", () => {
    const comparedTo = { ...anEngineStatus().comparedTo, path: "overlays/old" };
    const changed = compose({
      resource: aResource({ generation: 2, observedGeneration: 1 }),
      record: aRecord(anEngineStatus({ comparedTo })),
    });
    expect(said(changed)).toEqual(["Ready=False/Reconciling", "Reconciling=True/Reconciling"]);
    expect(changed.status.observedGeneration).toBe(1);
    // Recorded, but with a row that is still the former generation's.
    const unrecorded = compose({ resource: aResource({ generation: 2, observedGeneration: 1 }) });
    expect(unrecorded.status.observedGeneration).toBe(1);
    const record = aRecord(anEngineStatus(), { application: { ...aRecord(undefined).application, generation: 2 } });
    const answered = compose({ resource: aResource({ generation: 2, observedGeneration: 1 }), record });
    expect(said(answered)).toEqual(["Ready=True/Synced"]);
    expect(answered.status.observedGeneration).toBe(2);
  });

  it("says what the engine refuses without comparing", () => {
    const comparedTo = { repoUrl: "", path: "", targetRevision: "", namespace: "" };
    const composed = withEngine({ comparedTo, sync: { status: "Unknown", revision: "" }, ...condition("InvalidSpecError") });
    expect(said(composed)).toContain("Stalled=True/InvalidSpecError");
    expect(composed.status.observedGeneration).toBe(1);
  });

  it("says that a list was cut and how long it was", () => {
    const composed = withEngine({ resourceCount: 777 });
    expect(composed.status.resourceCount).toBe(777);
    expect(messageOf(composed, "ResourcesTruncated")).toBe("Only 1 of 777 objects are listed");
    expect(compose().status.resourceCount).toBeUndefined();
  });

  it("joins conditions of one type and ignores what pretends to be ours or is no type", () => {
    const conditions = ["b", "a", "b"].map((message) => ({ type: "OrphanedResourceWarning", message }));
    const strange = ["Ready", "ErrorOccurred", "not a type", ""].map((type) => ({ type, message: "x" }));
    const composed = withEngine({ conditions: [...conditions, ...strange] });
    expect(said(composed)).toEqual(["OrphanedResourceWarning=True/OrphanedResourceWarning", "Ready=True/Synced"]);
    expect(messageOf(composed, "OrphanedResourceWarning")).toBe("a; b");
  });
});

describe("what was said before", () => {
  const shown = (conditions: readonly Condition[], over: Partial<Parameters<typeof aResource>[0]> = {}) =>
    aResource({ conditions, observedGeneration: 1, ...over });

  it("keeps its times while it stays so, and gets new ones for what changed", () => {
    const before = withEngine({ health: { status: "Progressing", message: "1 of 3" } }).status.conditions;
    const moved = compose(
      { resource: shown(before), record: aRecord(anEngineStatus({ health: { status: "Progressing", message: "2 of 3" } })) },
      LATER,
    );
    expect(moved.status.conditions.find(({ type }) => type === "Ready")).toMatchObject({
      lastTransitionTime: "2026-01-01T10:00:00Z",
      lastProbeTime: "2026-01-01T11:00:00Z",
    });
    const done = compose({ resource: shown(before) }, LATER);
    expect(done.status.conditions).toMatchObject([{ type: "Ready", lastTransitionTime: "2026-01-01T11:00:00Z" }]);
    const same = compose({ resource: shown(done.status.conditions) }, millis(LATER + 60_000));
    expect(same.status.conditions).toEqual(done.status.conditions);
  });

  it("has a hash that times do not touch and everything else does", () => {
    expect(compose({}, LATER).hash).toBe(compose({}, T0).hash);
    expect(withEngine({ sync: { status: "Synced", revision: "other" } }).hash).not.toBe(compose().hash);
    expect(withEngine({ health: { status: "Degraded", message: "" } }).hash).not.toBe(compose().hash);
  });

  it("is resolved under its own type when the engine takes it back, and stays while the engine is silent", () => {
    const before = withEngine({ conditions: [{ type: "SyncError", message: "because" }] }).status.conditions;
    const after = compose({ resource: shown(before) }, LATER);
    expect(said(after)).toEqual(["Ready=True/Synced", "SyncError=False/SyncErrorResolved"]);
    expect(after.status.conditions[1]).toMatchObject({ message: "", lastTransitionTime: "2026-01-01T11:00:00Z" });
    expect(said(compose({ resource: shown(after.status.conditions) }))).toEqual(said(after));
    expect(said(compose({ resource: shown(before), record: aRecord(undefined) }))).toContain("SyncError=True/SyncError");
  });

  it("W9: is an error until it is repaired; later reports of the engine never resolve it", () => {
    const invalid = aSpec({ type: "sometimes" });
    const before = compose({ resource: aResource({ spec: invalid }) }).status.conditions;
    const still = compose({
      resource: shown(before, { spec: invalid }),
      record: aRecord(anEngineStatus({ sync: { status: "Synced", revision: "new" } })),
    });
    expect(said(still)).toContain("ErrorOccurred=True/ErrorOccurred");
    const repaired = compose({ resource: shown(before) });
    expect(said(repaired)).toEqual(["ErrorOccurred=False/ErrorOccurredResolved", "Ready=True/Synced"]);
    expect(said(compose())).not.toContain("ErrorOccurred=False/ErrorOccurredResolved");
  });

  it("leaves conditions of other writers alone", () => {
    const foreign: Condition = { type: "Audited", status: "True", reason: "ByHand", message: "" };
    expect(said(compose({ resource: shown([foreign]) }))).toEqual(["Ready=True/Synced"]);
  });

  it("is shown or not, as far as conditions and generation tell", () => {
    const composed = compose();
    expect(isShown(shown(composed.status.conditions), composed)).toBe(true);
    expect(isShown(aResource(), composed)).toBe(false);
    expect(isShown(shown(composed.status.conditions, { observedGeneration: 7 }), composed)).toBe(false);
    expect(isShown(shown(composed.status.conditions.map((condition) => ({ ...condition, message: "edited" }))), composed)).toBe(false);
  });
});

describe("what no user reads", () => {
  const leaky = [
    `error in ${ARGO_NAME} on standard-7, namespace argocd-eu-7`,
    "rpc error: code = Unknown desc = dial tcp 10.0.3.4:8081: connect: connection refused",
    'User "system:serviceaccount:argosy-accounts:u-0123456789abcdef0123" cannot create resource',
    "application destination is not permitted in project 'ws-0123456789abcdef0123'",
    "application destination is not permitted by project we-0123456789abcdef0123",
    "ConfigMap/settings is part of applications argocd-eu-7/team-b-secret-app and argocd-eu-7/jane-guestbook",
    "unit 0f8fad5b-d9cb-469f-a165-70867728950e is lost in argosy-system",
    "argocd-eu-7-repo-server.argocd-eu-7.svc: no such host",
    "dial tcp [fd00::7]:443",
  ].map((message) => ({ type: "ComparisonError", message }));

  it("has names of instances, accounts, projects, addresses and other tenants in it, anywhere", () => {
    const text = leaky.map(({ message }) => message).join(" | ");
    const resources = [
      {
        group: "",
        version: "v1",
        kind: "ConfigMap",
        namespace: "jane",
        name: "a",
        status: "Synced",
        health: { status: "Degraded", message: text },
      },
    ];
    const operationState = { phase: "Failed", message: text, syncResult: { resources: [{ name: "a", message: text }] } };
    for (const conditions of [leaky, [{ type: "DeletionError", message: text }]]) {
      const status = JSON.stringify(
        withEngine(
          { conditions, resources, operationState, health: { status: "Degraded", message: text } },
          { resource: aResource({ isDeleting: conditions.length === 1 }) },
        ).status,
      );
      expect(status).not.toMatch(
        /argocd-eu-7|standard-7|team-b|10\.0\.3\.4|fd00|argosy-|system:serviceaccount|ws-0123|we-0123|u-0123|0f8fad5b|rpc error|0123456789abcdef/,
      );
    }
  });

  it("leaves the user's own words as they are", () => {
    const record = aRecord(
      anEngineStatus({ conditions: [{ type: "ComparisonError", message: "failed to list refs of http://127.0.0.1:3000/x: not found" }] }),
    );
    const own = {
      ...record,
      application: {
        ...record.application,
        spec: { ...record.application.spec, source: { ...record.application.spec.source, repoUrl: "http://127.0.0.1:3000/x" } },
      },
    };
    expect(messageOf(compose({ record: own }), "ComparisonError")).toBe("failed to list refs of http://127.0.0.1:3000/x: not found");
    expect(
      messageOf(
        withEngine({ conditions: [{ type: "SyncError", message: `sync of ${ARGO_NAME} failed:\n\tone or more objects` }] }),
        "SyncError",
      ),
    ).toBe("sync of guestbook failed: one or more objects");
  });

  it("hides what a sync failed of: the hook or object is named, in words its user may read", () => {
    const resources = [
      { kind: "Job", name: "migrate", namespace: "jane", hookType: "PreSync", hookPhase: "Failed", message: `exit 1 at ${ARGO_NAME}` },
      { kind: "ConfigMap", name: "web", status: "SyncFailed", message: "PUT https://jane:s3cr3t@10.1.2.3/x refused\n" },
      { kind: "ConfigMap", name: "fine", status: "Synced" },
    ];
    const culprits = "PreSync hook Job migrate in namespace jane: exit 1 at guestbook; ConfigMap web: PUT https://…/x refused";
    const conditions = [{ type: "SyncError", message: "Failed sync attempt" }];
    const failed = (phase: string) => ({ phase, finishedAt: "2026-01-01T00:00:00Z", message: "it failed", syncResult: { resources } });
    const stopped = withEngine({ conditions, operationState: failed("Failed") });
    expect(messageOf(stopped)).toBe(`Failed sync attempt: ${culprits}`);
    expect(messageOf(withEngine({ conditions, operationState: { phase: "Succeeded", syncResult: { resources } } }))).toBe(
      "Failed sync attempt",
    );
    const again = withEngine({ sync: { status: "OutOfSync", revision: "" }, operationState: failed("Running") });
    expect(messageOf(again)).toBe(`Deploying what Git says, which failed and is tried again: it failed: ${culprits}`);
  });

  it("says of a sync that is tried again what it failed of, through the next attempt too, and no longer than that", () => {
    const failed = { phase: "Running", finishedAt: "2026-01-01T00:00:00Z", message: "b is not there. Retrying attempt #4 at 8:28PM." };
    const outOfSync = { sync: { status: "OutOfSync", revision: "" } } as const;
    const first = withEngine({ ...outOfSync, operationState: failed });
    expect(said(first)).toEqual(["Ready=False/SyncFailed", "Reconciling=True/SyncFailed"]);
    const resource = aResource({ conditions: first.status.conditions });
    const next = { phase: "Running", retryCount: 4, message: "waiting for healthy state of /Service/b" };
    const again = withEngine({ ...outOfSync, operationState: next }, { resource });
    expect([said(again), messageOf(again)]).toEqual([said(first), messageOf(first)]);
    // Another sync, of something else: it has not failed.
    const other = withEngine({ ...outOfSync, operationState: { phase: "Running" } }, { resource });
    expect([said(other)[0], messageOf(other)]).toEqual(["Ready=False/OutOfSync", "Deploying what Git says"]);
  });

  it("has credentials in it, or anything that is more than a line of text", () => {
    const message = "fetching https://jane:s3cr3t@git.example/x\r\nAuthorization: Bearer s3cr3ts3cr3t\u001b[2J \u202egnorw \ud800";
    const composed = withEngine({ health: { status: "Degraded", message } });
    const line = "fetching https://git.example/x Authorization: Bearer … [2J  gnorw \ufffd";
    expect([composed.status.health?.message, messageOf(composed)]).toEqual([line, line]);
  });

  it("has a list without end in it, of what is wrong", () => {
    const syncOptions = Array.from({ length: 16 }, (_, index) => index);
    const composed = compose({ resource: aResource({ spec: aSpec({ syncPolicy: { syncOptions } }) }) });
    expect(messageOf(composed, "ErrorOccurred")).toMatch(/^spec\.syncPolicy\.syncOptions\.0: .*syncOptions\.9: [^;]*; and 6 more$/);
  });

  it("ends a message that never ends", () => {
    expect(messageOf(withEngine({ conditions: [{ type: "SyncError", message: "x".repeat(5000) }] }), "SyncError")).toHaveLength(1024);
  });
});
