import { bucketKeys } from "../../../../domain/bucket.ts";
import type { Clock } from "../../../../domain/clock.ts";
import { DefectError, StaleError } from "../../../../domain/errors.ts";
import { canonicalJson } from "../../../../domain/hash.ts";
import type { ApplicationId, UnitId, WorkspaceId } from "../../../../domain/ids.ts";
import type { DeploymentIntent, IntentOutcome } from "../../../intent/port.ts";
import { LOAD_PER_APPLICATION } from "../../../placement/planning-load.ts";
import type { Database, Run, Statement } from "../database.ts";
import { openingOf } from "../opening.ts";
import { instant, numbers, sortedBy, texts } from "../sql-values.ts";

/**
 * Everybody who changes a unit's applications holds the lock on its row first, and only then looks at what is there: what
 * follows from the whole set (its repositories, its load) would otherwise rest on a picture in which the other change is missing.
 *
 * An application's unit is the one it has. A new one's is the part of its bucket, where its workspace is split.
 */
const LOCK_UNITS: Statement = {
  name: "lock_units_of_workspaces",
  text: `
select n.uid, n.workspace, u.id as unit
  from (
    select i.uid, w.id as workspace, coalesce(a.unit, b.id) as unit
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
        as i (uid, plane, api_cluster, namespace_uid, fine, coarse, cluster)
     cross join lateral (
       select id from workspace where plane = i.plane and api_cluster = i.api_cluster and namespace_uid = i.namespace_uid and state = 'active' offset 0) as w
     cross join lateral (
       select id from placement_unit
        where workspace = w.id
          and bucket = coalesce((select part from bucket_part where workspace = w.id and key = i.fine),
                                (select part from bucket_part where workspace = w.id and key = i.coarse),
                                (select part from bucket_part where workspace = w.id and key = i.cluster),
                                (select open_part from workspace_split where workspace = w.id), 0) offset 0) as b
      left join lateral (select unit from application where uid = i.uid and workspace = w.id offset 0) as a on true
     order by 3
  ) as n
 cross join lateral (select id from placement_unit where id = n.unit for no key update) as u`,
};

