import { parseRfc3339, rfc3339 } from "../../../domain/clock.ts";
import { RefusedError, UnavailableError } from "../../../domain/errors.ts";
import { APPLICATIONS } from "../../../reconciler/adapters/kubernetes/types.ts";
import { sleep } from "../../../runtime/clock.ts";
import { IMPERSONATE } from "../authority.ts";
import { type EngineApplication, type EngineOperationState, type Source, TRACKING, trackingId } from "./application.ts";
import { CONFIG_MAPS, type LiveObject } from "./cluster-cache.ts";
import type { Engine } from "./parts.ts";
import { ignoreGone } from "./refresh.ts";

/** How long the operation waits between two waves of a sync, in ms, at most. */
const WAVE_MS = 300;
/** Content of an object that is always refused. */
export const REFUSED = "refused";
const RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 180_000;

/**
 * Takes up the operation that an Application asks for, or goes on with it: one wave at a time, as the account that the project names. After
 * a wave it writes its progress, and the event of that write brings it back; so one that is paused meanwhile stands still for ever. An
 * attempt that fails is retried after a while, with the same revision or the newest, as the operation says, and with the source that it
 * began with. Meanwhile its phase stays `Running`, with `finishedAt`.
 */
export async function operate(engine: Engine, name: string): Promise<void> {
  const { own, namespace, signal } = engine;
  const application = await own.get<EngineApplication>(APPLICATIONS, { namespace, name }, signal);
  if (application?.operation === undefined) return;
  const state = application.status?.operationState;
  if (state?.phase === "Terminating") return finish(engine, application, { ...state, phase: "Failed", message: "Operation terminated" });
  const waitMs = retryAfterMs(state) - (engine.party.clock.now() - (parseRfc3339(state?.finishedAt ?? "") ?? 0));
  if (state?.phase === "Running" && waitMs > 0) return engine.requestOperation(name, waitMs);
  const running = await begin(engine, application);
  const source = sourceOf(application);
  const wave = await nextWave(engine, application, running);
  if (wave.kind === "failed") return fail(engine, application, { ...running, message: wave.message });
  if (wave.left === 0) return finish(engine, application, { ...running, phase: "Succeeded", message: "successfully synced" });
  // As in Argo CD: an end that somebody asked for meanwhile is not overruled.
  const fresh = await own.get<EngineApplication>(APPLICATIONS, { namespace, name }, signal);
  if (fresh?.status?.operationState?.phase === "Terminating") return engine.requestOperation(name);
  const { namespace: to } = application.spec.destination;
  const resources = wave.done.map((file) => ({ version: "v1", kind: "ConfigMap", namespace: to, name: file, status: "Synced" }));
  await write(engine, name, { status: { operationState: { ...running, syncResult: { source, resources } } } });
}

/** How long after the end of a failed attempt the next one begins, in ms; 0 while none has failed. */
function retryAfterMs(state: EngineOperationState | undefined): number {
  if (state?.finishedAt === undefined) return 0;
  return Math.min(RETRY_MS * 2 ** (state.retryCount ?? 0), LONGEST_RETRY_MS);
}

async function fail(engine: Engine, application: EngineApplication, running: EngineOperationState): Promise<void> {
  const retryCount = (running.retryCount ?? 0) + 1;
  const limit = application.operation?.retry?.limit ?? 0;
  if (limit >= 0 && retryCount > limit) return finish(engine, application, { ...running, phase: "Failed" });
  const operationState = { ...running, retryCount, finishedAt: now(engine), syncResult: null };
  await write(engine, application.metadata.name, { status: { operationState } });
  engine.requestOperation(application.metadata.name, Math.min(RETRY_MS * 2 ** retryCount, LONGEST_RETRY_MS));
}

async function begin(engine: Engine, { metadata, operation, status }: EngineApplication): Promise<EngineOperationState> {
  const before = status?.operationState;
  const { finishedAt: ended, ...rest } = before ?? {};
  const state: EngineOperationState =
    before?.phase === "Running" ? rest : { phase: "Running", ...(operation === undefined ? {} : { operation }), startedAt: now(engine) };
  const syncResult = before?.phase === "Running" ? {} : { syncResult: null };
  const patch = { status: { operationState: { ...state, ...syncResult, finishedAt: null } } };
  if (before?.phase !== "Running" || ended !== undefined) await write(engine, metadata.name, patch);
  return state;
}

