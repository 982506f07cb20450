import { asObject, asTime } from "../domain/json.ts";
import type { SeenApplication } from "../domain/seen-application.ts";

/** Stops Argo CD from looking at an Application. */
const PAUSE = "argocd.argoproj.io/skip-reconcile";
/** Argo CD takes it off when it has looked. */
const REFRESH = "argocd.argoproj.io/refresh";
/** On a copy that a move has not activated yet. */
const ARRIVING = "argosy.dev/arriving";

/** An Application as the API server gives it; `undefined`: it is none. Its fields are believed in nothing but their form. */
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
