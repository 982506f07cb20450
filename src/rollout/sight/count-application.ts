import type { Millis } from "../../domain/clock.ts";
import { asArray, asObject, asTime, type Json } from "../../domain/json.ts";
import type { InstanceSight, SightRequest } from "../../domain/rollout.ts";

/** What is counted of an instance's applications. */
export type Counted = Pick<
  InstanceSight,
  "applications" | "faulty" | "strayed" | "fresh" | "newestReconciledAt" | "syncs" | "resynced" | "pruned"
>;

export const NOTHING_COUNTED: Counted = {
  ...{ applications: 0, faulty: 0, strayed: 0, fresh: 0, newestReconciledAt: undefined },
  ...{ syncs: { done: 0, failed: 0 }, resynced: 0, pruned: 0 },
};

/** Stops Argo CD from looking at an Application. */
const PAUSE = "argocd.argoproj.io/skip-reconcile";
/** On a copy that a move has not activated yet. */
const ARRIVING = "argosy.dev/arriving";

/**
 * Adds an Application, as the API server gives it, to what was counted before. One that Argo CD does not look at, or never has, tells
 * nothing about a release.
 */
export function countApplication(
  counted: Counted,
  raw: unknown,
  at: { readonly now: Millis } & Pick<SightRequest, "since" | "resyncMs">,
): Counted {
  const metadata = asObject(asObject(raw)["metadata"]);
  const annotations = asObject(metadata["annotations"]);
  const status = asObject(asObject(raw)["status"]);
  const reconciledAt = asTime(status["reconciledAt"]);
  const isOut = annotations[PAUSE] === "true" || annotations[ARRIVING] !== undefined || metadata["deletionTimestamp"] !== undefined;
  if (isOut || reconciledAt === undefined) return counted;
  const done = lastSync(status, at.since);
  return {
    applications: counted.applications + 1,
    faulty: counted.faulty + Number(isFaulty(status)),
    strayed: counted.strayed + Number(isStrayed(status)),
    fresh: counted.fresh + Number(at.now - reconciledAt <= at.resyncMs),
    newestReconciledAt: Math.max(reconciledAt, counted.newestReconciledAt ?? 0) as Millis,
    syncs: { done: counted.syncs.done + Number(done.isCounted), failed: counted.syncs.failed + Number(done.isCounted && done.isFailed) },
    resynced: counted.resynced + Number(done.isResync),
    pruned: counted.pruned + Number(done.isResync && done.hasPruned),
  };
}

function isFaulty(status: Json): boolean {
  const conditions = asArray(status["conditions"]).map((condition) => asObject(condition)["type"]);
  return asObject(status["sync"])["status"] === "Unknown" || conditions.includes("ComparisonError");
}

/** Not in step with the very revision that was deployed there last: what that revision comes to has changed, or somebody else has changed it. */
function isStrayed(status: Json): boolean {
  const sync = asObject(status["sync"]);
  const deployed = asObject(asArray(status["history"]).at(-1))["revision"];
  return sync["status"] === "OutOfSync" && typeof deployed === "string" && deployed === sync["revision"];
}

interface LastSync {
  /** It ended since then, and the application had been deployed before: one that never was fails by its user's doing. */
  readonly isCounted: boolean;
  readonly isFailed: boolean;
  /** Argo CD did it by itself, and only to what differed: so it does when neither revision nor source have changed since the last one. */
  readonly isResync: boolean;
  readonly hasPruned: boolean;
}

function lastSync(status: Json, since: Millis | undefined): LastSync {
  const state = asObject(status["operationState"]);
  const operation = asObject(state["operation"]);
  const finishedAt = asTime(state["finishedAt"]);
  const startedAt = asTime(state["startedAt"]);
  const phase = state["phase"];
  const hasEnded = phase === "Succeeded" || phase === "Failed" || phase === "Error";
  const isRecent = since !== undefined && startedAt !== undefined && startedAt >= since;
  const isOwn = asObject(operation["initiatedBy"])["automated"] === true && asArray(asObject(operation["sync"])["resources"]).length > 0;
  const results = asArray(asObject(state["syncResult"])["resources"]);
  return {
    isCounted: isRecent && hasEnded && finishedAt !== undefined && asArray(status["history"]).length > 0,
    isFailed: phase !== "Succeeded",
    isResync: isRecent && isOwn,
    hasPruned: results.some((result) => asObject(result)["status"] === "Pruned"),
  };
}
