import type { InstanceId, UnitId } from "../../../../domain/ids.ts";
import type { Run, Statement } from "../database.ts";
import { DECISION_COLUMNS } from "../decisions.ts";

/**
 * The instance's lock makes arrivals on it take turns, the unit's keeps its applications as they are and others from moving it. Taken in a
 * statement of its own: the next one then sees what those who held them before have done.
 */
const LOCK: Statement = {
  name: "lock_instance_and_unit",
  text: "select i.state from instance i cross join placement_unit u where i.id = $1 and u.id = $2 for no key update of i, u",
};

const EXISTS: Statement = { name: "exists_unit", text: "select id from placement_unit where id = $1" };

/** Locks an instance and the unit that is to come to it; `full`: there is no such instance any more, `stale`: no such unit. */
export async function lockPlacement(
  run: Run,
  instanceId: InstanceId,
  unitId: UnitId,
): Promise<{ readonly kind: "locked"; readonly state: string } | { readonly kind: "full" | "stale" }> {
  const [placement] = await run<{ readonly state: string }>(LOCK, [instanceId, unitId]);
  if (placement !== undefined) return { kind: "locked", state: placement.state };
  return (await run(EXISTS, [unitId])).length > 0 ? { kind: "full" } : { kind: "stale" };
}

/**
 * What giving a unit to an instance takes, whoever decided it, as common table expressions. Parameters: $1 the instance, $4 its state,
 * $5 the loads it may have, $6 to $12 the decision (`decisionValues`), of which $7 is when, $13 what waiting operations say.
 */

/** What counts at an instance, as `b`: the units it owns, and those that live moves bring. */
export const BURDENS = `(
  select o.owner as instance, o.load, true as is_owned, i.entries from placement_unit o join instance i on i.id = o.owner
  union all
  select m.to_instance, a.load, false, i.entries from move m join placement_unit a on a.id = m.unit join instance i on i.id = m.to_instance
   where m.ended_at is null and a.owner is distinct from m.to_instance
) as b`;

/** The sums of `b`'s loads, one column for each dimension. Where each workspace has a cluster entry, that counts too (`loadOn` of domain/instance.ts). */
export const SUMS =
  "sum(b.load[1]) as l1, sum(b.load[2]) + count(*) filter (where b.entries = 'per-workspace') as l2, sum(b.load[3]) as l3, sum(b.load[4]) as l4, sum(b.load[5]) as l5";

/** `held`: what the instance holds, and what live moves bring; and how many cluster entries it has for each workspace. */
export const HELD = `held as materialized (
  select coalesce(l1, 0) as l1, coalesce(l2, 0) as l2, coalesce(l3, 0) as l3, coalesce(l4, 0) as l4, coalesce(l5, 0) as l5,
         (select count(*) from instance where id = $1 and entries = 'per-workspace') as own
    from (select ${SUMS} from ${BURDENS} where b.instance = $1) as s
)`;

/**
 * Whether no workspace is, or will be, on an instance from which that of a unit `u` must be apart: one with another value of a label. One that a live move
 * takes away is there until the move has ended: what is left of it is removed meanwhile. Nothing is read where `u` has no such label.
 */
export const isApart = (instance: string): string => `not exists (
       select from workspace own
        cross join json_each_text(own.apart) as mine (label, value)
        cross join (
          select s.workspace from placement_unit s where s.owner = ${instance}
          union
          select s.workspace from move m join placement_unit s on s.id = m.unit where m.ended_at is null and ${instance} in (m.from_instance, m.to_instance)
        ) as there
         join workspace other on other.id = there.workspace
        cross join json_each_text(other.apart) as theirs (label, value)
        where own.id = u.workspace and other.id <> own.id and theirs.label = mine.label and theirs.value <> mine.value)`;

/**
 * Whether a unit `u` may go there, beside what is `held` as `h`: capacity is left, nobody from whom it must be apart is or will be there, and no other part of its
 * workspace, but for one that the two are to become one with.
 */
export const FITS = `$4 = 'ACTIVE'
     and h.l1 + u.load[1] <= ($5::bigint[])[1] and h.l2 + h.own + u.load[2] <= ($5::bigint[])[2] and h.l3 + u.load[3] <= ($5::bigint[])[3]
     and h.l4 + u.load[4] <= ($5::bigint[])[4] and h.l5 + u.load[5] <= ($5::bigint[])[5]
     and not exists (
       select from placement_unit s
        where s.workspace = u.workspace and s.id <> u.id and s.joins is distinct from u.id and u.joins is distinct from s.id
          and (s.owner = $1 or exists (select from move m where m.unit = s.id and m.to_instance = $1 and m.ended_at is null)))
     and ${isApart("$1")}`;

/**
 * Whether a unit `u` is kept where it is by another part of its workspace there. One that has taken applications over stays until the other part has left: until
 * then what was begun as that one's account may still write. One that others take over from stays until those stand under the new epoch, for its move would clear
 * away what still bears its name, and one that is to be joined with another stays beside it; not so where a fail-over (`isFailOver`: an expression) goes
 * without the instance.
 */
export const isKept = (isFailOver: string): string => `exists (
       select from placement_unit s
        where s.workspace = u.workspace and s.id <> u.id and s.owner = u.owner
          and (u.took_from = s.id or (not ${isFailOver} and (u.joins = s.id or (s.took_from = u.id and exists (
            select from application a join application_status t on t.application = a.id where a.unit = s.id and t.hash is not null and t.epoch <> s.epoch)))))
     )`;

/**
 * What follows for the units in `placed` (id, owner, epoch, desired_revision): their objects and applications are wanted on the
 * instance, users' statuses and operations say so, the decision is journaled, and notifications are sent.
 */
export const PLACED_UNITS = `wanted as materialized (
  select a.id, a.desired_revision, p.id as unit, p.owner, p.epoch
    from placed p cross join lateral (select id, desired_revision from application where unit = p.id order by id) as a
), objects as (
  insert into shard_object (subject, kind, instance, unit, desired_revision, epoch)
  select * from (
    select id, 'application', owner, unit, desired_revision, epoch from wanted
    union all
    select p.id, k.kind, p.owner, p.id, p.desired_revision, p.epoch from placed p cross join unnest(array['account', 'owner-binding', 'project']) as k (kind)
  ) as o (subject, kind, instance, unit, desired_revision, epoch)
   order by subject, kind, instance
  on conflict (subject, kind, instance)
  do update set desired_revision = excluded.desired_revision, applied_revision = 0, epoch = excluded.epoch, uid = '', hash = ''
), seen as (
  select s.application from wanted n cross join lateral (select application from application_status where application = n.id for no key update) as s
), views as (
  update application_status s set view_revision = s.view_revision + 1 from seen n where s.application = n.application
), waiting as (
  select o.id from wanted n cross join lateral (select id from operation where subject = n.id and state <> 'Completed' order by id for no key update) as o
), operations as (
  update operation o set instance = $1, message = $13, is_trouble = false, updated_at = $7 from waiting n where o.id = n.id
), journal as (
  insert into decision (${DECISION_COLUMNS})
  select $6, $7, $8, $9, $10, $11, $12::json from placed
), notifications as materialized (
  select count(pg_notify('argosy', n.notification)) as sent from (select 'unit:' || id from placed union all select 'application:' || id from wanted) as n (notification)
)`;
