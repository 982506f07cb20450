import type { Clock } from "../../../../domain/clock.ts";
import { DefectError } from "../../../../domain/errors.ts";
import { canonicalJson } from "../../../../domain/hash.ts";
import type { ApplicationId, UnitId, WorkspaceId } from "../../../../domain/ids.ts";
import type { DeploymentIntent, IntentOutcome } from "../../../intent/port.ts";
import { LOAD_PER_APPLICATION } from "../../../placement/planning-load.ts";
import type { Database, Run, Statement } from "../database.ts";
import { instant, numbers, sortedBy, texts } from "../sql-values.ts";

/**
 * Everybody who changes a unit's applications holds the lock on its row first, and only then looks at what is there: what
 * follows from the whole set (its repositories, its load) would otherwise rest on a picture in which the other change is missing.
 */
const LOCK_UNITS: Statement = {
  name: "lock_units_of_workspaces",
  text: `
select w.plane, w.api_cluster, w.namespace_uid, w.id as workspace, u.id as unit
  from unnest($1::text[], $2::text[], $3::text[]) as i (plane, api_cluster, namespace_uid)
  join workspace w using (plane, api_cluster, namespace_uid)
  join placement_unit u on u.workspace = w.id and u.bucket = 0
 where w.state = 'active'
 order by u.id
   for no key update of u`,
};

/** A workspace that was being deleted may have lost its objects already: its unit is wanted anew. */
const ENSURE_WORKSPACES: Statement = {
  name: "ensure_workspaces",
  text: `
with input as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
    as i (plane, api_cluster, namespace_uid, namespace, trust_class, class, workspace, unit)
), ensured as (
  insert into workspace (id, plane, api_cluster, namespace, namespace_uid, trust_class, state)
  select workspace, plane, api_cluster, namespace, namespace_uid, trust_class, 'active' from input order by plane, api_cluster, namespace_uid
  on conflict (plane, api_cluster, namespace_uid) do update set state = 'active' where workspace.state <> 'active'
  returning id, plane, api_cluster, namespace_uid
), units as (
  insert into placement_unit as u (id, workspace, bucket, class, created_at)
  select i.unit, e.id, 0, i.class, $9 from ensured e join input i using (plane, api_cluster, namespace_uid) order by e.id
  on conflict (workspace, bucket) do update set desired_revision = u.desired_revision + 1
  returning u.id
)
select pg_notify('argosy', 'unit:' || id) from units`,
};

/**
 * `changed`: applications whose Argo CD Application should be another now. `raised`: units whose set of repositories is
 * another after the change than in the picture before it. Rows that acknowledgements change too (shard_object, then operation)
 * are written last and in order of their keys.
 */
const RECORD: Statement = {
  name: "record_deployments",
  text: `
with input as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
    as i (uid, workspace, unit, name, generation, spec, repo_url, argo_name, application, operation)
), known as materialized (
  select i.*, a.id, a.deleted_at is not null as is_deleted, a.generation as known_generation, a.repo_url as known_repo_url, a.spec::text is distinct from i.spec as differs
    from input i left join application a on a.uid = i.uid
), inserted as (
  insert into application (id, workspace, unit, name, uid, generation, spec, repo_url, argo_name, desired_revision)
  select application, workspace, unit, name, uid, generation, spec::json, repo_url, argo_name, 1 from known where id is null order by uid
  returning id, workspace, unit, uid, repo_url, desired_revision
), statuses as (
  insert into application_status (application, unit) select id, unit from inserted order by id
), updated as (
  update application a
     set generation = k.generation, spec = k.spec::json, repo_url = k.repo_url, desired_revision = a.desired_revision + k.differs::integer
    from known k
   where a.id = k.id and not k.is_deleted and k.generation >= k.known_generation and (k.differs or k.generation > k.known_generation)
  returning a.id, a.workspace, a.unit, a.uid, a.repo_url, a.desired_revision, k.differs, k.known_repo_url
), changed as materialized (
  select id, workspace, unit, uid, repo_url, desired_revision, 1 as added from inserted
  union all
  select id, workspace, unit, uid, repo_url, desired_revision, 0 from updated where differs
), raised as materialized (
  select c.unit from changed c where not exists (select from application b where b.unit = c.unit and b.repo_url = c.repo_url)
  union
  select v.unit
    from (select unit, known_repo_url, count(*) from updated where repo_url <> known_repo_url group by 1, 2) as v (unit, repo_url, leaving)
   where v.leaving = (select count(*) from application b where b.unit = v.unit and b.repo_url = v.repo_url)
     and not exists (select from changed c where c.unit = v.unit and c.repo_url = v.repo_url)
), touched as materialized (
  select u.id, u.owner, u.epoch, c.added, r.unit is not null as is_raised, u.desired_revision + (r.unit is not null)::integer as desired_revision
    from (select unit, sum(added) as added from changed group by unit) as c
    join placement_unit u on u.id = c.unit
    left join raised r on r.unit = c.unit
), units as (
  update placement_unit u set load[1] = u.load[1] + $11 * t.added, desired_revision = t.desired_revision
    from touched t where u.id = t.id and (t.added > 0 or t.is_raised)
), objects as (
  insert into shard_object (subject, kind, instance, unit, desired_revision, epoch)
  select * from (
    select c.id, 'application', t.owner, t.id, c.desired_revision, t.epoch from changed c join touched t on t.id = c.unit
    union all
    select t.id, k.kind, t.owner, t.id, t.desired_revision, t.epoch from touched t cross join unnest(array['account', 'project', 'register']) as k (kind) where t.is_raised
  ) as o (subject, kind, instance, unit, desired_revision, epoch)
   where instance is not null
   order by subject, kind, instance
  on conflict (subject, kind, instance) do update set desired_revision = excluded.desired_revision
  returning subject
), purged as (
  delete from operation o using updated u
   where u.differs and o.workspace = u.workspace and o.subject = u.id and o.state in ('Completed', 'Failed') and o.updated_at < $12::timestamptz - interval '1 day'
), operations as (
  insert into operation (id, workspace, instance, subject, kind, state, revision, created_at, updated_at)
  select i.operation, c.workspace, t.owner, c.id, 'apply-application', 'Waiting', c.desired_revision, $12, $12
    from changed c join touched t on t.id = c.unit join input i on i.uid = c.uid
   where (select count(*) from objects) >= 0
   order by c.id
  on conflict (subject, kind) where state = 'Waiting'
  do update set instance = excluded.instance, revision = excluded.revision, updated_at = excluded.updated_at
), hints as materialized (
  select count(pg_notify('argosy', h.hint)) as sent
    from (select 'application:' || c.id from changed c join touched t on t.id = c.unit where t.owner is not null
           union
          select 'unit:' || id from touched where owner is null or is_raised) as h (hint)
)
select k.uid, coalesce(k.id, k.application) as application, k.id is null as is_created, coalesce(k.is_deleted, false) as is_deleted, c.id is not null as is_changed
  from known k left join changed c on c.uid = k.uid cross join hints`,
};

