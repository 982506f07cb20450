import { sha256 } from "../../../../domain/hash.ts";
import type { WorkspaceId } from "../../../../domain/ids.ts";
import { ASSUMED, type RepositoryAccess, SPELLINGS_AT_MOST, whatFollows } from "../../../../domain/repository-access.ts";
import { checkoutGroup, placeOf } from "../../../../domain/repository-spelling.ts";
import type { AccessRecord, ConfirmedAccess } from "../../../repository-access/port.ts";
import type { Database, Run, Statement } from "../database.ts";
import { lockUnitsOf } from "../environments/raise-users.ts";
import { instant, isSameRepository, sqlText } from "../sql-values.ts";
import { type AccessRow, accessJson, accessOf } from "./access-row.ts";

/** Workspaces are locked before units everywhere. */
const LOCK_WORKSPACE: Statement = { name: "lock_workspace_of_repositories", text: "select id from workspace where id = $1 for key share" };

/** Those who add an application hold its unit's lock, so that none comes to be of what is forgotten. */
const FORGET_UNUSED: Statement = {
  name: "forget_unused_repositories",
  text: `
delete from repository_access r
 where r.workspace = $1
   and not exists (select from application a where a.unit in (select id from placement_unit where workspace = $1) and ${isSameRepository("a", "r.url")})`,
};

const READ: Statement = {
  name: "read_repository_access",
  text: `select ${accessJson("r")} as access from repository_access r where r.workspace = $1 and r.url_hash = $2`,
};

const FIND_SPELLING: Statement = {
  name: "find_repository_spelling",
  text: "select ordinal from repository_spelling where group_hash = $1 and place_hash = $2",
};
/** Whoever gives out numbers of a group does so alone. */
const LOCK_GROUP: Statement = {
  name: "lock_repository_spellings",
  text: "select pg_advisory_xact_lock(hashtextextended('repository_spelling ' || $1, 0))",
};
const ADD_SPELLING: Statement = {
  name: "add_repository_spelling",
  text: `
insert into repository_spelling (group_hash, place_hash, ordinal, workspace)
select $1, $2, coalesce(max(ordinal) + 1, 0), $3 from repository_spelling where group_hash = $1
having count(*) filter (where workspace = $3) < $4
    on conflict (group_hash, place_hash) do nothing
returning ordinal`,
};

const WRITE: Statement = {
  name: "write_repository_access",
  text: `
insert into repository_access (workspace, url_hash, url, state, outcome, credential, probed_at, proven_at, refused_since, refusals, ordinal)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
 where exists (select from application a where a.unit in (select id from placement_unit where workspace = $1) and ${isSameRepository("a", "$3")})
on conflict (workspace, url_hash) do update set state = excluded.state, outcome = excluded.outcome, credential = excluded.credential,
  probed_at = excluded.probed_at, proven_at = excluded.proven_at, refused_since = excluded.refused_since, refusals = excluded.refusals,
  ordinal = excluded.ordinal`,
};

/** The units are locked. Rows that acknowledgements and statuses change too are locked in order of their keys. */
const TELL: Statement = {
  name: "tell_users_of_repository",
  text: `
with users as materialized (
  select a.id, a.unit from application a
   where a.unit in (select id from placement_unit where workspace = $1) and ${isSameRepository("a", "$2")} and a.deleted_at is null
   order by a.id
), applications as (
  update application a set desired_revision = a.desired_revision + 1 from users u where a.id = u.id and $3
  returning a.id, a.desired_revision
), units as (
  update placement_unit p set desired_revision = p.desired_revision + 1 where p.id in (select unit from users) and $4
  returning p.id, p.desired_revision
), raised as materialized (
  select id, desired_revision from applications union all select id, desired_revision from units
), locked as materialized (
  select o.subject, o.kind, o.instance, r.desired_revision
    from (select id, desired_revision from raised order by id) as r
   cross join lateral (select subject, kind, instance from shard_object where subject = r.id order by kind, instance for no key update) as o
), objects as (
  update shard_object o set desired_revision = l.desired_revision
    from locked l where o.subject = l.subject and o.kind = l.kind and o.instance = l.instance
), seen as materialized (
  select s.application from users u cross join lateral (select application from application_status where application = u.id and $6 for no key update) as s
), views as (
  update application_status s set view_revision = s.view_revision + 1 from seen n where s.application = n.application
)
select count(pg_notify('argosy', n.notification)) as sent
  from (select 'unit:' || id from units union all select 'application:' || id from users where $5 union all select 'status:' || application from seen) as n (notification)`,
};

