import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Millis, millis } from "../domain/clock.ts";
import { isFinished, NOT_BEGUN, type RunProgress, type SyncRun } from "../domain/sync-run.ts";
import { applyJsonPatch } from "../runtime/kube/testing/json-patch.ts";
import { parseApplication } from "./parse-application.ts";
import {
  planSync,
  RUN_LIMIT_MS,
  runsToCarry,
  START_LIMIT_MS,
  STEPS,
  type SyncAction,
  type SyncFacts,
  TRACES,
  traceOf,
} from "./plan-sync.ts";
import { renderApplication } from "./render-application.ts";
import { anApplication, anApplicationPlacement, type Stored, stored, TARGET } from "./testing/builders.ts";

const placement = anApplicationPlacement();
const application = anApplication({}, { type: "manual", createNamespace: true, destination: { environment: "prod", namespace: "web" } });
const NOW = millis(1_767_225_600_000);

function aRun(over: Partial<SyncRun> = {}, progress: Partial<RunProgress> = {}): SyncRun {
  const asked = { revision: "", prune: false, createdAt: NOW, recordedAt: NOW, isCancelled: false, requestedAt: undefined };
  return {
    uid: "run-1",
    namespace: "team-a",
    name: "run",
    applicationId: application.id,
    ...asked,
    progress: { ...NOT_BEGUN, ...progress },
    ...over,
  };
}

const info = (run: string) => [{ name: "argosy.dev/sync-run", value: run }];
const operation = (run = "run-1") => ({ info: info(run), sync: { revision: "main" } });
const state = (phase: string, run = "run-1", more: object = {}) => ({
  phase,
  operation: operation(run),
  startedAt: "2026-01-01T00:00:01Z",
  ...more,
});

interface Shape {
  readonly operation?: object;
  readonly operationState?: object;
}

function anObserved({ operation: asked, operationState }: Shape = {}) {
  const raw = stored(renderApplication(placement, application, TARGET));
  if (asked !== undefined) raw["operation"] = asked;
  if (operationState !== undefined) raw["status"] = { operationState };
  return parseApplication(raw);
}

const facts = (over: Partial<SyncFacts> = {}): SyncFacts => ({
  run: aRun(),
  application,
  unit: placement.unit,
  appliedRevision: application.desiredRevision,
  observed: anObserved(),
  isFresh: true,
  ...over,
});
const stepOf = (action: SyncAction): string =>
  action.kind === "patch" ? action.step : action.kind === "record" ? `record ${action.progress.phase}` : action.kind;

/** One Application for each trace. */
const SHAPES: Readonly<Record<(typeof TRACES)[number], Shape | undefined>> = {
  absent: undefined,
  free: { operationState: state("Succeeded", "another") },
  busy: { operation: operation("another") },
  requested: { operation: operation() },
  working: { operation: operation(), operationState: state("Running") },
  ending: { operation: operation(), operationState: state("Terminating") },
  stuck: { operationState: state("Running") },
  done: { operationState: state("Succeeded", "run-1", { finishedAt: "2026-01-01T00:00:02Z" }) },
};
const shown = (trace: keyof typeof SHAPES) => (SHAPES[trace] === undefined ? undefined : anObserved(SHAPES[trace]));

describe("what an Application shows of a run", () => {
  test.each(TRACES)("is told apart: %s", (trace) => expect(traceOf(aRun(), shown(trace))).toBe(trace));

  test.each([
    ["an operation that nobody marked", { operation: {} }],
    ["a sync of another under way", { operationState: state("Running", "another") }],
    ["a phase this version does not know", { operationState: state("Odd", "another") }],
  ])("is busy with %s", (_what, shape) => expect(traceOf(aRun(), anObserved(shape))).toBe("busy"));
});

