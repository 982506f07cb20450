import type { Knex } from "knex";
import { KEY } from "./text.ts";

/**
 * What users want, where it lives and how it is. Rows that every status or acknowledgement changes have room on their page
 * (fillfactor) for the next version. `shard_object` is made together with what it answers, so that an acknowledgement is one
 * update and what lags is a partial index.
 */
export const tenancy = {
  name: "002-tenancy",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table workspace (
  id ${KEY} primary key,
  plane ${KEY} not null constraint workspace_plane check (plane in ('kubernetes')),
  api_cluster ${KEY} not null,
  namespace ${KEY} not null,
  namespace_uid ${KEY} not null,
  trust_class text not null,
  state text not null constraint workspace_state check (state in ('active', 'deleting')),
  unique (plane, api_cluster, namespace_uid)
);
create index workspace_by_namespace on workspace (namespace, id);

create table placement_unit (
  id ${KEY} primary key,
  workspace ${KEY} not null references workspace on delete cascade,
  bucket integer not null,
  class ${KEY} not null,
  owner ${KEY} references instance,
  epoch bigint not null default 0,
  phase text not null default 'UNPLACED' constraint unit_phase check (phase in ('UNPLACED', 'IDLE')),
  load bigint[] not null default '{0,0,0,0,0}' check (cardinality(load) = 5),
  desired_revision bigint not null default 0,
  row_version bigint not null default 1,
  unplaceable text,
  created_at timestamptz not null,
  unique (workspace, bucket),
  check (owner is null or epoch > 0)
) with (fillfactor = 80);
create index placement_unit_by_owner on placement_unit (owner, id) where owner is not null;
create index placement_unit_unplaced on placement_unit (created_at, id) where owner is null;
comment on column placement_unit.unplaceable is 'hash of the facts on which no room was found last';

create table application (
  id ${KEY} primary key,
  workspace ${KEY} not null,
  unit ${KEY} not null references placement_unit,
  name ${KEY} not null,
  uid ${KEY} not null unique,
  generation bigint not null,
  spec json not null,
  repo_url ${KEY} not null,
  environment ${KEY},
  argo_name ${KEY} not null unique,
  desired_revision bigint not null,
  deletion text not null default 'none' constraint application_deletion check (deletion in ('none', 'cascade', 'orphan')),
  deleted_at timestamptz,
  check ((deletion = 'none') = (deleted_at is null))
) with (fillfactor = 90);
create index application_by_repository on application (unit, repo_url);
create index application_deleted on application (unit, id) where deleted_at is not null;

create table application_status (
  application ${KEY} primary key references application on delete cascade,
  unit ${KEY} not null,
  instance ${KEY},
  epoch bigint,
  sync text constraint status_sync check (sync in ('Synced', 'OutOfSync', 'Unknown')),
  health text constraint status_health check (health in ('Healthy', 'Progressing', 'Degraded', 'Suspended', 'Missing', 'Unknown')),
  health_message text,
  revision text,
  conditions json,
  resources json,
  resource_count integer,
  compared_to json,
  operation_state json,
  reconciled_at timestamptz,
  hash text,
  view_revision bigint not null default 1,
  published_revision bigint not null default 0,
  published_hash text not null default ''
) with (fillfactor = 70);
create index application_status_unpublished on application_status (application) where view_revision > published_revision;

create table shard_object (
  subject ${KEY} not null,
  kind ${KEY} not null constraint shard_kind check (kind in ('application', 'project', 'cluster-entry', 'account', 'register')),
  instance ${KEY} not null,
  unit ${KEY},
  desired_revision bigint not null,
  applied_revision bigint not null default 0,
  epoch bigint not null,
  uid text not null default '',
  hash text not null default '',
  primary key (subject, kind, instance)
) with (fillfactor = 70);
create index shard_object_lagging on shard_object (instance, kind, subject) where applied_revision < desired_revision;

create table operation (
  id ${KEY} primary key,
  workspace ${KEY} not null references workspace on delete cascade,
  instance ${KEY},
  subject ${KEY} not null,
  kind ${KEY} not null constraint operation_kind check (kind in ('apply-application', 'delete-application')),
  state text not null constraint operation_state check (state in ('Waiting', 'In_Progress', 'Completed', 'Failed')),
  revision bigint not null,
  attempts integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  message text not null default ''
) with (fillfactor = 80);
create unique index operation_waiting on operation (subject, kind) where state = 'Waiting';
create index operation_by_workspace on operation (workspace, id);
create index operation_ended on operation (workspace, updated_at) where state in ('Completed', 'Failed');
`),
};
