import type { Millis } from "../domain/clock.ts";
import { COMPONENTS, type Component } from "../domain/health.ts";
import { asArray, asObject, asTime, type Json } from "../domain/json.ts";
import type { Eviction, ProbedApplication, ProbedPod } from "../domain/probed.ts";
import { parseQuantity } from "../domain/quantity.ts";

const PAUSE = "argocd.argoproj.io/skip-reconcile";
export const REFRESH = "argocd.argoproj.io/refresh";
const ERRORS = ["ComparisonError", "InvalidSpecError"];
/** Phases of a pod that runs no more and will not again. */
const ENDED = ["Failed", "Succeeded"];
const NAMES: Readonly<Record<Component, string>> = {
  controller: "argocd-application-controller",
  "repo-server": "argocd-repo-server",
  redis: "argocd-redis",
};

/**
 * Parses an Application as the API server gives it. `undefined`: it has no name. Any field may have any shape: users
 * write them.
 */
export function parseProbed(raw: unknown): ProbedApplication | undefined {
  const metadata = asObject(asObject(raw)["metadata"]);
  const { name } = metadata;
  if (typeof name !== "string") return undefined;
  const annotations = asObject(metadata["annotations"]);
  const status = asObject(asObject(raw)["status"]);
  return {
    name,
    awaitsObservation: annotations[REFRESH] !== undefined,
    isPaused: annotations[PAUSE] === "true",
    reconciledAt: asTime(status["reconciledAt"]),
    hasError: asArray(status["conditions"]).some((each) => ERRORS.includes(String(asObject(each)["type"]))),
  };
}

/** Parses a pod of an instance. `undefined`: it belongs to none of the components, or is being deleted. */
export function parsePod(raw: unknown): ProbedPod | undefined {
  const metadata = asObject(asObject(raw)["metadata"]);
  const { name, deletionTimestamp } = metadata;
  const label = asObject(metadata["labels"])["app.kubernetes.io/name"];
  const component = COMPONENTS.find((each) => NAMES[each] === label);
  if (typeof name !== "string" || component === undefined || deletionTimestamp !== undefined) return undefined;
  const status = asObject(asObject(raw)["status"]);
  const containers = asArray(status["containerStatuses"]).map(asObject);
  const conditions = asArray(status["conditions"]).map(asObject);
  const ready = conditions.find(({ type }) => type === "Ready");
  const hasEnded = ENDED.includes(String(status["phase"]));
  const counts = containers.map((each) => Number(each["restartCount"]));
  return {
    component,
    name,
    restarts: counts.reduce((sum, count) => sum + (Number.isFinite(count) ? count : 0), 0),
    // A pod that has ended stays in the list for days, and gets ready no more: another one is in its place.
    unreadySince: ready?.["status"] === "False" && !hasEnded ? asTime(ready["lastTransitionTime"]) : undefined,
    memoryLimit: memoryLimit(asObject(raw)["spec"]),
    killedAt: newest(containers.flatMap(killedAt)),
    evicted: evictionOf(status, { containers, conditions }),
  };
}

/**
 * How the kubelet ended the pod. Its reason is `Evicted` where a container ended with an error, or had to be killed. Where all ended in
 * order within the one second that they are given, the pod has succeeded, without a reason; one whose containers are restarted always
 * succeeds in no other way. With the condition `DisruptionTarget` its node ran short, or was shut down; the kubelet sets none where a pod
 * has used more disk than it may. Source: kubelet/eviction/eviction_manager.go, kubelet_pods.go, Kubernetes 1.36.
 */
function evictionOf(
  { phase, reason }: Json,
  { containers, conditions }: { readonly containers: readonly Json[]; readonly conditions: readonly Json[] },
): Eviction | undefined {
  if (phase !== "Succeeded" && (phase !== "Failed" || reason !== "Evicted")) return undefined;
  const ended = containers.flatMap(({ state }) => asTime(asObject(asObject(state)["terminated"])["finishedAt"]) ?? []);
  const unready = conditions.filter(({ type }) => type === "Ready").flatMap(({ lastTransitionTime }) => asTime(lastTransitionTime) ?? []);
  const at = newest(ended.length > 0 ? ended : unready);
  const byNode = conditions.some(({ type, status }) => type === "DisruptionTarget" && status === "True");
  return at === undefined ? undefined : { at, by: byNode ? "node" : "limit" };
}

/** The limit of a pod is the sum of its containers'; `undefined` where one of them has none. */
function memoryLimit(spec: unknown): number | undefined {
  const limits = asArray(asObject(spec)["containers"]).map((each) => asObject(asObject(asObject(each)["resources"])["limits"])["memory"]);
  const bytes = limits.map((limit) => (typeof limit === "string" ? parseQuantity(limit) : undefined));
  return bytes.length === 0 || bytes.includes(undefined) ? undefined : bytes.reduce<number>((sum, each) => sum + (each ?? 0), 0);
}

/**
 * When a container was killed for using too much memory. That stands in its state until it has restarted, and in its last
 * state after that.
 */
function killedAt(container: Json): readonly Millis[] {
  return [container["state"], container["lastState"]].flatMap((state) => {
    const { reason, finishedAt } = asObject(asObject(state)["terminated"]);
    return reason === "OOMKilled" ? (asTime(finishedAt) ?? []) : [];
  });
}

function newest(times: readonly Millis[]): Millis | undefined {
  return times.toSorted((a, b) => b - a)[0];
}
