import { type Millis, parseRfc3339 } from "../domain/clock.ts";
import { COMPONENTS, type Component } from "../domain/health.ts";
import type { ProbedApplication, ProbedPod } from "../domain/probed.ts";

const PAUSE = "argocd.argoproj.io/skip-reconcile";
export const REFRESH = "argocd.argoproj.io/refresh";
const ERRORS = ["ComparisonError", "InvalidSpecError"];
const NAMES: Readonly<Record<Component, string>> = {
  ...{ controller: "argocd-application-controller", "repo-server": "argocd-repo-server", redis: "argocd-redis" },
};

type Json = Readonly<Record<string, unknown>>;

/** An Application as the API server gives it; `undefined`: it is none. Its fields are believed in nothing but their form. */
export function parseProbed(raw: unknown): ProbedApplication | undefined {
  const metadata = object(object(raw)["metadata"]);
  const { name } = metadata;
  if (typeof name !== "string") return undefined;
  const annotations = object(metadata["annotations"]);
  const status = object(object(raw)["status"]);
  return {
    ...{ name, awaitsLook: annotations[REFRESH] !== undefined, isPaused: annotations[PAUSE] === "true" },
    reconciledAt: time(status["reconciledAt"]),
    hasError: list(status["conditions"]).some((each) => ERRORS.includes(String(object(each)["type"]))),
  };
}

/** A pod of an instance; `undefined`: it is none of its components', or is on its way out. */
export function parsePod(raw: unknown): ProbedPod | undefined {
  const metadata = object(object(raw)["metadata"]);
  const { name, deletionTimestamp } = metadata;
  const label = object(metadata["labels"])["app.kubernetes.io/name"];
  const component = COMPONENTS.find((each) => NAMES[each] === label);
  if (typeof name !== "string" || component === undefined || deletionTimestamp !== undefined) return undefined;
  const status = object(object(raw)["status"]);
  const ready = list(status["conditions"])
    .map(object)
    .find(({ type }) => type === "Ready");
  const counts = list(status["containerStatuses"]).map((each) => Number(object(each)["restartCount"]));
  return {
    ...{ component, name, restarts: counts.reduce((sum, count) => sum + (Number.isFinite(count) ? count : 0), 0) },
    unreadySince: ready?.["status"] === "False" ? time(ready["lastTransitionTime"]) : undefined,
  };
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function time(value: unknown): Millis | undefined {
  return typeof value === "string" ? parseRfc3339(value) : undefined;
}
