import type { Container, Probe } from "./pod.ts";
import { probeOnce } from "./probe.ts";

/** Probes one run of a container. */
export interface Prober {
  isReady(): boolean;
  stop(): void;
}

export interface ProberOptions {
  readonly container: Container;
  readonly podIP: string;
  readonly onReadiness: () => void;
  /** The container has failed its start-up or liveness probe often enough to be ended. */
  readonly onUnhealthy: () => void;
}

/**
 * How often readiness and start-up are probed until the first success, in ms. A kubelet waits for the initial delay
 * and the period, together ten seconds for Argo CD. Waiting has no use here, so a failure before the first success
 * does not count and is repeated soon.
 */
const eagerMs = 200;

/**
 * Runs the probes of a container until it is stopped. Liveness and readiness begin when the start-up probe, if there
 * is one, has succeeded.
 */
export function startProber(options: ProberOptions): Prober {
  const { readinessProbe, livenessProbe, startupProbe } = options.container;
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;
  let ready = false;

  const later = (ms: number, run: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
  };
  const loop = (probe: Probe, judge: (success: boolean) => number | undefined) => {
    void probeOnce(probe, options.container, options.podIP).then((success) => {
      const waitMs = stopped ? undefined : judge(success);
      if (waitMs !== undefined) later(waitMs, () => loop(probe, judge));
    });
  };
  const setReady = (value: boolean) => {
    if (ready === value || stopped) return;
    ready = value;
    options.onReadiness();
  };
  const begin = () => {
    if (readinessProbe === undefined) setReady(true);
    else loop(readinessProbe, readiness(readinessProbe, setReady));
    if (livenessProbe !== undefined)
      later((livenessProbe.initialDelaySeconds ?? 0) * 1000, () => loop(livenessProbe, liveness(livenessProbe, options.onUnhealthy)));
  };
  if (startupProbe === undefined) begin();
  else loop(startupProbe, startup(startupProbe, { begin, fail: options.onUnhealthy }));

  return {
    isReady: () => ready,
    stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

const periodMs = (probe: Probe): number => (probe.periodSeconds ?? 10) * 1000;

function readiness(probe: Probe, setReady: (ready: boolean) => void): (success: boolean) => number {
  let wasReady = false;
  let failures = 0;
  return (success) => {
    failures = success ? 0 : failures + 1;
    if (success) wasReady = true;
    if (success) setReady(true);
    else if (failures >= (probe.failureThreshold ?? 3)) setReady(false);
    return wasReady ? periodMs(probe) : eagerMs;
  };
}

function liveness(probe: Probe, onUnhealthy: () => void): (success: boolean) => number | undefined {
  let failures = 0;
  return (success) => {
    failures = success ? 0 : failures + 1;
    if (failures < (probe.failureThreshold ?? 3)) return periodMs(probe);
    onUnhealthy();
    return undefined;
  };
}

function startup(probe: Probe, then: { readonly begin: () => void; readonly fail: () => void }): (success: boolean) => number | undefined {
  const allowedMs = ((probe.initialDelaySeconds ?? 0) + (probe.periodSeconds ?? 10) * (probe.failureThreshold ?? 3)) * 1000;
  const startedAt = Date.now();
  return (success) => {
    if (success) then.begin();
    else if (Date.now() - startedAt < allowedMs) return eagerMs;
    else then.fail();
    return undefined;
  };
}
