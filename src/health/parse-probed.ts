import type { Millis } from "../domain/clock.ts";
import { COMPONENTS, type Component } from "../domain/health.ts";
import { asArray, asObject, asTime, type Json } from "../domain/json.ts";
import type { ProbedApplication, ProbedPod } from "../domain/probed.ts";
import { parseQuantity } from "../domain/quantity.ts";

const PAUSE = "argocd.argoproj.io/skip-reconcile";
export const REFRESH = "argocd.argoproj.io/refresh";
const ERRORS = ["ComparisonError", "InvalidSpecError"];
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
  const ready = asArray(status["conditions"])
    .map(asObject)
    .find(({ type }) => type === "Ready");
  const counts = containers.map((each) => Number(each["restartCount"]));
  return {
    component,
    name,
    restarts: counts.reduce((sum, count) => sum + (Number.isFinite(count) ? count : 0), 0),
    unreadySince: ready?.["status"] === "False" ? asTime(ready["lastTransitionTime"]) : undefined,
    memoryLimit: memoryLimit(asObject(raw)["spec"]),
    killedAt: newest(containers.flatMap(killedAt)),
  };
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
