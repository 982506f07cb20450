import { isOfEngine, isOfEngineCluster } from "../domain/engine-sentences.ts";
import { escapePointer, guards, type PatchOperation } from "./diff-object.ts";
import { ANNOTATION_ARRIVING, ANNOTATION_NUDGED, ANNOTATION_PAUSE, ANNOTATION_REFRESH } from "./names.ts";
import { isFinalizerOfArgo, type ObservedApplication } from "./parse-application.ts";
import { isUnderWay } from "./parse-sync.ts";

/** When an Application is to be nudged next, on a clock that only grows, in ms, and how long after that once more. */
export interface Waiting {
  readonly dueMs: number;
  readonly apartMs: number;
  /** As it was then. */
  readonly version: string;
  readonly nudge: string | undefined;
}

export type AwaitedRefresh = Pick<ObservedApplication, "resourceVersion" | "annotations">;

/** A refresh takes 0.1 s where all is well and 3 s on a machine that is full, and a sync begins as soon; beyond this one has been overlooked, or the controller is busy. */
export const FIRST_NUDGE_MS = 6_000;
/** A controller that has stopped, or has thousands of others to refresh first, is not helped by more. */
export const MOST_APART_MS = 5 * 60_000;
/** How many Applications one check writes to. */
export const NUDGES_AT_ONCE = 10;
/** The same of those that an outage has left: a controller that restarts beside its repo-server leaves all of its Applications so. */
export const OUTAGES_AT_ONCE = 50;

/**
 * Whether the instance's controller is expected to refresh an Application that it was asked to refresh, or to end one that is being deleted.
 *
 * Argo CD can overlook either: it writes what it has just stored back into its own cache, also over a newer version that the watch has
 * put there meanwhile. The request then stands in the cluster and not in that cache, until something else changes the object or minutes
 * have passed (`writeBackToInformer` in its application controller). The same holds for a refresh that ended with an error of the repository.
 */
export function isAwaited({ isRefreshing, isDeleting, finalizers, annotations }: ObservedApplication): boolean {
  const isDue = isDeleting ? finalizers.some(isFinalizerOfArgo) : isRefreshing;
  return isDue && annotations[ANNOTATION_PAUSE] === undefined;
}

/** A first refresh ends within this, in ms; Argo CD's times have whole seconds. */
const FIRST_OBSERVATION_MS = 10_000;

/**
 * Whether Argo CD's first refresh of an Application came too soon: its own copy of the repository's Secret may lag behind the Application that
 * was created after it. What it then says of a repository that it could not read stands until its periodic refresh, minutes later. It is asked
 * to refresh once more, and no third time: what was nudged before has been refreshed since.
 */
export function isBlindAtBirth({ report, createdAt, isRefreshing, isDeleting, annotations }: ObservedApplication): boolean {
  if (isRefreshing || isDeleting || annotations[ANNOTATION_PAUSE] !== undefined || annotations[ANNOTATION_NUDGED] !== undefined)
    return false;
  if (report?.reconciledAt === undefined || createdAt === undefined || report.reconciledAt - createdAt > FIRST_OBSERVATION_MS) return false;
  return report.conditions.some(({ type }) => type === "ComparisonError");
}

/** Whether Argo CD neither compares nor syncs an Application: it ends, is paused, or is on its way to this instance. */
function isLeftAlone({ isDeleting, annotations }: ObservedApplication): boolean {
  return isDeleting || annotations[ANNOTATION_PAUSE] !== undefined || annotations[ANNOTATION_ARRIVING] !== undefined;
}

/**
 * Whether Argo CD has yet to compare what a sync of it has brought about. It asks itself for that when the sync ends, and forgets it when it is
 * restarted then: what the user reads (`OutOfSync`) would stand until its periodic refresh, minutes later. A refresh that began in the second in
 * which the sync ended may have been too early.
 */
export function isUnseenSync(seen: ObservedApplication): boolean {
  if (isLeftAlone(seen)) return false;
  const { report, sync } = seen;
  const { operation, state } = sync;
  if (operation !== undefined || state?.finishedAt === undefined || report?.reconciledAt === undefined) return false;
  const { conditions, sync: compared, reconciledAt } = report;
  // What it refuses to refresh it does not compare.
  if (conditions.some(({ type }) => type === "InvalidSpecError")) return false;
  return reconciledAt < state.finishedAt || (reconciledAt === state.finishedAt && compared.status === "OutOfSync");
}

