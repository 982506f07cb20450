import type { Knex } from "knex";
import { KEY } from "./text.ts";

/** Live moves: what is handed over from one instance to another, and how far it is. */
export const moves = {
  name: "021-moves",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table move (
  id ${KEY} primary key,
  unit ${KEY} not null references placement_unit on delete cascade,
  from_instance ${KEY} not null,
  to_instance ${KEY} not null,
  from_epoch bigint not null,
  to_epoch bigint unique,
  phase text not null constraint move_phase check (phase in
    ('WAITING', 'PREPARE', 'FENCE', 'QUIESCE', 'REVOKE', 'COMMIT', 'GRANT', 'ACTIVATE', 'VERIFY', 'CLEANUP', 'ABORT', 'DONE', 'ABORTED')),
  phase_since timestamptz not null,
  kind text not null constraint move_kind check (kind in ('voluntary', 'drain', 'evacuation')),
  reason text not null constraint live_move_reason check (reason in ('FORCED', 'HOT', 'SHED', 'SWAP', 'FILL')),
  plan ${KEY},
  reverses ${KEY},
  actor text not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  message text not null default '',
  baseline json not null default '[]',
  marks json not null default '[]',
  check ((ended_at is not null) = (phase = 'DONE' or phase = 'ABORTED'))
);
create unique index move_live on move (unit) where ended_at is null;
create index move_by_age on move (created_at, id);
create index move_by_unit on move (unit, created_at);
comment on column move.to_epoch is 'null while it waits for its turn';

alter table placement_unit drop constraint unit_phase;
alter table placement_unit add constraint unit_phase check (phase in ('UNPLACED', 'IDLE', 'MOVING'));
`),
};
