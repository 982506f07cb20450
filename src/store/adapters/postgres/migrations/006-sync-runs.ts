import type { Knex } from "knex";
import { KEY } from "./text.ts";

/**
 * Runs of syncs, in the order of their creation; `place` decides within one second, which is how exactly API servers date. No
 * foreign key: a run outlives its application, to tell its user what became of it, and goes when its resource does.
 */
export const syncRuns = {
  name: "006-sync-runs",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table sync_run (
  uid ${KEY} primary key,
  place bigint not null generated always as identity,
  api_cluster ${KEY} not null,
  namespace ${KEY} not null,
  name ${KEY} not null,
  application ${KEY},
  revision text not null,
  prune boolean not null,
  created_at timestamptz not null,
  is_cancelled boolean not null default false,
  requested_at timestamptz,
  phase text not null default 'Pending' constraint run_phase check (phase in ('Pending', 'Running', 'Succeeded', 'Failed', 'Terminated')),
  message text not null default '',
  synced_revision text not null default '',
  started_at timestamptz,
  finished_at timestamptz,
  hooks json not null default '[]',
  view_revision bigint not null default 1,
  published_revision bigint not null default 0,
  published_hash text not null default ''
) with (fillfactor = 70);
create index sync_run_unfinished on sync_run (application, created_at, place) where phase in ('Pending', 'Running');
create index sync_run_by_cluster on sync_run (api_cluster, uid);
`),
};
