import { findByPrefix, pageFromId } from "../api/find.ts";
import type { WorkspaceView } from "../api/schema.ts";
import type { RestClient } from "./rest-client.ts";

/** Workspaces of a namespace (one that was deleted and made again has several), or the one whose id begins like this; all of them where nobody names one. */
export async function listWorkspaces(client: RestClient, name: string | undefined): Promise<readonly WorkspaceView[]> {
  const found = await client.all<WorkspaceView>("/v1/workspaces", { namespace: name });
  const page = name === undefined || found.length > 0 ? undefined : pageFromId(name);
  if (name === undefined || page === undefined) return found;
  const { items } = await client.get<{ readonly items: readonly WorkspaceView[] }>("/v1/workspaces", { ...page });
  const one = findByPrefix("workspace", name, items);
  return one === undefined ? [] : [one];
}