describe("what is done about a run", () => {
  const begun = aRun({ requestedAt: millis(NOW - 1000) }, { phase: "Running" });
  const rows = {
    "waits and may begin": { run: aRun() },
    "waits and may not begin yet": { run: aRun(), appliedRevision: 0 },
    "waits and is cancelled": { run: aRun({ isCancelled: true }) },
    "was asked for": { run: begun },
    "was asked for long ago": { run: { ...begun, requestedAt: millis(NOW - RUN_LIMIT_MS - 1) } },
    "was asked for and is cancelled": { run: { ...begun, isCancelled: true } },
    "was asked for a minute ago and is cancelled": { run: { ...begun, requestedAt: millis(NOW - 60_000), isCancelled: true } },
  } satisfies Record<string, Partial<SyncFacts>>;
  const expected: Readonly<Record<keyof typeof rows, readonly string[]>> = {
    //                                absent               free                 busy                 requested         working           ending            stuck                done
    "waits and may begin": [
      "wait",
      "request",
      "wait",
      "record Running",
      "record Running",
      "record Running",
      "record Running",
      "record Succeeded",
    ],
    "waits and may not begin yet": [
      "wait",
      "wait",
      "wait",
      "record Running",
      "record Running",
      "record Running",
      "record Running",
      "record Succeeded",
    ],
    "waits and is cancelled": [
      ...["record Terminated", "record Terminated", "record Terminated", "record Running"],
      ...["terminate", "record Running", "record Terminated", "record Succeeded"],
    ],
    "was asked for": [
      ...["record Failed", "record Failed", "record Failed", "record Running"],
      ...["record Running", "record Running", "record Running", "record Succeeded"],
    ],
    "was asked for long ago": [
      ...["record Failed", "record Failed", "record Failed", "withdraw"],
      ...["terminate", "record Running", "record Failed", "record Succeeded"],
    ],
    "was asked for and is cancelled": [
      ...["record Terminated", "record Terminated", "record Terminated", "wait"],
      ...["terminate", "record Running", "record Terminated", "record Succeeded"],
    ],
    "was asked for a minute ago and is cancelled": [
      ...["record Terminated", "record Terminated", "record Terminated", "withdraw"],
      ...["terminate", "record Running", "record Terminated", "record Succeeded"],
    ],
  };

  test.each(Object.keys(rows) as (keyof typeof rows)[])("that %s", (row) => {
    expect(TRACES.map((trace) => stepOf(planSync(facts({ ...rows[row], observed: shown(trace) }), NOW)))).toEqual(expected[row]);
  });

  test("asks the cluster itself before the end of a run is concluded from an absence", () => {
    for (const run of [begun, aRun({ isCancelled: true })])
      for (const trace of ["absent", "free", "busy"] as const)
        expect(planSync(facts({ run, observed: shown(trace), isFresh: false }), NOW)).toEqual({ kind: "observe" });
  });

  test("never asks for a run that was asked for, whatever is requested", () => {
    for (const row of Object.values(STEPS.Running)) expect(Object.values(row)).not.toContain("request");
    for (const row of Object.values(STEPS.Pending))
      expect(Object.entries(row).filter(([, step]) => step === "request").length).toBeLessThanOrEqual(1);
  });

  test("terminates only where an operation is asked for and its state is this run's", () => {
    for (const table of Object.values(STEPS))
      for (const row of Object.values(table)) for (const trace of TRACES) if (row[trace] === "terminate") expect(trace).toBe("working");
  });

  test.each([
    [
      "the deployment follows Git by itself",
      { application: { ...application, spec: { ...application.spec, type: "automated" as const } } },
    ],
    ["the deployment is being deleted", { application: { ...application, deletedAt: NOW } }],
    ["its latest change is not acknowledged", { appliedRevision: application.desiredRevision - 1 }],
    ["newer rows were written than these", { application: { ...application, desiredRevision: 1 } }],
    ["the unit has another epoch", { unit: { ...placement.unit, epoch: 8 } }],
    ["the unit is not at rest", { unit: { ...placement.unit, phase: "UNPLACED" as const } }],
  ])("it does not begin while %s", (_why, over) => expect(stepOf(planSync(facts(over), NOW))).toBe("wait"));

  test("gives up what could not begin for an hour, and begins what can, however old", () => {
    const old = aRun({ recordedAt: millis(NOW - START_LIMIT_MS - 1) });
    expect(planSync(facts({ run: old, observed: shown("busy") }), NOW)).toMatchObject({
      kind: "record",
      progress: { phase: "Failed", finishedAt: NOW, message: expect.stringContaining("an hour") },
    });
    expect(stepOf(planSync(facts({ run: old }), NOW))).toBe("request");
  });

  test("counts that hour from when the run was recorded: before, nobody could have begun it", () => {
    const late = aRun({ createdAt: millis(NOW - 9 * START_LIMIT_MS), recordedAt: millis(NOW - START_LIMIT_MS) });
    expect(planSync(facts({ run: late, observed: shown("busy") }), NOW)).toEqual({ kind: "wait" });
  });

  test("records nothing that is recorded already", () => {
    const first = planSync(facts({ observed: shown("working") }), NOW);
    if (first.kind !== "record") throw new Error("nothing recorded");
    expect(planSync(facts({ run: aRun(first, first.progress), observed: shown("working") }), NOW)).toEqual({ kind: "wait" });
  });

  test.each([
    ["Failed", "one or more objects failed to apply", {}, "Failed"],
    ["Error", "Operation terminated", {}, "Terminated"],
    ["Failed", "Operation terminated", { requestedAt: millis(NOW - RUN_LIMIT_MS - 1) }, "Failed"],
  ])("a sync that ended as %s with %j (%j) ends the run as %s", (phase, message, over, end) => {
    const observed = anObserved({ operationState: state(phase, "run-1", { message }) });
    expect(stepOf(planSync(facts({ run: aRun(over, { phase: "Running" }), observed }), NOW))).toBe(`record ${end}`);
  });

  test("what it asks for is what the run and the application say, and the old state goes", () => {
    const ask = (run: SyncRun, observed = shown("free")) => {
      const action = planSync(facts({ run, observed }), NOW);
      return action.kind === "patch" ? action.patch : [];
    };
    const patch = ask(aRun({ revision: "v1.2", prune: true }));
    expect(patch.map(({ op, path }) => `${op} ${path}`)).toEqual([
      "test /metadata/uid",
      "test /metadata/resourceVersion",
      "test /metadata/annotations/argosy.dev~1epoch",
      "remove /status/operationState",
      "add /operation",
    ]);
    expect(patch.at(-1)?.value).toEqual({
      initiatedBy: { username: "GitOpsDeploymentSyncRun" },
      info: info("run-1"),
      sync: {
        revision: "v1.2",
        prune: true,
        syncStrategy: { hook: {} },
        syncOptions: ["PrunePropagationPolicy=background", "CreateNamespace=true"],
      },
    });
    expect(ask(aRun(), anObserved()).at(-1)?.value).toMatchObject({ sync: { revision: "main", prune: false } });
  });
});

