import type { Millis } from "../domain/clock.ts";
import type { Component, Signals } from "../domain/health.ts";
import type { ProbedPod } from "../domain/probed.ts";
import { known, type ProbeResult } from "./derive-signals.ts";
import type { HealthPage } from "./parse-page.ts";

/**
 * How much of its memory limit each process of an instance uses, and how long ago pods were killed for using more.
 * Usage is what a process reports of itself; redis reports none, so only a kill shows. While a controller is replaced
 * there are two pods, and none of them counts.
 */
export function memorySignals(probe: Pick<ProbeResult, "controller" | "repoServers">, pods: readonly ProbedPod[], now: Millis): Signals {
  const controllers = pods.filter(({ component }) => component === "controller");
  const repoServers = pods.flatMap((pod) => shareOf(probe.repoServers.get(pod.name), pod) ?? []);
  return known({
    controllerMemory: controllers.length === 1 ? shareOf(probe.controller, controllers[0]) : undefined,
    repoServerMemory: repoServers.length === 0 ? undefined : Math.max(...repoServers),
    controllerKilledS: killedS(pods, "controller", now),
    repoServerKilledS: killedS(pods, "repo-server", now),
    redisKilledS: killedS(pods, "redis", now),
  });
}

function shareOf(page: HealthPage | undefined, pod: ProbedPod | undefined): number | undefined {
  const used = page?.counters.residentBytes;
  return used === undefined || !pod?.memoryLimit ? undefined : used / pod.memoryLimit;
}

function killedS(pods: readonly ProbedPod[], of: Component, now: Millis): number | undefined {
  const ends = pods.flatMap(({ component, killedAt }) => (component === of ? (killedAt ?? []) : []));
  return ends.length === 0 ? undefined : Math.max(0, now - Math.max(...ends)) / 1_000;
}
