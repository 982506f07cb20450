import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { findApplication, until, type World } from "./world.ts";

/** The present or last sync of an Application, as Argo CD reports it. */
export interface SyncState {
  readonly phase?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly message?: string;
  readonly operation?: { readonly sync?: { readonly syncOptions?: readonly string[] } };
}

/** The same for a deployment, wherever in the fleet its Application is. */
export async function syncStateOf(world: World, namespace: string, name: string): Promise<SyncState | undefined> {
  const application = (await findApplication(world, namespace, name)) as
    | (KubeObject & { readonly status?: { readonly operationState?: SyncState } })
    | undefined;
  return application?.status?.operationState;
}

/** Waits until a sync has failed and is to be retried, with this text if given. */
export const syncFailing = (world: World, namespace: string, name: string, words = ""): Promise<SyncState | undefined> =>
  until(
    `a sync of ${namespace}/${name} that waits for its next attempt`,
    () => syncStateOf(world, namespace, name),
    (now) => now?.phase === "Running" && now.finishedAt !== undefined && (now.message ?? "").includes(words),
  );