test("of a queue, what has begun or is cancelled is carried on, and the first of the others while nothing has begun", () => {
  const [first, second, gone] = [aRun({ uid: "run-0" }), aRun(), aRun({ uid: "run-2", isCancelled: true })];
  const uids = (queue: readonly SyncRun[], trace: keyof typeof SHAPES) => runsToCarry(queue, shown(trace)).map(({ uid }) => uid);
  expect(uids([first, second], "free")).toEqual(["run-0"]);
  expect(uids([gone, first, second], "free")).toEqual(["run-2", "run-0"]);
  expect(uids([first, second], "working")).toEqual(["run-1"]);
  expect(uids([first, aRun({ uid: "run-3" }, { phase: "Running" })], "free")).toEqual(["run-3"]);
  expect(uids([], "free")).toEqual([]);
});

/** Rows, an Application and its controller; workers act on what they read some time ago, and may die after each write. */
function createModel(runs: number) {
  let raw: Stored = stored(renderApplication(placement, application, TARGET));
  let version = 100;
  const rows = new Map(
    Array.from({ length: runs }, (_, index) => [`run-${index}`, aRun({ uid: `run-${index}`, createdAt: millis(NOW + index) })]),
  );
  const begun: string[] = [];
  const write = (next: Stored): void => {
    version += 1;
    raw = { ...next, metadata: { ...next.metadata, resourceVersion: String(version) } };
  };
  const read = () => ({ queue: [...rows.values()].filter((run) => !isFinished(run.progress.phase)), observed: parseApplication(raw) });
  const status = () => (raw["status"] ?? {}) as { operationState?: { phase: string } };

  return {
    rows,
    begun,
    read,
    /** Acts once on what was read; `dies`: after a write to the cluster. True: there was something to do. */
    act({ queue, observed }: ReturnType<typeof read>, dies: boolean, now: Millis): boolean {
      for (const run of runsToCarry(queue, observed)) {
        let observation = { observed, isFresh: false };
        for (let step = 0; step < 5; step += 1) {
          const action = planSync(facts({ run, ...observation }), now);
          if (action.kind === "wait") break;
          if (action.kind === "record") {
            const row = rows.get(run.uid);
            if (row !== undefined && !isFinished(row.progress.phase)) rows.set(run.uid, { ...row, ...action });
            return true;
          }
          const next = action.kind === "patch" ? (applyJsonPatch(raw as never, action.patch) as Stored | undefined) : undefined;
          if (next !== undefined) write(next);
          if (next !== undefined && dies) return true;
          observation = { observed: parseApplication(raw), isFresh: true };
        }
      }
      return false;
    },
    /** Argo CD takes up, goes on with or ends what is asked for. */
    engine(): void {
      const asked = raw["operation"] as ReturnType<typeof operation> | undefined;
      if (asked === undefined) return;
      const { phase = "" } = status().operationState ?? {};
      const isUnderWay = phase === "Running" || phase === "Terminating";
      if (!isUnderWay) begun.push(asked.info[0]?.value ?? "");
      const { operation: _done, ...rest } = raw;
      const next = !isUnderWay ? "Running" : phase === "Terminating" ? "Failed" : "Succeeded";
      write({ ...(isUnderWay ? rest : raw), status: { operationState: { phase: next, operation: asked } } } as Stored);
    },
  };
}

test("whoever dies and whoever is late, each run is done once and in its turn, and all of them end", () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant("read" as const), who: fc.nat(1) }),
    fc.record({ kind: fc.constant("act" as const), who: fc.nat(1), dies: fc.boolean() }),
    fc.record({ kind: fc.constant("engine" as const) }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.array(event, { maxLength: 40 }), (runs, events) => {
      const model = createModel(runs);
      const seen = [model.read(), model.read()];
      for (const one of events) {
        if (one.kind === "read") seen[one.who] = model.read();
        if (one.kind === "act") model.act(seen[one.who] ?? model.read(), one.dies, NOW);
        if (one.kind === "engine") model.engine();
      }
      for (let round = 0; round < 12; round += 1) {
        model.act(model.read(), false, NOW);
        model.engine();
      }
      expect(model.begun).toEqual([...model.rows.keys()]);
      expect([...model.rows.values()].map((run) => run.progress.phase)).toEqual(model.begun.map(() => "Succeeded"));
    }),
    { numRuns: 100 },
  );
});
