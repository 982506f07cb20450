import { type CrashBackoff, crashesInARow, restartDelayMs } from "./backoff.ts";
import type { Container } from "./pod.ts";
import type { ContainerState, ContainerView, Termination } from "./pod-status.ts";
import { type Prober, startProber } from "./prober.ts";
import { parseQuantity } from "./quantity.ts";
import type { Run } from "./run.ts";

/** What is remembered about a container between its runs, and on disk between runs of the node. */
export interface ContainerRecord {
  readonly image: string;
  readonly startedAtMs: number;
  readonly restartCount: number;
  readonly crashes: number;
  readonly last: Termination | undefined;
}

/** How to start a container, or why it cannot be started yet, in a kubelet's words. */
export type Prepared =
  | { readonly ok: true; readonly start: (record: ContainerRecord) => Promise<Run> }
  | { readonly ok: false; readonly reason: string; readonly message?: string; readonly retryMs: number };

/** A container of this node's predecessor: its last run, and the process of that run if it still runs. */
export interface FoundContainer {
  readonly record: ContainerRecord;
  readonly run: Run | undefined;
  readonly exitCode: number;
}

export interface ContainerOptions {
  readonly podIP: string;
  readonly restartPolicy: string;
  readonly backoff: CrashBackoff;
  readonly nowMs: () => number;
  /** Finds everything that a start needs. */
  readonly prepare: (container: Container, signal: AbortSignal) => Promise<Prepared>;
  readonly onChange: () => void;
  readonly found?: FoundContainer;
  readonly neverReady: boolean;
}

/** One container of a pod on this node. */
export interface PodContainer {
  view(): ContainerView;
  /** Does what is due now. Returns after how many ms there is more to do, if nothing else happens. */
  step(container: Container, signal: AbortSignal): Promise<number | undefined>;
  stop(graceMs: number): void;
  isGone(): boolean;
  run(): Run | undefined;
  /** Ends the run if it uses more memory than its limit. */
  checkMemory(): void;
  /** Forgets the run without ending it. */
  detach(): Promise<void>;
}

/** The present state of a container. `state`: what is reported. `run`: the run, if there is one. */
interface Life {
  spec: Container;
  record: ContainerRecord | undefined;
  run: Run | undefined;
  prober: Prober | undefined;
  state: ContainerState;
  /** When it may start again. */
  dueMs: number;
  /** Why we ended the run, if we did. */
  killReason: string | undefined;
  /** The grace period it got when it was asked to end for good. */
  stopping: { readonly graceMs: number } | undefined;
  isReplacing: boolean;
}

/**
 * Grace period of runs that are ended because of a probe or a new image, in ms. It is shorter than a pod's own,
 * because nobody waits for the old run.
 */
const stopGraceMs = 5000;

export function createContainer(first: Container, options: ContainerOptions): PodContainer {
  const life: Life = {
    ...{
      spec: first,
      record: options.found?.record,
      run: undefined,
      prober: undefined,
      state: { kind: "waiting", reason: "ContainerCreating" },
    },
    ...{ dueMs: 0, killReason: undefined, stopping: undefined, isReplacing: false },
  };
  if (options.found?.run !== undefined) follow(life, options, options.found.run);
  else if (options.found !== undefined) end(life, options, options.found.exitCode);
  return {
    view: () => viewOf(life),
    async step(wanted, signal) {
      life.spec = wanted;
      if (life.stopping !== undefined || life.state.kind === "terminated") return undefined;
      if (life.run === undefined) return await startWhenDue(life, options, signal);
      replaceIfChanged(life, life.run);
      return undefined;
    },
    stop(graceMs) {
      // Only a shorter grace period changes anything, for example that of a second deletion.
      if (life.stopping !== undefined && graceMs >= life.stopping.graceMs) return;
      life.stopping = { graceMs };
      life.prober?.stop();
      life.run?.stop(graceMs);
    },
    isGone: () => life.run === undefined,
    run: () => life.run,
    checkMemory: () => checkMemory(life),
    async detach() {
      const left = life.run;
      life.prober?.stop();
      life.run = undefined;
      await left?.detach();
    },
  };
}

