import type { Knex } from "knex";
import { KEY } from "./text.ts";

/**
 * Releases given to instances step by step. A rollout is one row with its waves in it: each change of it is one conditional write. The kinds
 * of the journal's entries are added to, whichever there are by then.
 */
export const rollouts = {
  name: "030-rollouts",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table rollout (
  id ${KEY} primary key,
  state text not null constraint rollout_state check (state in ('RUNNING', 'PAUSED', 'ASKING', 'ROLLING_BACK', 'DONE', 'FAILED', 'ABORTED')),
  version text not null,
  created_at timestamptz not null,
  document json not null,
  revision bigint not null
);
create unique index rollout_live on rollout ((true)) where state not in ('DONE', 'FAILED', 'ABORTED');
create index rollout_by_age on rollout (created_at, id);
comment on column rollout.document is 'what was ordered, its waves with the instances of each, and how far they are';

create table frozen_version (
  version ${KEY} primary key,
  rollout ${KEY} not null,
  reason text not null,
  at timestamptz not null
);

do $$
declare known text := (select pg_get_constraintdef(oid) from pg_constraint where conname = 'decision_kind');
begin
  alter table decision drop constraint decision_kind;
  execute 'alter table decision add constraint decision_kind ' || replace(known, 'ARRAY[', 'ARRAY[''rollout''::text, ');
end $$;
`),
};
