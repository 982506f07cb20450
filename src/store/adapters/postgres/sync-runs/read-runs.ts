import type { Millis } from "../../../../domain/clock.ts";
import type { ApplicationId, InstanceId } from "../../../../domain/ids.ts";
import type { RunPhase, SyncRun } from "../../../../domain/sync-run.ts";
import type { KnownRun, RunView } from "../../../sync-run/port.ts";
import { QUEUE_LIMIT } from "../../../sync-run/queue-limit.ts";
import type { Database, Statement } from "../database.ts";
import { APPLICATION, type ApplicationRow, applicationOfRow } from "../rows.ts";
import { texts } from "../sql-values.ts";
import { RUN, type RunRow, runOf, UNFINISHED } from "./run-row.ts";

const VIEWS: Statement = {
  name: "read_runs",
  text: `
select ${RUN}, r.published_hash, r.view_revision, ${APPLICATION}, u.owner is not null as is_placed,
       (select count(*) from sync_run e
         where e.application = r.application and e.phase in ('Pending', 'Running') and (e.created_at, e.place) < (r.created_at, r.place)) as ahead
  from unnest($1::text[]) with ordinality as i (uid, place)
 cross join lateral (select * from sync_run where uid = i.uid offset 0) as r
  left join lateral (select * from application where id = r.application offset 0) as a on true
  left join lateral (select owner from placement_unit where id = a.unit offset 0) as u on true
 order by i.place`,
};

const KNOWN: Statement = {
  name: "list_known_runs",
  text: `
select uid, namespace, name, phase, finished_at, published_revision >= view_revision as is_published
  from sync_run where api_cluster = $1 order by uid`,
};

const QUEUES: Statement = {
  name: "read_sync_queues",
  text: `
select ${RUN}
  from unnest($1::text[]) with ordinality as i (id, place)
 cross join lateral (
   select * from sync_run r where r.application = i.id and ${UNFINISHED}
    order by r.phase = 'Running' desc, r.is_cancelled desc, r.created_at, r.place limit $2) as r
 order by i.place, r.phase = 'Running' desc, r.is_cancelled desc, r.created_at, r.place`,
};

/** From the runs that are under way, of whichever instance, to whoever holds their applications: they are few, and what an instance holds is not. */
const BUSY: Statement = {
  name: "list_busy_applications",
  text: `
with busy as materialized (select distinct r.application from sync_run r where ${UNFINISHED})
select b.application
  from busy b
 cross join lateral (select unit from application where id = b.application offset 0) as a
 cross join lateral (select owner from placement_unit where id = a.unit offset 0) as u
 where u.owner = any ($1::text[])
 order by b.application
 limit $2`,
};

type ViewRow = RunRow & {
  readonly [Column in keyof ApplicationRow]: ApplicationRow[Column] | null;
} & {
  readonly published_hash: string;
  readonly view_revision: number;
  readonly is_placed: boolean;
  readonly ahead: number;
};

interface KnownRow {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly phase: RunPhase;
  readonly finished_at: Millis | null;
  readonly is_published: boolean;
}

export async function readRunViews(database: Database, uids: readonly string[], signal: AbortSignal): Promise<readonly RunView[]> {
  const rows = await database.run<ViewRow>(VIEWS, [texts(uids)], signal);
  return rows.map((row) => ({
    run: runOf(row),
    application: row.a_id === null ? undefined : applicationOfRow(row as ApplicationRow),
    isPlaced: row.is_placed,
    ahead: row.ahead,
    publishedHash: row.published_hash,
    viewRevision: row.view_revision,
  }));
}

export async function listKnownRuns(database: Database, apiCluster: string, signal: AbortSignal): Promise<readonly KnownRun[]> {
  const rows = await database.run<KnownRow>(KNOWN, [apiCluster], signal);
  return rows.map(({ finished_at, is_published, ...row }) => ({ ...row, finishedAt: finished_at ?? undefined, isPublished: is_published }));
}

export async function readSyncQueues(database: Database, ids: readonly ApplicationId[], signal: AbortSignal): Promise<readonly SyncRun[]> {
  return (await database.run<RunRow>(QUEUES, [texts(ids), QUEUE_LIMIT], signal)).map(runOf);
}

export async function listBusyApplications(
  database: Database,
  instanceIds: readonly InstanceId[],
  limit: number,
  signal: AbortSignal,
): Promise<readonly ApplicationId[]> {
  const rows = await database.run<{ readonly application: ApplicationId }>(BUSY, [texts(instanceIds), limit], signal);
  return rows.map(({ application }) => application);
}
