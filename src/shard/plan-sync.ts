import type { Millis } from "../domain/clock.ts";
import { isFinished, type RunPhase, type RunProgress, type SyncRun } from "../domain/sync-run.ts";
import type { Application, PlacementUnit } from "../domain/workspace.ts";
import { FORGET_SYNC } from "./arrival.ts";
import type { PatchOperation } from "./diff-object.ts";
import { guards, newerFence } from "./diff-object.ts";
import { INFO_RUN } from "./names.ts";
import type { ObservedApplication } from "./parse-application.ts";
import { isUnderWay, type ParsedSync } from "./parse-sync.ts";
import { syncOptions } from "./render-application.ts";

/** What a run's Application shows of it. */
export const TRACES = ["absent", "free", "busy", "requested", "working", "ending", "stuck", "done"] as const;
/**
 * `absent`: there is no Application; `free`: nothing is asked for or under way; `busy`: something else is; `requested`: this run
 * is asked for and not begun; `working`, `ending`: it is under way, or being terminated; `stuck`: it is said to be under way,
 * but nothing is asked for, so that nobody goes on with it; `done`: it has ended.
 */
export type Trace = (typeof TRACES)[number];

/** `go`: it may begin; `hold`: it may not begin yet; `stop`: it must end. */
export type SyncRequest = "go" | "hold" | "stop";

/** `end`: record the run as over without a word of the engine's. */
export type SyncStep = "wait" | "request" | "follow" | "finish" | "terminate" | "withdraw" | "end";

type Row = Readonly<Record<Trace, SyncStep>>;

const underWay = { requested: "follow", working: "follow", ending: "follow", stuck: "follow", done: "finish" } as const;
const stopped = { absent: "end", free: "end", busy: "end", working: "terminate", ending: "follow", stuck: "end", done: "finish" } as const;
/** Asked for once, and no trace of it: asking again could do it twice. */
const lost = { absent: "end", free: "end", busy: "end" } as const;

/**
 * What is done about a run that is recorded as not begun (`Pending`) or asked for (`Running`). A trace of a run that is recorded as
 * not begun was left by somebody who asked and could not record it: it is followed, never asked for again.
 */
export const STEPS: Readonly<Record<Exclude<RunPhase, "Succeeded" | "Failed" | "Terminated">, Readonly<Record<SyncRequest, Row>>>> = {
  Pending: {
    go: { absent: "wait", free: "request", busy: "wait", ...underWay },
    hold: { absent: "wait", free: "wait", busy: "wait", ...underWay },
    stop: { ...stopped, requested: "follow" },
  },
  Running: {
    go: { ...lost, ...underWay },
    hold: { ...lost, ...underWay },
    stop: { ...stopped, requested: "withdraw" },
  },
};

export interface SyncFacts {
  readonly run: SyncRun;
  readonly application: Application;
  readonly unit: Pick<PlacementUnit, "epoch" | "phase">;
  /** Revision of the application that its instance has acknowledged under the present epoch. */
  readonly appliedRevision: number;
  readonly observed: ObservedApplication | undefined;
  /** The cluster itself was asked, not what a watch has shown so far. */
  readonly isFresh: boolean;
}

export type SyncAction =
  | { readonly kind: "wait" }
  /** Ask the cluster itself before an absence is believed. */
  | { readonly kind: "observe" }
  | { readonly kind: "patch"; readonly step: SyncStep; readonly patch: readonly PatchOperation[] }
  | { readonly kind: "record"; readonly progress: RunProgress; readonly requestedAt: Millis | undefined };

/**
 * How long a run may wait until it can begin, in ms, from when it was recorded: nobody could begin it while its resource was paused or nobody
 * was there to see it. What can begin does, however old.
 */
export const START_LIMIT_MS = 60 * 60_000;
/** How long a sync may take, in ms: then it is terminated. Hooks that wait for people or migrations take minutes. */
export const RUN_LIMIT_MS = 2 * 60 * 60_000;
/**
 * How long a request that is to be taken back is left to be taken up, in ms. Argo CD takes one up within milliseconds, and taking it
 * back at that very moment would leave a sync that nobody goes on with; after this it evidently does not work at all.
 */
const WITHDRAW_AFTER_MS = 30_000;

/**
 * The runs of an application's queue that something is to be done about now: those that left a trace or were recorded as
 * begun, those that are cancelled, and, where no other is under way, the first that waits.
 */
export function runsToCarry(queue: readonly SyncRun[], observed: ObservedApplication | undefined): readonly SyncRun[] {
  const isBegun = (run: SyncRun): boolean => run.progress.phase === "Running" || TRACED.has(traceOf(run, observed));
  const begun = queue.filter((run) => isBegun(run) || run.isCancelled);
  if (begun.some((run) => !run.isCancelled)) return begun;
  return [...begun, ...queue.filter((run) => !run.isCancelled).slice(0, 1)];
}

/** Decides the next step of one run of {@link runsToCarry}. */
export function planSync(facts: SyncFacts, now: Millis): SyncAction {
  const { run, observed, isFresh } = facts;
  const trace = traceOf(run, observed);
  const step = stepOf(facts, trace, now);
  switch (step) {
    case "wait":
      return { kind: "wait" };
    case "request":
      return patch(observed, step, requestPatch(facts));
    case "terminate":
      return patch(observed, step, [{ op: "add", path: "/status/operationState/phase", value: "Terminating" }]);
    case "withdraw":
      return patch(observed, step, [{ op: "remove", path: "/operation" }]);
    case "follow":
    case "finish":
      return record(run, followed(run, trace === "requested" ? undefined : observed?.sync.state, now), now);
    case "end":
      return isFresh ? record(run, ended(run, now), now) : { kind: "observe" };
  }
}

