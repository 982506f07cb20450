import { rfc3339 } from "../../../domain/clock.ts";
import { RefusedError } from "../../../domain/errors.ts";
import { APPLICATIONS } from "../../../reconciler/adapters/kubernetes/types.ts";
import { sleep } from "../../../runtime/clock.ts";
import { IMPERSONATE } from "../authority.ts";
import { type Application, type OperationState, TRACKING, trackingId } from "./application.ts";
import { CONFIG_MAPS, type LiveObject } from "./cluster-cache.ts";
import type { Engine } from "./parts.ts";
import { ignoreGone } from "./refresh.ts";

/** Between two waves of a sync the operation waits that long, in ms. */
const WAVE_MS = 300;
const RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 180_000;

/**
 * Takes up the operation an Application asks for, or goes on with it: one object after the other, as the account the project names.
 * A refusal makes it wait and try again under the same revision; it stays `Running` meanwhile, with `finishedAt`.
 */
export async function operate(engine: Engine, name: string): Promise<void> {
  const { own, namespace, signal } = engine;
  const at = { namespace, name };
  const application = await own.get<Application>(APPLICATIONS, at, signal);
  if (application?.operation === undefined) return;
  const state = application.status?.operationState;
  if (state?.phase === "Terminating") return finish(engine, application, { ...state, phase: "Failed", message: "Operation terminated" });
  const running = await begin(engine, application);
  const refusal = await sync(engine, application);
  if (refusal === undefined) return finish(engine, application, { ...running, phase: "Succeeded", message: "successfully synced" });
  const retryCount = (running.retryCount ?? 0) + 1;
  const limit = application.operation.retry?.limit ?? 0;
  if (limit >= 0 && retryCount > limit) return finish(engine, application, { ...running, phase: "Failed", message: refusal });
  await write(engine, name, { status: { operationState: { ...running, retryCount, message: refusal, finishedAt: now(engine) } } });
  engine.requestOperation(name, Math.min(RETRY_MS * 2 ** retryCount, LONGEST_RETRY_MS));
}

async function begin(engine: Engine, { metadata, operation, status }: Application): Promise<OperationState> {
  const before = status?.operationState;
  const state: OperationState =
    before?.phase === "Running" ? before : { phase: "Running", ...(operation === undefined ? {} : { operation }), startedAt: now(engine) };
  if (before?.phase !== "Running") await write(engine, metadata.name, { status: { operationState: state } });
  return state;
}

/** One pass over what Git wants and what is too much. Returns why it could not be done. */
async function sync(engine: Engine, { metadata, spec, operation }: Application): Promise<string | undefined> {
  const account = accountOf(engine, spec);
  if (account === undefined || !engine.knowsServer(spec.destination.server)) return "the destination is not known";
  const wanted = Object.entries(engine.git.files(spec.source.path));
  const surplus = engine.cache.owned(metadata.name).filter((each) => !wanted.some(([file]) => file === each.name));
  try {
    for (const [file, content] of wanted) {
      await apply(engine, { application: metadata.name, account, namespace: spec.destination.namespace, name: file, content });
      await sleep(engine.party.clock, engine.party.rng.next() * WAVE_MS, engine.signal);
    }
    if (operation?.sync?.prune === true) for (const each of surplus) await remove(engine, account, each);
    return undefined;
  } catch (error) {
    if (error instanceof RefusedError) return error.message;
    throw error;
  }
}

interface Wish {
  readonly application: string;
  readonly account: string;
  readonly namespace: string;
  readonly name: string;
  readonly content: string;
}

async function apply({ managed, signal }: Engine, { application, account, namespace, name, content }: Wish): Promise<void> {
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

/** Deletes an object as the unit's account; gone is as good. */
export async function remove(
  { managed, signal }: Engine,
  account: string,
  { namespace, name }: Pick<LiveObject, "namespace" | "name">,
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/${CONFIG_MAPS.plural}/${name}`;
  await managed
    .request({ method: "DELETE", path, headers: { [IMPERSONATE]: account }, body: {}, idempotent: true }, signal)
    .catch(ignoreGone);
}

/** Name of the account the project says to act as in the destination; its namespace is the same for all. */
export function accountOf(engine: Engine, { project, destination }: Application["spec"]): string | undefined {
  const accounts = engine.project(project)?.spec?.destinationServiceAccounts ?? [];
  return accounts.find(({ namespace }) => namespace === destination.namespace)?.defaultServiceAccount.split(":")[1];
}

async function finish(engine: Engine, { metadata, operation, spec }: Application, state: OperationState): Promise<void> {
  const syncResult = { revision: operation?.sync?.revision ?? engine.git.head(spec.source.path) };
  await write(engine, metadata.name, { operation: null, status: { operationState: { ...state, finishedAt: now(engine), syncResult } } });
  engine.requestRefresh(metadata.name);
}

async function write({ own, namespace, signal }: Engine, name: string, patch: object): Promise<void> {
  await own.mergePatch(APPLICATIONS, { namespace, name }, patch, signal).catch(ignoreGone);
}

function now({ party }: Engine): string {
  return rfc3339(party.clock.now());
}
