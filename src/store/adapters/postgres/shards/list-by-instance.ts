import type { ApplicationId, InstanceId, UnitId } from "../../../../domain/ids.ts";
import type { EndedApplication, Lagging, UnitWithOwner } from "../../../shard/port.ts";
import type { Database, Statement } from "../database.ts";
import { texts } from "../sql-values.ts";

const OWNED: Statement = {
  name: "list_owned",
  text: `select id as "unitId", epoch, workspace as "workspaceId" from placement_unit where owner = $1 order by id`,
};

const ACTING: Statement = {
  name: "list_acting",
  text: `
select id from placement_unit where owner = $1
 union
select unit from move where ended_at is null and phase <> 'WAITING' and (from_instance = $1 or to_instance = $1)
 order by 1`,
};

const APPLICATIONS: Statement = {
  name: "list_applications_of_instance",
  text: `
select a.id as "applicationId", a.argo_name as "argoName", u.epoch
  from placement_unit u join application a on a.unit = u.id
 where u.owner = $1
 order by a.id`,
};

const ENDED: Statement = {
  name: "list_ended_applications",
  text: `
select e.id as "applicationId", e.argo_name as "argoName", u.epoch as "unitEpoch"
  from ended_application e join placement_unit u on u.id = e.unit
 where e.id = any ($2::text[]) and u.owner = $1 and u.phase = 'IDLE'
 order by e.id`,
};

/**
 * Four short lists: what is not acknowledged yet (one partial index), what is being deleted, whose namespace is gone, and parts that others have taken over. Each
 * begins with what is due on any instance, and not with what these instances hold.
 */
const LAGGING: Statement = {
  name: "list_lagging",
  text: `
with deleted as materialized (
  select id, unit from application where deleted_at is not null
), leaving as materialized (
  select id from workspace where state = 'deleting'
), joining as materialized (
  select id, owner from placement_unit where joins is not null
)
(select a.id, true as is_application
   from (select subject as id from shard_object where instance = any ($1::text[]) and kind = 'application' and applied_revision < desired_revision
          union
         select d.id from deleted d cross join lateral (select owner from placement_unit where id = d.unit offset 0) as u
          where u.owner = any ($1::text[])) as a
  order by id
  limit $2)
union all
(select b.id, false
   from (select subject as id from shard_object
          where instance = any ($1::text[]) and kind in ('account', 'owner-binding', 'project') and applied_revision < desired_revision
          union
         select u.id from leaving w cross join lateral (select id, owner from placement_unit where workspace = w.id offset 0) as u
          where u.owner = any ($1::text[])
          union
         select u.id from joining u where u.owner = any ($1::text[]) and not exists (select from application a where a.unit = u.id)) as b
  order by id
  limit $2)`,
};

export interface ApplicationAt {
  readonly applicationId: ApplicationId;
  readonly argoName: string;
  readonly epoch: number;
}

export function listOwned(database: Database, instanceId: InstanceId, signal: AbortSignal): Promise<readonly UnitWithOwner[]> {
  return database.run<UnitWithOwner>(OWNED, [instanceId], signal);
}

export async function listActing(database: Database, instanceId: InstanceId, signal: AbortSignal): Promise<readonly UnitId[]> {
  return (await database.run<{ readonly id: UnitId }>(ACTING, [instanceId], signal)).map(({ id }) => id);
}

export function listApplications(database: Database, instanceId: InstanceId, signal: AbortSignal): Promise<readonly ApplicationAt[]> {
  return database.run<ApplicationAt>(APPLICATIONS, [instanceId], signal);
}

export function listEnded(
  database: Database,
  instanceId: InstanceId,
  ids: readonly ApplicationId[],
  signal: AbortSignal,
): Promise<readonly EndedApplication[]> {
  return database.run<EndedApplication>(ENDED, [instanceId, texts(ids)], signal);
}

export async function listLagging(
  database: Database,
  instanceIds: readonly InstanceId[],
  limit: number,
  signal: AbortSignal,
): Promise<Lagging> {
  const values = [texts(instanceIds), limit];
  const rows = await database.run<{ readonly id: string; readonly is_application: boolean }>(LAGGING, values, signal);
  return {
    applications: rows.filter((row) => row.is_application).map((row) => row.id as ApplicationId),
    units: rows.filter((row) => !row.is_application).map((row) => row.id as UnitId),
  };
}
