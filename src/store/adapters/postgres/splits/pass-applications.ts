import type { Decision } from "../../../../domain/decision.ts";
import type { ApplicationId, InstanceId, UnitId } from "../../../../domain/ids.ts";
import { WAITING_FOR_INSTANCE } from "../../../operation/messages.ts";
import type { Run, Statement } from "../database.ts";
import { type DecisionIds, decisionValues } from "../decisions.ts";
import { PLACED_UNITS } from "../placements/placed-units.ts";
import { texts } from "../sql-values.ts";

/** Whoever acknowledges one of these meanwhile is waited for; whoever comes later finds another unit's. */
const LOCK_OBJECTS: Statement = {
  name: "lock_objects_of_units",
  text: `
select o.subject
  from (select id from application where unit = any ($1::text[]) union all select * from unnest($1::text[]) order by 1) as s
 cross join lateral (select subject from shard_object where subject = s.id order by kind, instance for update) as o`,
};

const PASS: Statement = {
  name: "pass_applications",
  text: `
with passed as (
  update application set unit = $2 where id = any ($1::text[]) and unit = $3 returning id
), statuses as (
  update application_status s set unit = $2 from passed p where s.application = p.id
)
update shard_object o set unit = $2 from passed p where o.subject = p.id and o.kind = 'application'`,
};

/** What it had acknowledged was under the epoch before: everything is written anew. */
const TAKE: Statement = {
  name: "take_passed_applications",
  text: `
with placed as (
  update placement_unit u
     set epoch = nextval('epoch_seq'), took_from = $3, desired_revision = u.desired_revision + 1, row_version = u.row_version + 1
   where u.id = $2 and u.owner = $1 and $4::text is null and $5::text is null
  returning u.id, u.owner, u.epoch, u.desired_revision
), ${PLACED_UNITS}
select sent from notifications`,
};

/** The number of applications is counted anew; who has other repositories than before needs another project. */
const LEAVE: Statement = {
  name: "leave_passed_applications",
  text: `
with raised as (
  update placement_unit set desired_revision = desired_revision + 1, row_version = row_version + 1 where id = $1 returning id, desired_revision
), behind as (
  update shard_object o set desired_revision = r.desired_revision from raised r where o.subject = r.id and o.kind in ('account', 'owner-binding', 'project')
)
select count(pg_notify('argosy', 'unit:' || id)) as sent from raised`,
};

export interface Passing {
  readonly ids: readonly ApplicationId[];
  readonly from: UnitId;
  readonly to: UnitId;
  /** Both are there. */
  readonly instance: InstanceId;
  readonly decision: Decision;
}

/**
 * Gives applications of one unit to another one on the same instance, under a new epoch of that one. The caller holds the locks on the
 * workspace and both units. Rows that acknowledgements change too are locked first, in order of their keys.
 */
export async function passApplications(run: Run, decisionIds: DecisionIds, { ids, from, to, instance, decision }: Passing): Promise<void> {
  await run(LOCK_OBJECTS, [texts([from, to])]);
  await run(PASS, [texts(ids), to, from]);
  // The fourth and fifth are those of a first placement, where somebody chooses.
  await run(TAKE, [instance, to, from, null, null, ...decisionValues(decisionIds, decision), WAITING_FOR_INSTANCE]);
  await run(LEAVE, [from]);
}
