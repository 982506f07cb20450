import type { Knex } from "knex";
import { KEY } from "./text.ts";

/** Kinds that stood in the constraint before are kept, whoever added them: other steps add theirs too. */
const ADD_KIND = `
do $$
declare kinds text;
begin
  select string_agg(distinct quote_literal(k[1]), ', ') into kinds
    from pg_constraint c cross join lateral regexp_matches(pg_get_constraintdef(c.oid), '''([a-z-]+)''', 'g') as k
   where c.conname = 'decision_kind' and c.conrelid = 'decision'::regclass;
  alter table decision drop constraint decision_kind;
  execute format('alter table decision add constraint decision_kind check (kind in (%s, ''health''))', kinds);
end $$;
`;

/** What was seen of instances lately, what was made of it, and that the journal tells of it. */
export const health = {
  name: "028-health",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table probe_sample (
  instance ${KEY} not null references instance on delete cascade,
  at timestamptz not null,
  signals json not null,
  primary key (instance, at)
);

create table instance_verdict (
  instance ${KEY} primary key references instance on delete cascade,
  at timestamptz not null,
  since timestamptz not null,
  state text not null constraint verdict_state check (state in ('healthy', 'degraded', 'overloaded', 'stalled', 'failed', 'unknown')),
  cause text not null,
  component text,
  text text not null,
  evidence json not null,
  baseline json
) with (fillfactor = 50);
comment on column instance_verdict.baseline is 'what a comparison usually takes there, and from how many looks that was learnt';
${ADD_KIND}`),
};
