import type { KubeClient } from "./client.ts";
import type { ResourceType } from "./resource.ts";

export const NAMESPACES: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

/** Which namespace has a name now, as the API server says: what watches show may be behind. `undefined`: there is none. */
export async function readNamespace(
  client: KubeClient,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly uid: string | undefined; readonly isDeleting: boolean } | undefined> {
  const metadata = (await client.get(NAMESPACES, { namespace: "", name }, signal))?.metadata;
  return metadata && { uid: metadata.uid, isDeleting: metadata.deletionTimestamp !== undefined };
}