interface Recorded {
  readonly uid: string;
  readonly application: ApplicationId;
  readonly is_created: boolean;
  readonly is_deleted: boolean;
  readonly is_changed: boolean;
}

/** Four round trips for a batch in workspaces that are known, two more where one is new. */
export async function recordDeployments(
  database: Database,
  clock: Clock,
  intents: readonly DeploymentIntent[],
  signal: AbortSignal,
): Promise<readonly IntentOutcome[]> {
  if (intents.length === 0) return [];
  const batch = sortedBy(intents, (intent) => intent.uid);
  const rows = await database.transaction(
    "record_deployments",
    async (run) => run<Recorded>(RECORD, values(batch, await lockUnits(run, clock, batch), clock)),
    signal,
  );
  const outcomes = new Map(rows.map((row) => [row.uid, outcomeOf(row)]));
  return intents.map((intent) => found(outcomes.get(intent.uid), intent));
}

function outcomeOf(row: Recorded): IntentOutcome {
  if (row.is_created) return { kind: "created", applicationId: row.application };
  if (row.is_deleted) return { kind: "deleting", applicationId: row.application };
  return { kind: row.is_changed ? "updated" : "unchanged", applicationId: row.application };
}

interface Home {
  readonly workspace: WorkspaceId;
  readonly unit: UnitId;
}

type LockedRow = Home & { readonly plane: string; readonly api_cluster: string; readonly namespace_uid: string };

const identity = ({ workspace: { plane, apiCluster, namespaceUid } }: DeploymentIntent): string =>
  [plane, apiCluster, namespaceUid].join("|");

async function lockUnits(run: Run, clock: Clock, batch: readonly DeploymentIntent[]): Promise<ReadonlyMap<string, Home>> {
  const wanted = [...new Map(batch.toReversed().map((intent) => [identity(intent), intent])).values()];
  const lock = async (): Promise<Map<string, Home>> => {
    const keys = [
      wanted.map(({ workspace }) => workspace.plane),
      wanted.map(({ workspace }) => workspace.apiCluster),
      wanted.map(({ workspace }) => workspace.namespaceUid),
    ];
    const rows = await run<LockedRow>(LOCK_UNITS, keys.map(texts));
    return new Map(
      rows.map(({ plane, api_cluster, namespace_uid, workspace, unit }) => [
        [plane, api_cluster, namespace_uid].join("|"),
        { workspace, unit },
      ]),
    );
  };
  const homes = await lock();
  const missing = wanted.filter((intent) => !homes.has(identity(intent)));
  if (missing.length === 0) return homes;
  await run(ENSURE_WORKSPACES, [
    texts(missing.map(({ workspace }) => workspace.plane)),
    texts(missing.map(({ workspace }) => workspace.apiCluster)),
    texts(missing.map(({ workspace }) => workspace.namespaceUid)),
    texts(missing.map(({ workspace }) => workspace.namespace)),
    texts(missing.map(({ workspace }) => workspace.trustClass)),
    texts(missing.map((intent) => intent.class)),
    texts(missing.map(({ newIds }) => newIds.workspaceId)),
    texts(missing.map(({ newIds }) => newIds.unitId)),
    instant(clock.now()),
  ]);
  return lock();
}

function values(batch: readonly DeploymentIntent[], homes: ReadonlyMap<string, Home>, clock: Clock): readonly unknown[] {
  const home = (intent: DeploymentIntent): Home => found(homes.get(identity(intent)), intent);
  return [
    texts(batch.map((intent) => intent.uid)),
    texts(batch.map((intent) => home(intent).workspace)),
    texts(batch.map((intent) => home(intent).unit)),
    texts(batch.map((intent) => intent.name)),
    numbers(batch.map((intent) => intent.generation)),
    texts(batch.map((intent) => canonicalJson(intent.spec))),
    texts(batch.map((intent) => intent.spec.source.repoUrl)),
    texts(batch.map((intent) => intent.argoName)),
    texts(batch.map((intent) => intent.newIds.applicationId)),
    texts(batch.map((intent) => intent.newIds.operationId)),
    LOAD_PER_APPLICATION,
    instant(clock.now()),
  ];
}

function found<Row>(row: Row | undefined, { uid }: DeploymentIntent): Row {
  if (row === undefined)
    throw new DefectError("recording an intent that the database does not answer for", { code: "store.unanswered", context: { uid } });
  return row;
}
