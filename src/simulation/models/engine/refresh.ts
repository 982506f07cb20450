import { parseRfc3339, rfc3339 } from "../../../domain/clock.ts";
import { GoneError } from "../../../domain/errors.ts";
import { APPLICATIONS } from "../../../reconciler/adapters/kubernetes/types.ts";
import { sleep } from "../../../runtime/clock.ts";
import { type EngineApplication, isOperationUnderWay, REFRESH_ANNOTATION, type Source } from "./application.ts";
import type { LiveObject } from "./cluster-cache.ts";
import type { Engine } from "./parts.ts";

/** An Application without events is compared again after this time to one and a half times of it, in ms. */
const RECONCILIATION_MS = 120_000;
/** How long after a sync of the same revision self-healing waits at least, in ms; then the Application refreshes by itself. */
const SELF_HEAL_MS = 5_000;

interface Comparison {
  readonly sync: "Synced" | "OutOfSync" | "Unknown";
  readonly revision: string;
  readonly isHealthy: boolean;
  readonly resources: readonly object[];
  readonly conditions: readonly { readonly type: string; readonly message: string }[];
}

/** Compares one Application with Git and with the cache, begins a sync if it is automated, and writes its status. */
export async function refresh(engine: Engine, name: string): Promise<void> {
  const { party, signal } = engine;
  const application = engine.application(name);
  if (application === undefined) return;
  const [least, most] = engine.comparisonMs;
  await sleep(party.clock, least + party.rng.next() * (most - least), signal);
  const comparison = compare(engine, application);
  if (comparison.sync === "OutOfSync") await syncByItself(engine, application, comparison.revision);
  await say(engine, application, comparison);
  engine.resync(name, RECONCILIATION_MS * (1 + party.rng.next() / 2));
}

function compare(engine: Engine, { metadata, spec }: EngineApplication): Comparison {
  const unknown = (message: string): Comparison => ({
    ...{ sync: "Unknown", revision: "", isHealthy: false, resources: [] },
    conditions: [{ type: "InvalidSpecError", message }],
  });
  const project = engine.project(spec.project);
  if (project === undefined) return unknown(`Application references project ${spec.project} which does not exist`);
  if (!engine.knowsServer(spec.destination.server) || !engine.cache.isReady())
    return unknown(`there are no clusters with this URL: ${spec.destination.server}`);
  if (!(project.spec?.sourceRepos ?? []).includes(spec.source.repoURL)) return unknown("application repo is not permitted in project");
  const wanted = Object.entries(engine.git.files(spec.source.path));
  const live = engine.cache.owned(metadata.name);
  const missing = wanted.filter(([file, content]) => !isThere(live, file, content));
  const surplus = live.filter(({ name }) => !wanted.some(([file]) => file === name));
  return {
    sync: missing.length + surplus.length === 0 ? "Synced" : "OutOfSync",
    revision: engine.git.head(spec.source.path),
    // A missing object shows in the sync status; in the health only if no object is live.
    isHealthy: wanted.length === 0 || live.length > 0,
    resources: wanted.map(([file]) => ({
      version: "v1",
      kind: "ConfigMap",
      namespace: spec.destination.namespace,
      name: file,
      status: "Synced",
    })),
    conditions: [],
  };
}

function isThere(live: readonly LiveObject[], name: string, content: string): boolean {
  return live.some((each) => each.name === name && each.content === content && !each.isDeleting);
}

/** Sets an operation unless one is under way or this revision was just tried. */
async function syncByItself(engine: Engine, { metadata, spec }: EngineApplication, revision: string): Promise<void> {
  const { own, party, signal, namespace } = engine;
  if (spec.syncPolicy?.automated === undefined || metadata.deletionTimestamp !== undefined) return;
  const at = { namespace, name: metadata.name };
  const fresh = await own.get<EngineApplication>(APPLICATIONS, at, signal);
  if (fresh === undefined || isOperationUnderWay(fresh)) return;
  const { operationState } = fresh.status ?? {};
  // Whether this was tried already is decided by revision and source; if the status has no source, by the revision alone.
  const { revision: tried, source = spec.source } = operationState?.syncResult ?? {};
  const isSame = tried === revision && isSameSource(source, spec.source);
  // A revision that failed is not tried again by itself, self-heal or not: the next commit is.
  if (isSame && operationState?.phase !== "Succeeded") return;
  const sinceMs = party.clock.now() - (parseRfc3339(operationState?.finishedAt ?? "") ?? 0);
  if (isSame && sinceMs < SELF_HEAL_MS) return engine.requestRefresh(metadata.name, SELF_HEAL_MS - sinceMs);
  const { retry = {}, syncOptions = [] } = spec.syncPolicy;
  // From the Application as it was compared, which may be outdated.
  const operation = { initiatedBy: { automated: true }, retry, sync: { revision, prune: true, source: spec.source, syncOptions } };
  const { uid, resourceVersion } = fresh.metadata;
  // Like the controller's own GET and PUT: a write in between makes this one fail, and the next refresh decides anew.
  await own
    .mergePatch(APPLICATIONS, at, { metadata: { uid, resourceVersion }, operation, status: { operationState: null } }, signal)
    .catch(ignoreGone);
}

function isSameSource(one: Source, other: Source): boolean {
  return one.repoURL === other.repoURL && one.path === other.path && one.targetRevision === other.targetRevision;
}

async function say(
  { own, party, signal, namespace }: Engine,
  { metadata, spec }: EngineApplication,
  comparison: Comparison,
): Promise<void> {
  const { sync, revision, isHealthy, resources, conditions } = comparison;
  const status = {
    sync: { status: sync, revision, comparedTo: { source: spec.source, destination: spec.destination } },
    health: { status: sync === "Unknown" ? "Unknown" : isHealthy ? "Healthy" : "Missing" },
    resources,
    conditions: conditions.length === 0 ? null : conditions,
    reconciledAt: rfc3339(party.clock.now()),
  };
  const isAsked = metadata.annotations?.[REFRESH_ANNOTATION] !== undefined;
  const patch = { status, ...(isAsked ? { metadata: { annotations: { [REFRESH_ANNOTATION]: null } } } : {}) };
  await own.mergePatch(APPLICATIONS, { namespace, name: metadata.name }, patch, signal).catch(ignoreGone);
}

/** An Application that is gone by now needs nothing more. */
export function ignoreGone(error: unknown): undefined {
  if (error instanceof GoneError) return undefined;
  throw error;
}