/**
 * Whether a sync was asked for that the controller has not begun, whoever asked: Argo CD does so by the same field. It can overlook that as it overlooks a
 * request to refresh (see {@link isAwaited}), and begins it at its periodic refresh, minutes later.
 */
export function isUnbegunSync(seen: ObservedApplication): boolean {
  if (isLeftAlone(seen)) return false;
  const { operation, state } = seen.sync;
  return operation !== undefined && (state === undefined || !isUnderWay(state));
}

/** Conditions with which Argo CD says that it could not compare. */
const NOT_COMPARED: readonly string[] = ["ComparisonError", "UnknownError"];

/**
 * Whether Argo CD could not compare an Application because of a part of its own: a repo-server that was restarted, a cache of the API cluster that was
 * being filled. What it says then (`Unknown`) stands until its periodic refresh, minutes after the part is back. Of an environment's cluster its user
 * sees to it.
 */
export function isLeftByOutage(seen: ObservedApplication): boolean {
  if (isLeftAlone(seen)) return false;
  const { report, entersBy } = seen;
  const said = report?.conditions.filter(({ type }) => NOT_COMPARED.includes(type)) ?? [];
  return said.some(({ message }) => isOfEngine(message) || (entersBy === undefined && isOfEngineCluster(message)));
}

/** Whether Argo CD was asked for something, by us or by itself, and has not done it. It may be about to. */
export function isOverlooked(seen: ObservedApplication): boolean {
  return isAwaited(seen) || isBlindAtBirth(seen) || isUnseenSync(seen) || isUnbegunSync(seen);
}

/** Whether an Application may have to be nudged, now or later. It depends on nothing but the Application, so that those few can be kept as they change. */
export function isUnanswered(seen: ObservedApplication): boolean {
  return isOverlooked(seen) || isLeftByOutage(seen);
}

/**
 * Decides which of the awaited Applications are nudged now, by name, and forgets the others; `before` is the result of the last check. Whatever
 * others change of an Application is as good as a nudge, so that waiting begins anew.
 */
export function nextNudges(
  before: ReadonlyMap<string, Waiting>,
  awaited: ReadonlyMap<string, AwaitedRefresh>,
  nowMs: number,
  atOnce = NUDGES_AT_ONCE,
): { readonly waiting: ReadonlyMap<string, Waiting>; readonly due: readonly string[] } {
  const known = new Map([...awaited].map(([name, seen]) => [name, recognise(before.get(name), seen)]));
  const due = [...known].filter(([, waiting]) => waiting !== undefined && waiting.dueMs <= nowMs).slice(0, atOnce);
  const isDue = new Set(due.map(([name]) => name));
  const next = ([name, seen]: readonly [string, AwaitedRefresh]): readonly [string, Waiting] => {
    const waiting = known.get(name);
    const apartMs = waiting === undefined ? FIRST_NUDGE_MS : Math.min(MOST_APART_MS, waiting.apartMs * 2);
    const stays = waiting !== undefined && !isDue.has(name);
    return [name, { ...(stays ? waiting : { dueMs: nowMs + apartMs, apartMs }), ...markOf(seen) }];
  };
  return { waiting: new Map([...awaited].map(next)), due: due.map(([name]) => name) };
}

function recognise(waiting: Waiting | undefined, seen: AwaitedRefresh): Waiting | undefined {
  const now = markOf(seen);
  return waiting !== undefined && waiting.version !== now.version && waiting.nudge === now.nudge ? undefined : waiting;
}

function markOf({ resourceVersion, annotations }: AwaitedRefresh): Pick<Waiting, "version" | "nudge"> {
  return { version: resourceVersion, nudge: annotations[ANNOTATION_NUDGED] };
}

/**
 * Changes nothing but that there is a change, which puts a request that stands, a deletion or a sync that was asked for into the controller's cache again; where
 * none of these stands, a request to refresh is made.
 */
export function planNudge(observed: ObservedApplication): readonly PatchOperation[] {
  const path = (name: string): string => `/metadata/annotations/${escapePointer(name)}`;
  const nudged: PatchOperation = { op: "add", path: path(ANNOTATION_NUDGED), value: observed.resourceVersion };
  const asked: PatchOperation = { op: "add", path: path(ANNOTATION_REFRESH), value: "normal" };
  const isAsked = observed.isRefreshing || observed.isDeleting || isUnbegunSync(observed);
  return [...guards(observed), nudged, ...(isAsked ? [] : [asked])];
}