/** A workspace that was being deleted may have lost its objects already: its unit is wanted anew. One of environments alone has none. */
const ENSURE_WORKSPACES: Statement = {
  name: "ensure_workspaces",
  text: `
with input as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
    as i (plane, api_cluster, namespace_uid, namespace, trust_class, class, workspace, unit)
), ensured as (
  insert into workspace (id, plane, api_cluster, namespace, namespace_uid, trust_class, state)
  select workspace, plane, api_cluster, namespace, namespace_uid, trust_class, 'active' from input order by plane, api_cluster, namespace_uid
  on conflict (plane, api_cluster, namespace_uid) do update set state = 'active'
   where workspace.state <> 'active' or not exists (select from placement_unit b where b.workspace = workspace.id and b.bucket = 0)
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
 * Everything follows from one picture that the units' locks keep true: nothing here joins what was just written. `changed`:
 * applications whose Argo CD Application should be another now. A unit is raised when its set of repositories is another
 * after the change than before, or an application goes to another environment. Rows that acknowledgements change too (shard_object, then operation) come last and in order of
 * their keys.
 */
const RECORD: Statement = {
  name: "record_deployments",
  text: `
with known as materialized (
  select i.*, coalesce(n.argo_name, i.argo_name) as kept_name, u.class, u.bucket, u.created_at, u.owner, u.epoch, u.desired_revision as unit_revision,
         a.id is null as is_created, a.deleted_at is not null as is_deleted, coalesce(a.id, i.application) as id,
         coalesce(a.desired_revision, 0) as known_revision, a.generation as known_generation, a.repo_url as known_repo_url, a.environment as known_environment,
         a.deleted_at is null and (a.id is null or (i.generation >= a.generation and a.spec::text is distinct from i.spec::text)) as is_changed
    from rows from (unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $16::text[]), json_array_elements($10::json))
      as i (uid, workspace, unit, name, generation, repo_url, argo_name, application, operation, environment, spec)
   cross join lateral (select class, bucket, created_at, owner, epoch, desired_revision from placement_unit where id = i.unit offset 0) as u
    left join lateral (select id, unit, deleted_at, desired_revision, generation, repo_url, environment, spec from application where uid = i.uid offset 0) as a on true
    left join lateral (select argo_name from kept_name where uid = i.uid offset 0) as n on true
   where a.unit is null or a.unit = i.unit
), applications as (
  insert into application as a (id, workspace, unit, name, uid, generation, spec, repo_url, environment, argo_name, desired_revision)
  select id, workspace, unit, name, uid, generation, spec, repo_url, environment, kept_name, known_revision + is_changed::integer from known
   where is_changed or (not is_deleted and generation > known_generation)
   order by id
  on conflict (id) do update set generation = excluded.generation, spec = excluded.spec, repo_url = excluded.repo_url, environment = excluded.environment, desired_revision = excluded.desired_revision
), statuses as (
  insert into application_status (application, unit) select id, unit from known where is_created order by id
), changed as materialized (
  select k.id, k.workspace, k.unit, k.class, k.bucket, k.created_at, k.owner, k.epoch, k.unit_revision, k.operation, k.repo_url, k.is_created, k.known_revision + 1 as revision,
         not exists (select from application b where b.unit = k.unit and b.repo_url = k.repo_url) as adds,
         case when k.known_repo_url <> k.repo_url then k.known_repo_url end as left_url, k.environment is distinct from k.known_environment as moves
    from known k
   where k.is_changed
), touched as materialized (
  select unit, workspace, class, bucket, created_at, owner, epoch, unit_revision, count(*) filter (where is_created) as added,
         bool_or(adds or moves or (left_url is not null
           and not exists (select from application b where b.unit = c.unit and b.repo_url = c.left_url and b.id <> all (array(select id from changed where left_url is not null)))
           and not exists (select from changed d where d.unit = c.unit and d.repo_url = c.left_url))) as is_raised
    from changed c
   group by unit, workspace, class, bucket, created_at, owner, epoch, unit_revision
), units as (
  insert into placement_unit as u (id, workspace, bucket, class, created_at, load, desired_revision)
  select unit, workspace, bucket, class, created_at, array[$11 * added, 0, 0, 0, 0], unit_revision + is_raised::integer from touched
   where added > 0 or is_raised
   order by unit
  on conflict (id) do update set load[1] = u.load[1] + excluded.load[1], desired_revision = excluded.desired_revision
), objects as (
  insert into shard_object (subject, kind, instance, unit, desired_revision, epoch)
  select * from (
    select id, 'application', owner, unit, revision, epoch from changed
    union all
    select unit, kind, owner, unit, unit_revision + 1, epoch from touched cross join unnest(array['account', 'project', 'register']) as k (kind) where is_raised
  ) as o (subject, kind, instance, unit, revision, epoch)
   where instance is not null
   order by subject, kind, instance
  on conflict (subject, kind, instance) do update set desired_revision = excluded.desired_revision
  returning subject
), operations as (
  insert into operation (id, workspace, instance, subject, kind, state, revision, created_at, updated_at, deadline, message)
  select operation, workspace, owner, id, 'apply-application', 'Waiting', revision, $12, $12, $13, case when owner is null then $14 else $15 end from changed
   where (select count(*) from objects) >= 0
   order by id
  on conflict (subject, kind) where state <> 'Completed'
  do update set instance = excluded.instance, state = excluded.state, revision = excluded.revision, updated_at = excluded.updated_at,
                deadline = excluded.deadline, message = excluded.message
), hints as materialized (
  select count(pg_notify('argosy', h.hint)) as sent
    from (select 'application:' || id from changed where owner is not null
           union all
          select 'unit:' || unit from touched where owner is null or is_raised) as h (hint)
)
select uid, id as application, is_created, is_deleted, is_changed from known cross join hints`,
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
  return intents.map(({ uid }) => outcomes.get(uid) ?? movedMeanwhile(uid));
}

/** Between the look for its unit and the lock on that, its workspace was split. */
function movedMeanwhile(uid: string): never {
  throw new StaleError("recording an application that was given to another part of its workspace meanwhile", {
    code: "store.application-stale",
    context: { uid },
  });
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

type LockedRow = Home & { readonly uid: string };

/** What a workspace and its unit are made from where they do not exist yet, and what asks for it: an application's uid, or another's. */
type UnitWish = Pick<DeploymentIntent, "uid" | "workspace" | "class"> & {
  /** Absent: what is asked for is no application. */
  readonly spec?: Pick<DeploymentIntent["spec"], "destination">;
  readonly newIds: Pick<DeploymentIntent["newIds"], "workspaceId" | "unitId">;
};

const identity = ({ workspace: { plane, apiCluster, namespaceUid } }: Pick<UnitWish, "workspace">): string =>
  [plane, apiCluster, namespaceUid].join("|");

/** Locks the units of the batch, made where there were none; returns them by the uid of what asked for them. */
export async function lockUnits(run: Run, clock: Clock, batch: readonly UnitWish[]): Promise<ReadonlyMap<string, Home>> {
  const buckets = batch.map(({ spec }) => bucketKeys(spec?.destination ?? {}));
  const lock = async (): Promise<Map<string, Home>> => {
    const keys = [
      batch.map(({ uid }) => uid),
      batch.map(({ workspace }) => workspace.plane),
      batch.map(({ workspace }) => workspace.apiCluster),
      batch.map(({ workspace }) => workspace.namespaceUid),
      ...([0, 1, 2] as const).map((level) => buckets.map((each) => each[level])),
    ];
    const rows = await run<LockedRow>(LOCK_UNITS, keys.map(texts));
    return new Map(rows.map(({ uid, workspace, unit }) => [uid, { workspace, unit }]));
  };
  const homes = await lock();
  const homeless = batch.filter(({ uid }) => !homes.has(uid));
  const missing = [...new Map(homeless.toReversed().map((intent) => [identity(intent), intent])).values()];
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
  const home = (intent: DeploymentIntent): Home => found(homes.get(intent.uid), intent);
  return [
    texts(batch.map((intent) => intent.uid)),
    texts(batch.map((intent) => home(intent).workspace)),
    texts(batch.map((intent) => home(intent).unit)),
    texts(batch.map((intent) => intent.name)),
    numbers(batch.map((intent) => intent.generation)),
    texts(batch.map((intent) => intent.spec.source.repoUrl)),
    texts(batch.map((intent) => intent.argoName)),
    texts(batch.map((intent) => intent.newIds.applicationId)),
    texts(batch.map((intent) => intent.newIds.operationId)),
    canonicalJson(batch.map((intent) => intent.spec)),
    LOAD_PER_APPLICATION,
    ...openingOf(clock.now()),
    texts(batch.map((intent) => intent.spec.destination.environment)),
  ];
}

function found<Row>(row: Row | undefined, { uid }: DeploymentIntent): Row {
  if (row === undefined)
    throw new DefectError("recording an intent that the database does not answer for", { code: "store.unanswered", context: { uid } });
  return row;
}
