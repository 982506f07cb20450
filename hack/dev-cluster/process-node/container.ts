import { type CrashBackoff, crashesInARow, restartDelayMs } from "./backoff.ts";
import type { Container } from "./pod.ts";
import type { ContainerState, ContainerView, Termination } from "./pod-status.ts";
import { type Prober, startProber } from "./prober.ts";
import { parseQuantity } from "./quantity.ts";
import type { Run } from "./run.ts";

/** What is remembered about a container between runs and, on disk, between runs of the node. */
export interface ContainerRecord {
  readonly image: string;
  readonly startedAtMs: number;
  readonly restartCount: number;
  readonly crashes: number;
  readonly last: Termination | undefined;
}

export type Prepared =
  | { readonly ok: true; readonly start: (record: ContainerRecord) => Promise<Run> }
  | { readonly ok: false; readonly reason: string; readonly message?: string; readonly retryMs: number };

export interface ContainerOptions {
  readonly podIP: string;
  readonly restartPolicy: string;
  readonly backoff: CrashBackoff;
  readonly nowMs: () => number;
  /** Looks up what a start needs and says how to start, or why it cannot yet. */
  readonly prepare: (container: Container, signal: AbortSignal) => Promise<Prepared>;
  readonly onChange: () => void;
  /** From a predecessor of this node: the last run, and the process of it if it still goes on. */
  readonly found?: { readonly record: ContainerRecord; readonly run: Run | undefined; readonly exitCode: number };
  readonly neverReady: boolean;
}

/** One container of a pod on this node. */
export interface PodContainer {
  view(): ContainerView;
  /** Does what is due now; returns after how many ms there is more, if nothing else happens. */
  step(container: Container, signal: AbortSignal): Promise<number | undefined>;
  stop(graceMs: number): void;
  isGone(): boolean;
  run(): Run | undefined;
  /** Ends the run if it holds more memory than its limit. */
  checkMemory(): void;
  /** Lets go of the run without ending it. */
  detach(): Promise<void>;
}

const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

export function createContainer(first: Container, options: ContainerOptions): PodContainer {
  let spec = first;
  let record: ContainerRecord | undefined = options.found?.record;
  let run: Run | undefined;
  let prober: Prober | undefined;
  let state: ContainerState = { kind: "waiting", reason: "ContainerCreating" };
  let dueMs = 0;
  let killReason: string | undefined;
  let isStopping = false;
  let stopGrantedMs = 0;
  let isReplacing = false;

  const setState = (next: ContainerState) => {
    const changed = JSON.stringify(next) !== JSON.stringify(state);
    state = next;
    if (changed) options.onChange();
  };
  const restarts = (exitCode: number) => options.restartPolicy === "Always" || (options.restartPolicy === "OnFailure" && exitCode !== 0);

  const onEnd = (exitCode: number) => {
    const nowMs = options.nowMs();
    const before = record ?? { image: spec.image, startedAtMs: nowMs, restartCount: 0, crashes: 0, last: undefined };
    const reason = killReason ?? (exitCode === 0 ? "Completed" : "Error");
    const termination = { exitCode, reason, startedAt: rfc3339(before.startedAtMs), finishedAt: rfc3339(nowMs) };
    const crashes = isReplacing ? 0 : crashesInARow(before.crashes, nowMs - before.startedAtMs, options.backoff);
    prober?.stop();
    [run, prober, killReason, isReplacing] = [undefined, undefined, undefined, false];
    record = { ...before, crashes, last: termination };
    const delayMs = restartDelayMs(crashes, options.backoff);
    dueMs = nowMs + delayMs;
    if (isStopping || !restarts(exitCode)) setState({ kind: "terminated", termination });
    else if (delayMs === 0) setState({ kind: "waiting", reason: "ContainerCreating" });
    else
      setState({
        kind: "waiting",
        reason: "CrashLoopBackOff",
        message: `back-off ${delayMs / 1000}s restarting failed container=${spec.name}`,
      });
  };
  const follow = (started: Run, startedAtMs: number) => {
    run = started;
    void started.ended.then((code) => run === started && onEnd(code));
    const watched = withoutProbesIfPretended(spec, started);
    prober = options.neverReady
      ? undefined
      : startProber({
          container: watched,
          podIP: options.podIP,
          onReadiness: options.onChange,
          onUnhealthy: () => started.stop(stopGraceMs),
        });
    setState({ kind: "running", startedAt: rfc3339(startedAtMs) });
  };
  if (options.found?.run !== undefined) follow(options.found.run, options.found.record.startedAtMs);
  else if (options.found !== undefined) onEnd(options.found.exitCode);

  return {
    view: () => ({
      name: spec.name,
      image: record?.image ?? spec.image,
      state,
      last: state.kind === "terminated" ? undefined : record?.last,
      isReady: state.kind === "running" && (prober?.isReady() ?? false),
      restartCount: record?.restartCount ?? 0,
      id: run?.id,
    }),
    async step(wanted, signal) {
      spec = wanted;
      if (isStopping || state.kind === "terminated") return undefined;
      if (run !== undefined) {
        if (record?.image !== wanted.image && !isReplacing) {
          isReplacing = true;
          run.stop(stopGraceMs);
        }
        return undefined;
      }
      const waitMs = dueMs - options.nowMs();
      if (waitMs > 0) return waitMs;
      const prepared = await options.prepare(wanted, signal);
      if (isStopping) return undefined;
      if (!prepared.ok) {
        setState({ kind: "waiting", reason: prepared.reason, ...(prepared.message === undefined ? {} : { message: prepared.message }) });
        return prepared.retryMs;
      }
      record = nextRecord(record, wanted.image, options.nowMs());
      follow(await prepared.start(record), record.startedAtMs);
      return undefined;
    },
    stop(graceMs) {
      // Asked again with less patience, as by a second deletion with a shorter grace.
      if (isStopping && graceMs >= stopGrantedMs) return;
      [isStopping, stopGrantedMs] = [true, graceMs];
      prober?.stop();
      run?.stop(graceMs);
    },
    isGone: () => run === undefined,
    run: () => run,
    checkMemory() {
      const limit = parseQuantity(spec.resources?.limits?.["memory"] ?? "");
      if (run === undefined || limit === undefined || (run.memory() ?? 0) <= limit) return;
      killReason = "OOMKilled";
      run.kill();
    },
    async detach() {
      const left = run;
      prober?.stop();
      run = undefined;
      await left?.detach();
    },
  };
}

/** For runs ended because of a probe or a new image, in ms: shorter than a pod's own grace, since nobody waits for the old one. */
const stopGraceMs = 5000;

function nextRecord(before: ContainerRecord | undefined, image: string, startedAtMs: number): ContainerRecord {
  return {
    image,
    startedAtMs,
    restartCount: before === undefined ? 0 : before.restartCount + 1,
    crashes: before?.crashes ?? 0,
    last: before?.last,
  };
}

/** There is nothing to ask where there is no process. */
function withoutProbesIfPretended(container: Container, run: Run): Container {
  if (run.pid !== undefined) return container;
  const { readinessProbe: _readiness, livenessProbe: _liveness, startupProbe: _startup, ...rest } = container;
  return rest;
}
