import type { Millis } from "../domain/clock.ts";
import type { PatchOperation } from "./diff-object.ts";
import { escapePointer } from "./diff-object.ts";
import { ANNOTATION_REFRESH } from "./names.ts";
import type { ObservedApplication } from "./parse-application.ts";
import { isUnderWay, type ParsedSync } from "./parse-sync.ts";
import type { KeptReport } from "./project-status.ts";

/**
 * Why an Application cannot be deleted yet with what it deployed. `requested`: a sync is asked for and not begun; `syncing`, `ending`:
 * one is under way, or being stopped; `automated`: a sync may begin by itself; `refreshing`: a refresh that began when it still might is
 * perhaps not over; `unsettled`: a sync has just ended, and Argo CD may not have seen yet what it made; `unseen`: it has compared since, and
 * does not see it.
 */
export type Restlessness = "requested" | "syncing" | "ending" | "automated" | "refreshing" | "unsettled" | "unseen";

/**
 * How much later than the end of a sync Argo CD must have compared, in ms. Times have whole seconds, so it is one second at the least;
 * events of a cluster enter its cache in batches every 100 ms.
 */
const SETTLED_AFTER_MS = 2000;
/** A sync that ended longer ago than this, in ms, is settled even where Git keeps Argo CD from comparing. Wide, as clocks differ. */
const LONG_AGO_MS = 30_000;

/**
 * Decides whether a cascade may begin. Argo CD ends a sync before it deletes, and then deletes what its cluster cache shows: what the
 * sync made a moment ago is not in there yet, and would stay behind for ever (processAppOperationQueueItem and
 * finalizeApplicationDeletion of its application controller). `undefined`: nothing is under way, and the last sync has settled.
 */
export function restlessnessOf(observed: ObservedApplication, now: Millis): Restlessness | undefined {
  const { operation, state } = observed.sync;
  const isSyncing = state !== undefined && isUnderWay(state);
  if (operation !== undefined) return isSyncing ? (state.phase === "Running" ? "syncing" : "ending") : "requested";
  if (observed.isAutomated) return "automated";
  if (observed.isRefreshing) return "refreshing";
  // Said to be under way although nothing is asked for: nobody goes on with it.
  return isSyncing || state === undefined ? undefined : restlessnessOfSynced(observed, state, now);
}

function restlessnessOfSynced({ report }: ObservedApplication, state: ParsedSync, now: Millis): Restlessness | undefined {
  const { finishedAt } = state;
  if (finishedAt === undefined || now - finishedAt > LONG_AGO_MS) return undefined;
  if (report?.reconciledAt === undefined || report.reconciledAt - finishedAt < SETTLED_AFTER_MS) return "unsettled";
  return restlessnessOfCompared(report, state);
}

/**
 * Out of step with the very revision that a sync has just brought about: the watch that tells Argo CD of the cluster has broken off. Not so
 * where Argo CD says that another Application manages an object by now: that one it sees.
 */
function restlessnessOfCompared(compared: Pick<KeptReport, "sync" | "conditions">, { phase, revision }: ParsedSync): "unseen" | undefined {
  const isUnseen = phase === "Succeeded" && compared.sync.status === "OutOfSync" && compared.sync.revision === revision;
  return isUnseen && !compared.conditions.some(({ type }) => type === "SharedResourceWarning") ? "unseen" : undefined;
}

/** Ends a sync that is under way. */
export const TERMINATE: PatchOperation = { op: "add", path: "/status/operationState/phase", value: "Terminating" };

/**
 * What brings a restless Application to rest: no sync begins by itself any more, one under way is stopped, Argo CD refreshes once more. It
 * refreshes an Application once at a time: when it has taken that request off, every refresh that began before is over.
 */
export function calm(observed: ObservedApplication, restlessness: Restlessness): readonly PatchOperation[] {
  return [
    ...(observed.isAutomated ? [{ op: "remove", path: "/spec/syncPolicy/automated" } as const] : []),
    ...(restlessness === "syncing" ? [TERMINATE] : []),
    ...(OBSERVATIONS.has(restlessness) && !observed.isRefreshing
      ? [{ op: "add", path: `/metadata/annotations/${escapePointer(ANNOTATION_REFRESH)}`, value: "normal" } as const]
      : []),
  ];
}

/** What is unseen is compared as soon as the cluster's watch is back, without a request. */
const OBSERVATIONS: ReadonlySet<Restlessness> = new Set(["automated", "unsettled"]);