type Wave =
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "done"; readonly done: readonly string[]; readonly left: number };

/** Applies the first object that this attempt has not applied yet; with the last one it prunes what Git does not have. */
async function nextWave(engine: Engine, application: EngineApplication, running: EngineOperationState): Promise<Wave> {
  const { metadata, spec, operation } = application;
  const account = accountOfProject(engine, spec);
  if (account === undefined || !engine.knowsServer(spec.destination.server))
    return { kind: "failed", message: "the destination is not known" };
  const wanted = Object.entries(engine.git.files(sourceOf(application).path, revisionOf(operation, running)));
  const surplus = engine.cache.owned(metadata.name).filter((each) => !wanted.some(([file]) => file === each.name));
  const before = (running.syncResult?.resources ?? []).map(({ name }) => name);
  const [next, ...left] = wanted.filter(([file]) => !before.includes(file));
  try {
    if (next !== undefined) {
      const [name, content] = next;
      if (content === REFUSED) return { kind: "failed", message: `${name} is refused` };
      await apply(engine, { application: metadata.name, account, namespace: spec.destination.namespace, name, content });
      await sleep(engine.party.clock, engine.party.rng.next() * WAVE_MS, engine.signal);
    }
    if (left.length === 0 && operation?.sync?.prune === true) for (const each of surplus) await removeObject(engine, account, each);
    return { kind: "done", done: [...before, ...(next === undefined ? [] : [next[0]])], left: left.length };
  } catch (error) {
    if (error instanceof RefusedError || error instanceof UnavailableError) return { kind: "failed", message: error.message };
    throw error;
  }
}

interface Request {
  readonly application: string;
  readonly account: string;
  readonly namespace: string;
  readonly name: string;
  readonly content: string;
}

async function apply({ managed, signal }: Engine, { application, account, namespace, name, content }: Request): Promise<void> {
  const annotations = { [TRACKING]: trackingId(application, namespace, name) };
  await managed.request(
    {
      ...{ method: "PATCH", path: `/api/v1/namespaces/${namespace}/configmaps/${name}`, contentType: "application/apply-patch+yaml" },
      ...{ query: { fieldManager: "argocd-controller", force: true }, headers: { [IMPERSONATE]: account }, idempotent: true },
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name, annotations }, data: { content } },
    },
    signal,
  );
}

/** Deletes an object as the unit's account; it may be gone already. */
export async function removeObject(
  { managed, signal }: Engine,
  account: string,
  { namespace, name }: Pick<LiveObject, "namespace" | "name">,
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/${CONFIG_MAPS.plural}/${name}`;
  await managed
    .request({ method: "DELETE", path, headers: { [IMPERSONATE]: account }, body: {}, idempotent: true }, signal)
    .catch(ignoreGone);
}

/** The account that the project names for the destination, with the user name that API servers know. */
export function accountOfProject(engine: Engine, { project, destination }: EngineApplication["spec"]): string | undefined {
  const accounts = engine.project(project)?.spec?.destinationServiceAccounts ?? [];
  const account = accounts.find(({ namespace }) => namespace === destination.namespace)?.defaultServiceAccount;
  return account === undefined ? undefined : `system:serviceaccount:${account}`;
}

/** `undefined`: the newest. */
function revisionOf(operation: EngineApplication["operation"], { retryCount = 0 }: EngineOperationState): string | undefined {
  return retryCount > 0 && operation?.retry?.refresh === true ? undefined : operation?.sync?.revision;
}

/** What an operation deploys: the source that it began with. */
function sourceOf({ operation, spec }: Pick<EngineApplication, "operation" | "spec">): Source {
  return operation?.sync?.source ?? spec.source;
}

async function finish(engine: Engine, application: EngineApplication, state: EngineOperationState): Promise<void> {
  const { metadata, operation } = application;
  const source = sourceOf(application);
  const syncResult = { revision: revisionOf(operation, state) ?? engine.git.head(source.path), source, resources: null };
  await write(engine, metadata.name, { operation: null, status: { operationState: { ...state, finishedAt: now(engine), syncResult } } });
  engine.requestRefresh(metadata.name);
}

async function write({ own, namespace, signal }: Engine, name: string, patch: object): Promise<void> {
  await own.mergePatch(APPLICATIONS, { namespace, name }, patch, signal).catch(ignoreGone);
}

function now({ party }: Engine): string {
  return rfc3339(party.clock.now());
}
