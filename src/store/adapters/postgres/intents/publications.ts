import type { ApplicationId } from "../../../../domain/ids.ts";
import type { Publication } from "../../../intent/port.ts";
import type { Page } from "../../../operation/port.ts";
import type { Database, Statement } from "../database.ts";
import { numbers, sortedBy, texts } from "../sql-values.ts";

/** The condition on the revisions is that of the index `application_status_unpublished`, letter by letter. */
const LIST_UNPUBLISHED: Statement = {
  name: "list_unpublished",
  text: `
select s.application
  from application_status s
 cross join lateral (select workspace from application where id = s.application offset 0) as a
 cross join lateral (select id from workspace where id = a.workspace and api_cluster = $1 offset 0) as w
 where s.view_revision > s.published_revision and s.application > $3
 order by s.application
 limit $2`,
};

const RECORD: Statement = {
  name: "record_published",
  text: `
insert into application_status as a (application, unit, published_hash, published_revision)
select i.application, s.unit, i.hash, coalesce(i.view_revision, s.view_revision)
  from unnest($1::text[], $2::text[], $3::bigint[]) as i (application, hash, view_revision)
 cross join lateral (select unit, view_revision from application_status where application = i.application for no key update) as s
on conflict (application) do update
   set published_hash = excluded.published_hash, published_revision = greatest(a.published_revision, excluded.published_revision)`,
};

export async function listUnpublished(
  database: Database,
  apiCluster: string,
  { limit, after }: Page,
  signal: AbortSignal,
): Promise<readonly ApplicationId[]> {
  return (await database.run<{ readonly application: ApplicationId }>(LIST_UNPUBLISHED, [apiCluster, limit, after], signal)).map(
    (row) => row.application,
  );
}

export async function recordPublished(database: Database, entries: readonly Publication[], signal: AbortSignal): Promise<void> {
  if (entries.length === 0) return;
  const batch = sortedBy(entries, (entry) => entry.applicationId);
  const revisions = numbers(batch.map((entry) => entry.viewRevision));
  await database.run(
    RECORD,
    [texts(batch.map((entry) => entry.applicationId)), texts(batch.map((entry) => entry.hash)), revisions],
    signal,
  );
}
