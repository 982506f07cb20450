import type { Millis } from "../../domain/clock.ts";
import { asArray, asObject, asString, asTime, type Json } from "../../domain/json.ts";
import type { InstanceObservation, ObservationRequest } from "../../domain/rollout.ts";
import type { DecidedSync } from "./tally-syncs.ts";

/** What is kept of an Application between two observations. */
export interface KeptApplication {
  readonly name: string;
  /** When Argo CD last compared it. `undefined`: never. */
  readonly reconciledAt: Millis | undefined;
  readonly isFaulty: boolean;
  readonly isStrayed: boolean;
  /** Its last sync. `undefined`: none has begun. */
  readonly sync: KeptSync | undefined;
}

interface KeptSync {
  readonly startedAt: Millis;
  /** `undefined`: it is not known yet, or the sync is the application's first one, which may fail by its user's mistake. */
  readonly outcome: "succeeded" | "failed" | undefined;
  /**
   * Whether Argo CD began it by itself and only for the objects that differed. It does so when neither revision nor
   * source have changed since the last sync.
   */
  readonly isResync: boolean;
  readonly hasPruned: boolean;
}

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
 * Parses an Application as the API server gives it. `undefined`: Argo CD does not compare it, so that it says nothing
 * about a release, or it has no name. Any field may have any shape.
 */
export function parseKept(raw: unknown): KeptApplication | undefined {
  const { name } = asObject(asObject(raw)["metadata"]);
  if (typeof name !== "string" || isOut(raw)) return undefined;
  const status = asObject(asObject(raw)["status"]);
  return {
    name,
    reconciledAt: asTime(status["reconciledAt"]),
    isFaulty: isFaulty(status),
    isStrayed: isStrayed(status),
    sync: parseSync(status),
  };
}

/** Adds an Application to the count so far. One that Argo CD has never compared is left out. */
export function countApplication(
  counted: CountedApplication,
  { reconciledAt, isFaulty: faulty, isStrayed: strayed, sync }: KeptApplication,
  at: { readonly now: Millis } & Pick<ObservationRequest, "since" | "resyncMs">,
): CountedApplication {
  if (reconciledAt === undefined) return counted;
  const isResynced = sync?.isResync === true && at.since !== undefined && sync.startedAt >= at.since;
  return {
    applications: counted.applications + 1,
    faulty: counted.faulty + Number(faulty),
    strayed: counted.strayed + Number(strayed),
    fresh: counted.fresh + Number(at.now - reconciledAt <= at.resyncMs),
    newestReconciledAt: Math.max(reconciledAt, counted.newestReconciledAt ?? 0) as Millis,
    resynced: counted.resynced + Number(isResynced),
    pruned: counted.pruned + Number(isResynced && sync.hasPruned),
  };
}

/** The last sync of an Application, once its outcome is known. `undefined`: it is not, or the sync began before `since`. */
export function decidedSync({ name, sync }: KeptApplication, since: Millis | undefined): DecidedSync | undefined {
  if (sync?.outcome === undefined || since === undefined || sync.startedAt < since) return undefined;
  return { application: name, startedAt: sync.startedAt, isFailed: sync.outcome === "failed" };
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

function parseSync(status: Json): KeptSync | undefined {
  const state = asObject(status["operationState"]);
  const operation = asObject(state["operation"]);
  const startedAt = asTime(state["startedAt"]);
  if (startedAt === undefined) return undefined;
  const results = asArray(asObject(state["syncResult"])["resources"]);
  return {
    startedAt,
    outcome: asArray(status["history"]).length === 0 ? undefined : outcomeOf(state),
    isResync: asObject(operation["initiatedBy"])["automated"] === true && asArray(asObject(operation["sync"])["resources"]).length > 0,
    hasPruned: results.some((result) => asObject(result)["status"] === "Pruned"),
  };
}

/**
 * A sync that Argo CD retries counts as failed: automated syncs are retried for ever, stay `Running` all that time, and
 * end only when the cause is removed.
 */
function outcomeOf(state: Json): KeptSync["outcome"] {
  if (Number(state["retryCount"] ?? 0) > 0) return "failed";
  const phase = asString(state["phase"]);
  if (!ENDS.includes(phase)) return undefined;
  return phase === "Succeeded" ? "succeeded" : "failed";
}
