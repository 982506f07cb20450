import { type Millis, parseRfc3339 } from "../domain/clock.ts";
import type { SeenApplication } from "../domain/seen-application.ts";

/** Stops Argo CD from looking at an Application. */
const PAUSE = "argocd.argoproj.io/skip-reconcile";
/** Argo CD takes it off when it has looked. */
const REFRESH = "argocd.argoproj.io/refresh";
/** On a copy that a move has not activated yet. */
const ARRIVING = "argosy.dev/arriving";

type Json = Readonly<Record<string, unknown>>;

/** An Application as the API server gives it; `undefined`: it is none. Its fields are believed in nothing but their form. */
export function parseSeen(raw: unknown): SeenApplication | undefined {
  const metadata = object(object(raw)["metadata"]);
  const { name, uid } = metadata;
  if (typeof name !== "string" || typeof uid !== "string") return undefined;
  const annotations = object(metadata["annotations"]);
  const status = object(object(raw)["status"]);
  return {
    ...{ name, uid, isPaused: annotations[PAUSE] === "true", isArriving: annotations[ARRIVING] !== undefined },
    isDeleting: metadata["deletionTimestamp"] !== undefined,
    awaitsRefresh: annotations[REFRESH] !== undefined,
    reconciledAt: time(status["reconciledAt"]),
    isGreen: object(status["sync"])["status"] === "Synced" && object(status["health"])["status"] === "Healthy",
  };
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function time(value: unknown): Millis | undefined {
  return typeof value === "string" ? parseRfc3339(value) : undefined;
}
