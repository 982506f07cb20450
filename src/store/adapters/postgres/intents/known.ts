import type { Millis } from "../../../../domain/clock.ts";
import type { KnownApplication, KnownWorkspace } from "../../../intent/port.ts";
import type { Database, Statement } from "../database.ts";

const APPLICATIONS: Statement = {
  name: "list_known_applications",
  text: `
select a.id, a.uid, w.namespace, a.name, a.deleted_at
  from application a join workspace w on w.id = a.workspace
 where w.api_cluster = $1
 order by a.id`,
};

const WORKSPACES: Statement = {
  name: "list_known_workspaces",
  text: `select id as "workspaceId", namespace, namespace_uid as "namespaceUid", state from workspace where api_cluster = $1 order by id`,
};

type Row = Omit<KnownApplication, "applicationId" | "deletedAt"> & {
  readonly id: KnownApplication["applicationId"];
  readonly deleted_at: Millis | null;
};

export async function listKnown(database: Database, apiCluster: string, signal: AbortSignal): Promise<readonly KnownApplication[]> {
  const rows = await database.run<Row>(APPLICATIONS, [apiCluster], signal);
  return rows.map(({ id, uid, namespace, name, deleted_at }) => ({
    applicationId: id,
    uid,
    namespace,
    name,
    deletedAt: deleted_at ?? undefined,
  }));
}

export function listKnownWorkspaces(database: Database, apiCluster: string, signal: AbortSignal): Promise<readonly KnownWorkspace[]> {
  return database.run<KnownWorkspace>(WORKSPACES, [apiCluster], signal);
}