/** Rows are locked in order of their keys: those that a process records meanwhile are of one workspace each. */
const CONFIRM: Statement = {
  name: "confirm_repository_access",
  text: `
with confirmed as materialized (
  select r.workspace, r.url_hash, c.at
    from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) as c (workspace, url_hash, credential, at)
    join repository_access r on r.workspace = c.workspace and r.url_hash = c.url_hash
   where r.state = 'proven' and r.outcome = 'readable' and r.refusals = 0 and r.credential = c.credential and r.probed_at < c.at
   order by r.workspace, r.url_hash
     for no key update of r
)
update repository_access r set probed_at = c.at, proven_at = c.at
  from confirmed c where r.workspace = c.workspace and r.url_hash = c.url_hash`,
};

export async function confirmAccess(database: Database, confirmed: readonly ConfirmedAccess[], signal: AbortSignal): Promise<void> {
  if (confirmed.length === 0) return;
  const columns = [
    confirmed.map(({ workspaceId }) => workspaceId),
    confirmed.map(({ url }) => sha256(url)),
    confirmed.map(({ credential }) => sqlText(credential)),
    confirmed.map(({ at }) => instant(at)),
  ];
  await database.run(CONFIRM, columns, signal);
}

/** One transaction. Whoever changes what a workspace's units hold has the units' locks first. */
export function recordAccess(database: Database, { workspaceId, url, access }: AccessRecord, signal: AbortSignal): Promise<void> {
  return database.transaction(
    "record_repository_access",
    async (run) => {
      if ((await run(LOCK_WORKSPACE, [workspaceId])).length === 0) return;
      await lockUnitsOf(run, workspaceId);
      await run(FORGET_UNUSED, [workspaceId]);
      const hash = sha256(url);
      const [row] = await run<{ readonly access: AccessRow }>(READ, [workspaceId, hash]);
      const before = row === undefined ? ASSUMED : accessOf(row.access);
      const ordinal = access.outcome === "readable" ? await ordinalOf(run, workspaceId, url) : before.ordinal;
      const after: RepositoryAccess =
        ordinal === undefined ? { ...access, state: "unproven", outcome: "too-many", ordinal: 0 } : { ...access, ordinal };
      await run(WRITE, [workspaceId, hash, sqlText(url), ...columnsOf(after)]);
      const { raisesApplications, raisesUnits, asksForApplications, tellsUsers } = whatFollows(before, after);
      if (raisesApplications || raisesUnits || asksForApplications || tellsUsers)
        await run(TELL, [workspaceId, sqlText(url), raisesApplications, raisesUnits, asksForApplications, tellsUsers]);
    },
    signal,
  );
}

/** `undefined`: the workspace was the first to read as many places of this group as it may. */
async function ordinalOf(run: Run, workspaceId: WorkspaceId, url: string): Promise<number | undefined> {
  const key = [sha256(checkoutGroup(url)), sha256(placeOf(url))];
  const [known] = await run<{ readonly ordinal: number }>(FIND_SPELLING, key);
  if (known !== undefined) return known.ordinal;
  await run(LOCK_GROUP, key.slice(0, 1));
  const [added] = await run<{ readonly ordinal: number }>(ADD_SPELLING, [...key, workspaceId, SPELLINGS_AT_MOST]);
  if (added !== undefined) return added.ordinal;
  // Somebody else was here a moment before.
  return (await run<{ readonly ordinal: number }>(FIND_SPELLING, key))[0]?.ordinal;
}

function columnsOf(access: RepositoryAccess): readonly unknown[] {
  const at = (time: RepositoryAccess["probedAt"]): string | null => (time === undefined ? null : instant(time));
  const { state, outcome = null, credential, refusals, ordinal } = access;
  return [state, outcome, sqlText(credential), at(access.probedAt), at(access.provenAt), at(access.refusedSince), refusals, ordinal];
}
