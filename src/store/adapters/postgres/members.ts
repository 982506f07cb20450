import type { MemberId } from "../../../domain/ids.ts";
import type { Lease, LiveMember, MemberStore } from "../../member/port.ts";
import type { Database, Statement } from "./database.ts";

/**
 * Times are the database's own: the only clock that all members share. The others are notified of a member that was not alive before, or had other
 * roles.
 */
const HEARTBEAT: Statement = {
  name: "heartbeat",
  text: `
with before as (
  select from member where id = $1 and roles = $2::text[] and expires > now()
), notified as (
  select count(pg_notify('argosy', 'member:' || $1)) as sent where not exists (select from before)
), own as (
  insert into member (id, roles, expires) values ($1, $2::text[], now() + $3 * interval '1 millisecond')
  on conflict (id) do update set roles = excluded.roles, expires = excluded.expires
), gone as (
  delete from member where expires <= now() and id <> $1
)
select id, roles, 0 as sent from member where expires > now() and id <> $1 union all select $1, $2::text[], sent from notified`,
};

const LEAVE: Statement = {
  name: "leave",
  text: `
with gone as (
  delete from member where id = $1 returning id
)
select count(pg_notify('argosy', 'member:' || id)) as sent from gone`,
};

const RECORD_ACCOUNT: Statement = {
  name: "record_account",
  text: "update member set account = $2, account_groups = $3::text[] where id = $1 returning id",
};

const LIST_LIVE: Statement = {
  name: "list_live_members",
  text: "select id, roles, account, account_groups from member where expires > now() order by id",
};

/** A renewal keeps the number; whoever lost the lease for a moment, even to nobody, gets a new one. */
const ACQUIRE: Statement = {
  name: "acquire_lease",
  text: `
insert into lease as l (key, holder, fence, expires) values ($1, $2, 1, now() + $3 * interval '1 millisecond')
on conflict (key) do update
   set holder = excluded.holder, expires = excluded.expires,
       fence = case when l.holder = excluded.holder and l.expires > now() then l.fence else l.fence + 1 end
 where l.holder = excluded.holder or l.expires <= now()
returning key, holder, fence`,
};

/** The row stays, or its number would start anew. */
const RELEASE: Statement = {
  name: "release_lease",
  text: "update lease set expires = now() where key = $1 and holder = $2 and fence = $3",
};

interface Row {
  readonly id: MemberId;
  readonly roles: readonly string[];
}

interface LiveRow extends Row {
  readonly account: string | null;
  readonly account_groups: readonly string[] | null;
}

export function createMemberStore(database: Database): MemberStore {
  return {
    heartbeat: async (id, roles, ttlMs, signal) => byRole(await database.run<Row>(HEARTBEAT, [id, roles, ttlMs], signal)),
    leave: async (id, signal) => void (await database.run(LEAVE, [id], signal)),
    recordAccount: async (id, { user, groups }, signal) => (await database.run(RECORD_ACCOUNT, [id, user, groups], signal)).length > 0,
    listLive: async (signal) => (await database.run<LiveRow>(LIST_LIVE, [], signal)).map(liveMember),
    acquire: async (key, holder, ttlMs, signal) => (await database.run<Lease>(ACQUIRE, [key, holder, ttlMs], signal))[0],
    release: async ({ key, holder, fence }, signal) => void (await database.run(RELEASE, [key, holder, fence], signal)),
  };
}

function liveMember({ id, roles, account, account_groups }: LiveRow): LiveMember {
  return { id, roles, account: account === null ? undefined : { user: account, groups: account_groups ?? [] } };
}

function byRole(rows: readonly Row[]): ReadonlyMap<string, readonly MemberId[]> {
  const members = new Map<string, MemberId[]>();
  for (const { id, roles } of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    for (const role of new Set(roles)) members.set(role, [...(members.get(role) ?? []), id]);
  }
  return members;
}
