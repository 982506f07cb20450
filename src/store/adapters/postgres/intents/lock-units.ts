import { bucketKeys } from "../../../../domain/bucket.ts";
import type { Clock } from "../../../../domain/clock.ts";
import type { UnitId, WorkspaceId } from "../../../../domain/ids.ts";
import type { DeploymentIntent } from "../../../intent/port.ts";
import type { Run, Statement } from "../database.ts";
import { groupValues } from "../rows.ts";
import { instant, texts } from "../sql-values.ts";

/**
 * Everybody who changes a unit's applications locks its row first, and only then reads what is there. What follows from the
 * whole set (its repositories, its load) would otherwise rest on rows in which the other change is missing.
 *
 * Workspaces are locked before units, as a split and a deletion of a workspace do: an application's foreign key would lock its
 * workspace later, and the two could wait for each other.
 *
 * An application keeps the unit it has. A new one goes to the part of its bucket, where its workspace is split.
 */
const LOCK_UNITS: Statement = {
  name: "lock_units_of_workspaces",
  text: `
with workspaces as materialized (
  select k.id
    from (
      select distinct w.id
        from unnest($2::text[], $3::text[], $4::text[]) as i (plane, api_cluster, namespace_uid)
       cross join lateral (
         select id from workspace where plane = i.plane and api_cluster = i.api_cluster and namespace_uid = i.namespace_uid offset 0) as w
       order by 1
    ) as n
   cross join lateral (select id from workspace where id = n.id for key share) as k
)
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
     where (select count(*) from workspaces) >= 0
     order by 3
  ) as n
 cross join lateral (select id from placement_unit where id = n.unit for no key update) as u`,
};

/**
 * A workspace that was being deleted may have lost its objects already: its unit is wanted anew. One of environments alone has none, and is in no group yet. Groups
 * of one that has units are changed elsewhere, where the units are marked too.
 */
const ENSURE_WORKSPACES: Statement = {
  name: "ensure_workspaces",
  text: `
with input as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $10::text[], $11::text[])
    as i (plane, api_cluster, namespace_uid, namespace, trust_class, class, workspace, unit, apart, together)
), ensured as (
  insert into workspace (id, plane, api_cluster, namespace, namespace_uid, trust_class, apart, together, state)
  select workspace, plane, api_cluster, namespace, namespace_uid, trust_class, apart::json, together, 'active' from input order by plane, api_cluster, namespace_uid
  on conflict (plane, api_cluster, namespace_uid) do update
     set state = 'active',
         apart = case when exists (select from placement_unit b where b.workspace = workspace.id) then workspace.apart else excluded.apart end,
         together = case when exists (select from placement_unit b where b.workspace = workspace.id) then workspace.together else excluded.together end
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

export interface WorkspaceUnit {
  readonly workspace: WorkspaceId;
  readonly unit: UnitId;
}

type LockedRow = WorkspaceUnit & { readonly uid: string };

/** What a workspace and its unit are made from where they do not exist yet, and what asks for it: an application's uid, or another's. */
type UnitRequest = Pick<DeploymentIntent, "uid" | "workspace" | "class"> & {
  /** Absent: what is asked for is no application. */
  readonly spec?: Pick<DeploymentIntent["spec"], "destination">;
  /** The application's. */
  readonly name?: string;
  readonly newIds: Pick<DeploymentIntent["newIds"], "workspaceId" | "unitId">;
};

const identity = ({ workspace: { plane, apiCluster, namespaceUid } }: Pick<UnitRequest, "workspace">): string =>
  [plane, apiCluster, namespaceUid].join("|");

/** Locks the units of the batch, made where there were none; returns them by the uid of what asked for them. */
export async function lockUnits(run: Run, clock: Clock, batch: readonly UnitRequest[]): Promise<ReadonlyMap<string, WorkspaceUnit>> {
  const buckets = batch.map(({ spec, name }) => bucketKeys(spec?.destination ?? {}, name ?? ""));
  const lock = async (): Promise<Map<string, WorkspaceUnit>> => {
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
  const workspaceUnits = await lock();
  const homeless = batch.filter(({ uid }) => !workspaceUnits.has(uid));
  const missing = [...new Map(homeless.toReversed().map((intent) => [identity(intent), intent])).values()];
  if (missing.length === 0) return workspaceUnits;
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
    texts(missing.map(({ workspace }) => groupValues(workspace.groups)[0] ?? undefined)),
    texts(missing.map(({ workspace }) => groupValues(workspace.groups)[1] ?? undefined)),
  ]);
  return lock();
}
