import { COMPONENTS, type Component } from "../domain/health.ts";
import { asArray, asObject, asTime } from "../domain/json.ts";
import type { ProbedApplication, ProbedPod } from "../domain/probed.ts";

const PAUSE = "argocd.argoproj.io/skip-reconcile";
export const REFRESH = "argocd.argoproj.io/refresh";
const ERRORS = ["ComparisonError", "InvalidSpecError"];
const NAMES: Readonly<Record<Component, string>> = {
  ...{ controller: "argocd-application-controller", "repo-server": "argocd-repo-server", redis: "argocd-redis" },
};

/** An Application as the API server gives it; `undefined`: it is none. Its fields are believed in nothing but their form. */
export function parseProbed(raw: unknown): ProbedApplication | undefined {
  const metadata = asObject(asObject(raw)["metadata"]);
  const { name } = metadata;
  if (typeof name !== "string") return undefined;
  const annotations = asObject(metadata["annotations"]);
  const status = asObject(asObject(raw)["status"]);
  return {
    ...{ name, awaitsLook: annotations[REFRESH] !== undefined, isPaused: annotations[PAUSE] === "true" },
    reconciledAt: asTime(status["reconciledAt"]),
    hasError: asArray(status["conditions"]).some((each) => ERRORS.includes(String(asObject(each)["type"]))),
  };
}

/** A pod of an instance; `undefined`: it is none of its components', or is on its way out. */
export function parsePod(raw: unknown): ProbedPod | undefined {
  const metadata = asObject(asObject(raw)["metadata"]);
  const { name, deletionTimestamp } = metadata;
  const label = asObject(metadata["labels"])["app.kubernetes.io/name"];
  const component = COMPONENTS.find((each) => NAMES[each] === label);
  if (typeof name !== "string" || component === undefined || deletionTimestamp !== undefined) return undefined;
  const status = asObject(asObject(raw)["status"]);
  const ready = asArray(status["conditions"])
    .map(asObject)
    .find(({ type }) => type === "Ready");
  const counts = asArray(status["containerStatuses"]).map((each) => Number(asObject(each)["restartCount"]));
  return {
    ...{ component, name, restarts: counts.reduce((sum, count) => sum + (Number.isFinite(count) ? count : 0), 0) },
    unreadySince: ready?.["status"] === "False" ? asTime(ready["lastTransitionTime"]) : undefined,
  };
}