const TRACED: ReadonlySet<Trace> = new Set(["requested", "working", "ending", "stuck", "done"]);

export function traceOf({ uid }: Pick<SyncRun, "uid">, observed: ObservedApplication | undefined): Trace {
  if (observed === undefined) return "absent";
  const { operation, state } = observed.sync;
  const isState = state?.run === uid;
  const isSyncing = state !== undefined && isUnderWay(state);
  if (isState && !isSyncing) return operation?.run === uid ? "requested" : "done";
  if (isState && operation === undefined) return "stuck";
  if (isState) return state.phase === "Terminating" ? "ending" : "working";
  if (operation?.run === uid) return "requested";
  return operation === undefined && !isSyncing ? "free" : "busy";
}

function stepOf(facts: SyncFacts, trace: Trace, now: Millis): SyncStep {
  const { run } = facts;
  const { phase } = run.progress;
  if (isFinished(phase)) return "wait";
  const step = STEPS[phase as keyof typeof STEPS][requestOf(facts, now)][trace];
  const isLate = now - run.recordedAt > START_LIMIT_MS;
  if (step === "wait" && isLate) return "end";
  return step === "withdraw" && now - (run.requestedAt ?? now) < WITHDRAW_AFTER_MS ? "wait" : step;
}

function requestOf(facts: SyncFacts, now: Millis): SyncRequest {
  const { run } = facts;
  if (run.isCancelled || isOverdue(run, now)) return "stop";
  return mayBegin(facts) ? "go" : "hold";
}

/**
 * A sync deploys what the Application says: that has to be what the row says, with nothing newer on it, under the present epoch, while
 * nobody moves or deletes it. What follows Git by itself is not synced by hand.
 */
function mayBegin({ application, unit, appliedRevision, observed }: SyncFacts): boolean {
  if (application.spec.type !== "manual" || application.deletedAt !== undefined || unit.phase !== "IDLE") return false;
  if (observed === undefined || observed.isDeleting || observed.epoch !== unit.epoch) return false;
  const fence = { epoch: unit.epoch, revision: application.desiredRevision };
  return appliedRevision >= application.desiredRevision && newerFence(fence, observed) === undefined;
}

function isOverdue({ progress, requestedAt }: SyncRun, now: Millis): boolean {
  return progress.phase === "Running" && requestedAt !== undefined && now - requestedAt > RUN_LIMIT_MS;
}

/** The old state goes with the request, so that what is read afterwards is this run's or nobody's. */
function requestPatch({ run, application, observed }: SyncFacts): readonly PatchOperation[] {
  const operation = {
    initiatedBy: { username: "GitOpsDeploymentSyncRun" },
    info: [{ name: INFO_RUN, value: run.uid }],
    sync: {
      revision: run.revision || application.spec.source.targetRevision || "HEAD",
      prune: run.prune,
      syncStrategy: { hook: {} },
      // Argo CD takes these from the request alone, not from the Application.
      syncOptions: syncOptions(application),
    },
  };
  return [...(observed?.sync.state === undefined ? [] : [FORGET_SYNC]), { op: "add", path: "/operation", value: operation }];
}

function patch(observed: ObservedApplication | undefined, step: SyncStep, steps: readonly PatchOperation[]): SyncAction {
  return observed === undefined ? { kind: "observe" } : { kind: "patch", step, patch: [...guards(observed), ...steps] };
}

function record(run: SyncRun, progress: RunProgress, now: Millis): SyncAction {
  const isKnown = JSON.stringify(progress) === JSON.stringify(run.progress);
  return isKnown ? { kind: "wait" } : { kind: "record", progress, requestedAt: run.requestedAt ?? now };
}

/** What the engine says of the run; `state` is absent while it has not begun. */
function followed(run: SyncRun, state: ParsedSync | undefined, now: Millis): RunProgress {
  if (state === undefined) return { ...run.progress, phase: "Running", message: "Waiting until the sync begins" };
  const phase = phaseOf(run, state, now);
  return {
    phase,
    message: isOverdue(run, now) ? TOO_LONG : state.message,
    revision: state.revision,
    startedAt: state.startedAt,
    finishedAt: phase === "Running" ? undefined : (state.finishedAt ?? now),
    hooks: state.hooks,
  };
}

const TOO_LONG = "The sync did not end within two hours and was stopped";

function phaseOf(run: SyncRun, { phase, message }: ParsedSync, now: Millis): RunPhase {
  if (phase === "Running" || phase === "Terminating") return "Running";
  if (phase === "Succeeded") return "Succeeded";
  if (isOverdue(run, now)) return "Failed";
  return run.isCancelled || /^operation terminat/i.test(message) ? "Terminated" : "Failed";
}

/** The engine has nothing to say of the run, and will not have. */
function ended(run: SyncRun, now: Millis): RunProgress {
  const phase = run.isCancelled ? "Terminated" : "Failed";
  return { ...run.progress, phase, message: endMessage(run, now), finishedAt: now };
}

function endMessage(run: SyncRun, now: Millis): string {
  if (run.isCancelled) return run.progress.message;
  if (isOverdue(run, now)) return TOO_LONG;
  if (run.progress.phase === "Pending") return "The sync could not begin within an hour: create another run when the deployment is ready";
  return "The sync was interrupted and its result is not known: create another run if it is needed";
}
