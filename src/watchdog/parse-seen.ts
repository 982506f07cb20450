import { asObject, asTime } from "../domain/json.ts";
import type { SeenApplication } from "../domain/seen-application.ts";

/** An annotation that stops Argo CD from comparing an Application. */
const PAUSE = "argocd.argoproj.io/skip-reconcile";
/** An annotation that requests a refresh. Argo CD removes it after the comparison. */
const REFRESH = "argocd.argoproj.io/refresh";
/** An annotation on an arrival: a copy that a move has not activated yet. */
const ARRIVING = "argosy.dev/arriving";

/** Parses an Application as the API server gives it. `undefined`: it has no name or uid. Any field may have any shape. */
export function parseSeen(raw: unknown): SeenApplication | undefined {
  const metadata = asObject(asObject(raw)["metadata"]);
  const { name, uid } = metadata;
  if (typeof name !== "string" || typeof uid !== "string") return undefined;
  const annotations = asObject(metadata["annotations"]);
  const status = asObject(asObject(raw)["status"]);
  return {
    name,
    uid,
    isPaused: annotations[PAUSE] === "true",
    isArriving: annotations[ARRIVING] !== undefined,
    isDeleting: metadata["deletionTimestamp"] !== undefined,
    awaitsRefresh: annotations[REFRESH] !== undefined,
    reconciledAt: asTime(status["reconciledAt"]),
    isGreen: asObject(status["sync"])["status"] === "Synced" && asObject(status["health"])["status"] === "Healthy",
  };
}
