import { type Clock, millis } from "../../../../domain/clock.ts";
import { DefectError, StaleError } from "../../../../domain/errors.ts";
import { canonicalJson } from "../../../../domain/hash.ts";
import type { ApplicationId } from "../../../../domain/ids.ts";
import { ECHO_MS } from "../../../intent/echo.ts";
import type { DeploymentIntent, IntentOutcome } from "../../../intent/port.ts";
import { LOAD_PER_APPLICATION } from "../../../placement/planning-load.ts";
import type { Database, Statement } from "../database.ts";
import { openingOf } from "../operations.ts";
import { instant, isSameRepository, numbers, sortedBy, texts } from "../sql-values.ts";
import { lockUnits, type WorkspaceUnit } from "./lock-units.ts";

/**
 * Everything follows from one picture that the units' locks keep true: nothing here joins what was just written. `changed`:
 * applications whose Argo CD Application should be another now. A unit is raised when its set of repositories is another
 * after the change than before, or an application goes to another environment, or to the same from another repository. Rows that acknowledgements change too (shard_object, then operation) come last and in order of
 * their keys. `offset 0` keeps the planner from joining the batch with all applications of a repository before it reads those of the workspace.
 */
const RECORD: Statement = {
  name: "record_deployments",
  text: `
with ended as materialized (
  select uid, id from ended_application where uid = any ($1::text[]) and ended_at > $17
), known as materialized (
  select i.*, coalesce(n.argo_name, i.argo_name) as kept_name, u.class, u.bucket, u.created_at, u.owner, u.epoch, u.desired_revision as unit_revision,
         a.id is null as is_created, a.deleted_at is not null as is_deleted, coalesce(a.id, i.application) as id,
         coalesce(a.desired_revision, 0) as known_revision, a.generation as known_generation, a.repo_url as known_repo_url, a.environment as known_environment,
         a.deleted_at is null and (a.id is null or (i.generation >= a.generation and a.spec::text is distinct from i.spec::text)) as is_changed
    from rows from (unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $16::text[]), json_array_elements($10::json))
      as i (uid, workspace, unit, name, generation, repo_url, argo_name, application, operation, environment, spec)
   cross join lateral (select class, bucket, created_at, owner, epoch, desired_revision from placement_unit where id = i.unit offset 0) as u
    left join lateral (select id, unit, deleted_at, desired_revision, generation, repo_url, environment, spec from application where uid = i.uid offset 0) as a on true
    left join lateral (select argo_name from kept_name where uid = i.uid offset 0) as n on true
   where (a.unit is null or a.unit = i.unit) and i.uid <> all (array(select uid from ended))
), applications as (
  insert into application as a (id, workspace, unit, name, uid, generation, spec, repo_url, environment, argo_name, desired_revision)
  select id, workspace, unit, name, uid, generation, spec, repo_url, environment, kept_name, known_revision + is_changed::integer from known
   where is_changed or (not is_deleted and generation > known_generation)
   order by id
  on conflict (id) do update set generation = excluded.generation, spec = excluded.spec, repo_url = excluded.repo_url, environment = excluded.environment, desired_revision = excluded.desired_revision
), accesses as (
  insert into repository_access as r (workspace, url_hash, url, state)
  select distinct k.workspace, encode(sha256(convert_to(k.repo_url, 'UTF8')), 'hex'), k.repo_url, 'unproven' from known k
   where $18 and k.is_changed
     and not exists (select from (select id from placement_unit where workspace = k.workspace offset 0) as s
                       join application b on b.unit = s.id and ${isSameRepository("b", "k.repo_url")})
   order by 1, 2
  on conflict (workspace, url_hash) do update set state = excluded.state, outcome = null, refused_since = null, refusals = 0
  returning workspace
), doubts as (
  update repository_access r set probed_at = null
    from (select distinct workspace, repo_url from known where $18 and is_changed and known_repo_url = repo_url) k
   where r.workspace = k.workspace and r.url = k.repo_url and r.state <> 'proven'
  returning r.workspace
), statuses as (
  insert into application_status (application, unit) select id, unit from known where is_created order by id
), changed as materialized (
  select k.id, k.workspace, k.unit, k.class, k.bucket, k.created_at, k.owner, k.epoch, k.unit_revision, k.operation, k.repo_url, k.is_created, k.known_revision + 1 as revision,
         not exists (select from application b where b.unit = k.unit and ${isSameRepository("b", "k.repo_url")}) as adds,
         case when k.known_repo_url <> k.repo_url then k.known_repo_url end as left_url, k.environment is distinct from k.known_environment
           or (k.environment is not null and k.repo_url is distinct from k.known_repo_url) as moves
    from known k
   where k.is_changed
), touched as materialized (
  select unit, workspace, class, bucket, created_at, owner, epoch, unit_revision, count(*) filter (where is_created) as added,
         bool_or(adds or moves or (left_url is not null
           and not exists (select from application b where b.unit = c.unit and ${isSameRepository("b", "c.left_url")} and b.id <> all (array(select id from changed where left_url is not null)))
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
    select unit, kind, owner, unit, unit_revision + 1, epoch from touched cross join unnest(array['account', 'owner-binding', 'project']) as k (kind) where is_raised
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
                deadline = excluded.deadline, message = excluded.message, is_trouble = false
), notifications as materialized (
  select count(pg_notify('argosy', n.notification)) as sent
    from (select 'application:' || id from changed where owner is not null
           union all
          select 'unit:' || unit from touched where owner is null or is_raised
           union all
          select 'repository:' || workspace from (select workspace from accesses union select workspace from doubts) as r) as n (notification)
)
select uid, id as application, is_created, is_deleted, is_changed from known cross join notifications
 union all
select uid, id, false, true, false from ended`,
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

/** The workspace was split after its unit was found and before the unit was locked. */
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

function values(batch: readonly DeploymentIntent[], workspaceUnits: ReadonlyMap<string, WorkspaceUnit>, clock: Clock): readonly unknown[] {
  const workspaceUnit = (intent: DeploymentIntent): WorkspaceUnit => found(workspaceUnits.get(intent.uid), intent);
  return [
    texts(batch.map((intent) => intent.uid)),
    texts(batch.map((intent) => workspaceUnit(intent).workspace)),
    texts(batch.map((intent) => workspaceUnit(intent).unit)),
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
    instant(millis(clock.now() - ECHO_MS)),
    batch.some(({ provesAccess }) => provesAccess === true),
  ];
}

function found<Row>(row: Row | undefined, { uid }: DeploymentIntent): Row {
  if (row === undefined)
    throw new DefectError("recording an intent that the database does not answer for", { code: "store.unanswered", context: { uid } });
  return row;
}
