import type { Millis } from "../../../../domain/clock.ts";
import type { Assignment } from "../../../../domain/directive.ts";
import type { IntentStore, KnownApplication, KnownWorkspace, OverdueCascade, WorkspaceClasses } from "../../../intent/port.ts";
import type { Page } from "../../../operation/port.ts";
import type { Database, Statement } from "../database.ts";
import { groupsOfRow, type WorkspaceRow } from "../rows.ts";
import { instant, texts } from "../sql-values.ts";

const APPLICATIONS: Statement = {
  name: "list_known_applications",
  text: `
select a.id, a.uid, w.namespace, a.name, a.deleted_at, a.generation, a.spec ->> 'refresh' as refresh,
       case when a.deleted_at is null and w.state = 'active' then left(encode(sha256(convert_to(a.spec::text, 'UTF8')), 'hex'), 32) end as spec_hash
  from application a
 cross join lateral (select namespace, state from workspace where id = a.workspace and api_cluster = $1 offset 0) as w
 where a.id > $3
 order by a.id
 limit $2`,
};

const WORKSPACE = `
select w.id as "workspaceId", w.namespace, w.namespace_uid as "namespaceUid", w.state,
       array(select distinct coalesce(u.wanted_class, u.class) from placement_unit u where u.workspace = w.id order by 1)::text[] as classes,
       (select d.assigned from directive d where d.workspace = w.id) as assigned, w.apart as w_apart, w.together as w_together,
       (select l.labels from usage_label l where l.workspace = w.id) as labels`;

const WORKSPACES: Statement = {
  name: "list_known_workspaces",
  text: `${WORKSPACE}
  from (select * from workspace where api_cluster = $1 and id > $3 order by id limit $2) as w order by w.id`,
};

const WORKSPACES_OF: Statement = {
  name: "read_known_workspaces",
  text: `${WORKSPACE}
  from workspace w where w.api_cluster = $1 and w.namespace = any ($2::text[]) order by w.id`,
};

const CLASSES: Statement = {
  name: "list_classes",
  text: `
select w.namespace, w.namespace_uid as "namespaceUid",
       array(
         select distinct c.class from placement_unit u cross join unnest(array[u.class, u.wanted_class]) as c (class)
          where u.workspace = w.id and c.class is not null order by 1
       )::text[] as classes,
       (select d.assigned from directive d where d.workspace = w.id) as assigned
  from workspace w where w.api_cluster = $1 order by w.id`,
};

const OVERDUE: Statement = {
  name: "list_overdue_cascades",
  text: `
select a.uid, a.name, w.id as "workspaceId", w.namespace, a.environment
  from workspace w join application a on a.workspace = w.id
 where w.api_cluster = $1 and w.state = 'deleting' and a.deletion = 'cascade' and a.deleted_at < $2 and a.uid > $4
 order by a.uid
 limit $3`,
};

type Row = Omit<KnownApplication, "applicationId" | "deletedAt" | "refresh" | "specHash"> & {
  readonly id: KnownApplication["applicationId"];
  readonly deleted_at: Millis | null;
  readonly refresh: string | null;
  readonly spec_hash: string | null;
};

export async function listKnown(
  database: Database,
  apiCluster: string,
  { limit, after }: Page,
  signal: AbortSignal,
): Promise<readonly KnownApplication[]> {
  const rows = await database.run<Row>(APPLICATIONS, [apiCluster, limit, after], signal);
  return rows.map(({ id, uid, namespace, name, deleted_at, generation, refresh, spec_hash }) => ({
    applicationId: id,
    uid,
    namespace,
    name,
    deletedAt: deleted_at ?? undefined,
    generation,
    ...(refresh === null ? {} : { refresh }),
    ...(spec_hash === null ? {} : { specHash: spec_hash }),
  }));
}

export async function listOverdue(
  database: Database,
  { apiCluster, before, limit, after }: Parameters<IntentStore["listOverdue"]>[0],
  signal: AbortSignal,
): Promise<readonly OverdueCascade[]> {
  type Found = Omit<OverdueCascade, "environment"> & { readonly environment: string | null };
  const rows = await database.run<Found>(OVERDUE, [apiCluster, instant(before), limit, after], signal);
  return rows.map((row) => ({ ...row, environment: row.environment ?? undefined }));
}

type FoundWorkspace = Omit<KnownWorkspace, "assigned" | "labels" | "groups"> &
  Pick<WorkspaceRow, "w_apart" | "w_together"> & {
    readonly assigned: Assignment | null;
    readonly labels: NonNullable<KnownWorkspace["labels"]> | null;
  };

export async function listKnownWorkspaces(
  database: Database,
  apiCluster: string,
  { limit, after }: Page,
  signal: AbortSignal,
): Promise<readonly KnownWorkspace[]> {
  return knownWorkspaces(await database.run<FoundWorkspace>(WORKSPACES, [apiCluster, limit, after], signal));
}

export async function readKnownWorkspaces(
  database: Database,
  apiCluster: string,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<readonly KnownWorkspace[]> {
  return knownWorkspaces(await database.run<FoundWorkspace>(WORKSPACES_OF, [apiCluster, texts(namespaces)], signal));
}

function knownWorkspaces(rows: readonly FoundWorkspace[]): readonly KnownWorkspace[] {
  return rows.map(({ assigned, labels, w_apart, w_together, ...row }) => {
    const groups = groupsOfRow({ w_apart, w_together });
    return {
      ...row,
      ...(assigned === null ? {} : { assigned: assigned.class }),
      ...(labels === null ? {} : { labels }),
      ...(groups === undefined ? {} : { groups }),
    };
  });
}

export async function listClasses(database: Database, apiCluster: string, signal: AbortSignal): Promise<readonly WorkspaceClasses[]> {
  type Found = Omit<WorkspaceClasses, "assigned"> & { readonly assigned: Assignment | null };
  const rows = await database.run<Found>(CLASSES, [apiCluster], signal);
  return rows.map(({ assigned, ...row }) => ({ ...row, ...(assigned === null ? {} : { assigned: assigned.class }) }));
}
