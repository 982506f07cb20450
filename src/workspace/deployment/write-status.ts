import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import { createBatcher } from "../../runtime/batcher.ts";
import type { IntentStore, Publication, UserView } from "../../store/intent/port.ts";
import { describeSpan } from "../../telemetry/tracing.ts";
import { parseKey } from "../keys.ts";
import type { UserResources } from "../port.ts";
import { type ComposedStatus, composeStatus, whyPublish } from "../status/deployment-status.ts";
import { quotaOf, type WorkspacePolicy } from "../workspace-policy.ts";
import type { RowIndex } from "./row-index.ts";

export interface StatusWorkDeps {
  readonly intents: IntentStore;
  readonly resources: UserResources;
  readonly rows: RowIndex;
  readonly policy: () => WorkspacePolicy;
  /** Applications that the store lists as not published yet; each is taken out when it is. */
  readonly unpublished: Set<ApplicationId>;
  readonly clock: Clock;
}

/** Rows read, and publications recorded, in one statement. */
const BATCH = 200;

/** Makes the status of one resource say what its row and its instance say. Key: `cluster|namespace|name`. */
export function createStatusWork(deps: StatusWorkDeps): (key: string, signal: AbortSignal) => Promise<void> {
  const { intents, resources, rows, unpublished, clock } = deps;
  const views = createBatcher<string, UserView | undefined>({ maxSize: BATCH, key: (uid) => uid, flush: readViews });
  const publish = createBatcher<Publication, undefined>({
    maxSize: BATCH,
    key: ({ applicationId }) => applicationId,
    flush: recordPublished,
  });

  async function reconcile(key: string, signal: AbortSignal): Promise<void> {
    const at = parseKey(key);
    const seen = resources.deployment(at);
    if (seen === undefined) return;
    const view = await views.add(seen.uid, signal);
    // Our own last write may have arrived while the row was read.
    const resource = resources.deployment(at);
    if (resource?.uid !== seen.uid) return;
    if (view !== undefined) rows.recorded(key, { uid: resource.uid, applicationId: view.application.id });
    describeSpan({ "argosy.application.uid": resource.uid, "argosy.application.id": view?.application.id });
    const policy = deps.policy();
    const { deployments: mayHave } = quotaOf(resources.namespace(at.namespace), policy);
    const siblings = resources.deployments(at.namespace);
    const composed = composeStatus({ resource, siblings, isAdmitted: rows.isAdmitted, mayHave, record: view, policy }, clock.now());
    const isListed = view !== undefined && unpublished.has(view.application.id);
    const why = whyPublish({ resource, composed, publishedHash: view?.publishedHash });
    if (why !== undefined) await resources.patchStatus(resource, composed.status, signal);
    if (view !== undefined && (why !== undefined || isListed)) await recordView(view, composed, signal);
  }

  async function recordView({ application, viewRevision }: UserView, { hash }: ComposedStatus, signal: AbortSignal): Promise<void> {
    await publish.add({ applicationId: application.id, hash, viewRevision }, signal);
    unpublished.delete(application.id);
  }

  async function readViews(uids: readonly string[], signal: AbortSignal): Promise<readonly (UserView | undefined)[]> {
    const found = new Map((await intents.readByUids(uids, signal)).map((view) => [view.application.uid, view]));
    return uids.map((uid) => found.get(uid));
  }

  async function recordPublished(batch: readonly Publication[], signal: AbortSignal): Promise<readonly undefined[]> {
    await intents.recordPublished(batch, signal);
    return batch.map(() => undefined);
  }

  return reconcile;
}
