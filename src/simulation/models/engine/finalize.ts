import { APPLICATIONS } from "../../../reconciler/adapters/kubernetes/types.ts";
import { CASCADE, type EngineApplication, isCascading } from "./application.ts";
import { accountOfProject, removeObject } from "./operate.ts";
import type { Engine } from "./parts.ts";
import { ignoreGone } from "./refresh.ts";

/**
 * Ends an Application that is being deleted with a cascade: deletes the objects that the cache shows as its own, and takes the finalizer
 * off once the cache shows none. Objects that the cache has not learnt of yet stay. If the destination is gone, nothing is deleted. An
 * operation comes first.
 */
export async function finalize(engine: Engine, name: string): Promise<void> {
  const { own, namespace, signal } = engine;
  const at = { namespace, name };
  const application = await own.get<EngineApplication>(APPLICATIONS, at, signal);
  if (application === undefined || application.operation !== undefined || !isCascading(application)) return;
  const { spec, metadata } = application;
  if (engine.project(spec.project) === undefined) throw new Error(`the project ${spec.project} is not there`);
  if (engine.knowsServer(spec.destination.server)) {
    if (!engine.cache.isReady()) return engine.requestOperation(name, 1_000);
    const owned = engine.cache.owned(name);
    const account = accountOfProject(engine, spec) ?? "";
    for (const each of owned) if (!each.isDeleting) await removeObject(engine, account, each);
    // A change of the cache brings it back; this is for the case that none comes, as a resync would.
    if (owned.length > 0) return engine.requestOperation(name, 10_000);
  }
  const finalizers = (metadata.finalizers ?? []).filter((each) => !each.startsWith(CASCADE));
  await own.mergePatch(APPLICATIONS, at, { metadata: { uid: metadata.uid, finalizers } }, signal).catch(ignoreGone);
}
