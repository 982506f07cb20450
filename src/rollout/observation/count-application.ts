import type { Millis } from "../../domain/clock.ts";
import { asArray, asObject, asString, asTime, type Json } from "../../domain/json.ts";
import type { InstanceObservation, ObservationRequest } from "../../domain/rollout.ts";
import type { DecidedSync } from "./tally-syncs.ts";

/** What is counted over an instance's Applications. */
export type CountedApplication = Pick<
  InstanceObservation,
  "applications" | "faulty" | "strayed" | "fresh" | "newestReconciledAt" | "resynced" | "pruned"
>;

export const NOTHING_COUNTED: CountedApplication = {
  applications: 0,
  faulty: 0,
  strayed: 0,
  fresh: 0,
  newestReconciledAt: undefined,
  resynced: 0,
  pruned: 0,
};

/** An annotation that stops Argo CD from comparing an Application. */
const PAUSE = "argocd.argoproj.io/skip-reconcile";
/** An annotation on an arrival: a copy that a move has not activated yet. */
const ARRIVING = "argosy.dev/arriving";
const ENDS = ["Succeeded", "Failed", "Error"];

/**
 * Adds an Application, as the API server gives it, to the count so far. One that Argo CD does not compare, or has
 * never compared, says nothing about a release and is left out.
 */
export function countApplication(
  counted: CountedApplication,
  raw: unknown,
  at: { readonly now: Millis } & Pick<ObservationRequest, "since" | "resyncMs">,
): CountedApplication {
  const status = asObject(asObject(raw)["status"]);
  const reconciledAt = asTime(status["reconciledAt"]);
  if (isOut(raw) || reconciledAt === undefined) return counted;
  const done = lastSync(status, at.since);
  return {
    applications: counted.applications + 1,
    faulty: counted.faulty + Number(isFaulty(status)),
    strayed: counted.strayed + Number(isStrayed(status)),
    fresh: counted.fresh + Number(at.now - reconciledAt <= at.resyncMs),
    newestReconciledAt: Math.max(reconciledAt, counted.newestReconciledAt ?? 0) as Millis,
    resynced: counted.resynced + Number(done.isResync),
    pruned: counted.pruned + Number(done.isResync && done.hasPruned),
  };
}

/**
 * The last sync of an Application, once its outcome is known. `undefined`: it is not known, the sync began before
 * `since`, or it is the application's first one, which may fail by its user's mistake. A sync that Argo CD retries
 * counts as failed: automated syncs are retried for ever, stay `Running` all that time, and end only when the cause
 * is removed.
 */
export function decidedSync(raw: unknown, since: Millis | undefined): DecidedSync | undefined {
  const status = asObject(asObject(raw)["status"]);
  const state = asObject(status["operationState"]);
  const startedAt = asTime(state["startedAt"]);
  const { name } = asObject(asObject(raw)["metadata"]);
  const isCounted = typeof name === "string" && since !== undefined && startedAt !== undefined && startedAt >= since;
  if (!isCounted || isOut(raw) || asArray(status["history"]).length === 0) return undefined;
  const isRetried = Number(state["retryCount"] ?? 0) > 0;
  if (!isRetried && !ENDS.includes(asString(state["phase"]))) return undefined;
  return { application: name, startedAt, isFailed: isRetried || state["phase"] !== "Succeeded" };
}

function isOut(raw: unknown): boolean {
  const metadata = asObject(asObject(raw)["metadata"]);
  const annotations = asObject(metadata["annotations"]);
  return annotations[PAUSE] === "true" || annotations[ARRIVING] !== undefined || metadata["deletionTimestamp"] !== undefined;
}

function isFaulty(status: Json): boolean {
  const conditions = asArray(status["conditions"]).map((condition) => asObject(condition)["type"]);
  return asObject(status["sync"])["status"] === "Unknown" || conditions.includes("ComparisonError");
}

/**
 * OutOfSync with the revision that was deployed there last: either the release renders that revision differently, or
 * somebody changed the objects.
 */
function isStrayed(status: Json): boolean {
  const sync = asObject(status["sync"]);
  const deployed = asObject(asArray(status["history"]).at(-1))["revision"];
  return sync["status"] === "OutOfSync" && typeof deployed === "string" && deployed === sync["revision"];
}

interface LastSync {
  /**
   * Whether Argo CD began it by itself and only for the objects that differed. It does so when neither revision nor
   * source have changed since the last sync.
   */
  readonly isResync: boolean;
  readonly hasPruned: boolean;
}

function lastSync(status: Json, since: Millis | undefined): LastSync {
  const state = asObject(status["operationState"]);
  const operation = asObject(state["operation"]);
  const startedAt = asTime(state["startedAt"]);
  const isRecent = since !== undefined && startedAt !== undefined && startedAt >= since;
  const isOwn = asObject(operation["initiatedBy"])["automated"] === true && asArray(asObject(operation["sync"])["resources"]).length > 0;
  const results = asArray(asObject(state["syncResult"])["resources"]);
  return {
    isResync: isRecent && isOwn,
    hasPruned: results.some((result) => asObject(result)["status"] === "Pruned"),
  };
}