async function startWhenDue(life: Life, options: ContainerOptions, signal: AbortSignal): Promise<number | undefined> {
  const waitMs = life.dueMs - options.nowMs();
  if (waitMs > 0) return waitMs;
  const prepared = await options.prepare(life.spec, signal);
  if (life.stopping !== undefined) return undefined;
  if (!prepared.ok) {
    setState(life, options, {
      kind: "waiting",
      reason: prepared.reason,
      ...(prepared.message === undefined ? {} : { message: prepared.message }),
    });
    return prepared.retryMs;
  }
  const { record } = life;
  const restartCount = record === undefined ? 0 : record.restartCount + 1;
  life.record = { image: life.spec.image, startedAtMs: options.nowMs(), restartCount, crashes: record?.crashes ?? 0, last: record?.last };
  follow(life, options, await prepared.start(life.record));
  return undefined;
}

function follow(life: Life, options: ContainerOptions, run: Run): void {
  life.run = run;
  void run.ended.then((code) => life.run === run && end(life, options, code));
  const onUnhealthy = () => run.stop(stopGraceMs);
  // Without a process there is nothing to ask.
  const container = run.pid === undefined ? withoutProbes(life.spec) : life.spec;
  life.prober = options.neverReady
    ? undefined
    : startProber({ container, podIP: options.podIP, onReadiness: options.onChange, onUnhealthy });
  setState(life, options, { kind: "running", startedAt: rfc3339(life.record?.startedAtMs ?? options.nowMs()) });
  // It was asked to end while it was being started.
  if (life.stopping !== undefined) run.stop(life.stopping.graceMs);
}

function end(life: Life, options: ContainerOptions, exitCode: number): void {
  const nowMs = options.nowMs();
  const before = life.record ?? { image: life.spec.image, startedAtMs: nowMs, restartCount: 0, crashes: 0, last: undefined };
  const reason = life.killReason ?? (exitCode === 0 ? "Completed" : "Error");
  const termination = { exitCode, reason, startedAt: rfc3339(before.startedAtMs), finishedAt: rfc3339(nowMs) };
  const crashes = life.isReplacing ? 0 : crashesInARow(before.crashes, nowMs - before.startedAtMs, options.backoff);
  life.prober?.stop();
  [life.run, life.prober, life.killReason, life.isReplacing] = [undefined, undefined, undefined, false];
  life.record = { ...before, crashes, last: termination };
  const delayMs = restartDelayMs(crashes, options.backoff);
  life.dueMs = nowMs + delayMs;
  const isOver = life.stopping !== undefined || !restarts(options.restartPolicy, exitCode);
  setState(life, options, isOver ? { kind: "terminated", termination } : pausing(delayMs, life.spec.name));
}

function replaceIfChanged(life: Life, run: Run): void {
  if (life.record?.image === life.spec.image || life.isReplacing) return;
  life.isReplacing = true;
  run.stop(stopGraceMs);
}

function checkMemory(life: Life): void {
  const limit = parseQuantity(life.spec.resources?.limits?.["memory"] ?? "");
  if (life.run === undefined || limit === undefined || (life.run.memory() ?? 0) <= limit) return;
  life.killReason = "OOMKilled";
  life.run.kill();
}

function setState(life: Life, options: ContainerOptions, next: ContainerState): void {
  const isNew = JSON.stringify(next) !== JSON.stringify(life.state);
  life.state = next;
  if (isNew) options.onChange();
}

function viewOf({ spec, record, state, prober, run }: Life): ContainerView {
  return {
    name: spec.name,
    image: record?.image ?? spec.image,
    state,
    last: state.kind === "terminated" ? undefined : record?.last,
    isReady: state.kind === "running" && (prober?.isReady() ?? false),
    restartCount: record?.restartCount ?? 0,
    id: run?.id,
  };
}

function pausing(delayMs: number, name: string): ContainerState {
  if (delayMs === 0) return { kind: "waiting", reason: "ContainerCreating" };
  return { kind: "waiting", reason: "CrashLoopBackOff", message: `back-off ${delayMs / 1000}s restarting failed container=${name}` };
}

function restarts(policy: string, exitCode: number): boolean {
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

function withoutProbes(container: Container): Container {
  const { readinessProbe: _readiness, livenessProbe: _liveness, startupProbe: _startup, ...rest } = container;
  return rest;
}

function rfc3339(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
