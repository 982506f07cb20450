import type { Knex } from "knex";
import { KEY } from "./text.ts";

/** Plans with what they rest on, and the moves that were made: they cool units down and use up budgets. */
export const plans = {
  name: "014-plans",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table plan (
  id ${KEY} primary key,
  class ${KEY} not null,
  goal text not null constraint plan_goal check (goal in ('rebalance', 'drain', 'add', 'remove')),
  subject text not null,
  snapshot_hash text not null,
  plan_hash text not null,
  actor text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  applied_at timestamptz,
  moves json not null,
  records json not null,
  report json not null
);
create index plan_by_age on plan (created_at, id);

create table unit_move (
  epoch bigint primary key,
  unit ${KEY} not null references placement_unit on delete cascade,
  class ${KEY} not null,
  from_instance ${KEY} not null,
  to_instance ${KEY} not null,
  reason text not null constraint move_reason check (reason in ('FORCED', 'HOT', 'SHED', 'SWAP', 'FILL')),
  plan ${KEY} not null,
  at timestamptz not null
);
create index unit_move_by_unit on unit_move (unit, epoch);
create index unit_move_by_age on unit_move (class, at);
comment on column unit_move.epoch is 'the one the unit has since';
`),
};
