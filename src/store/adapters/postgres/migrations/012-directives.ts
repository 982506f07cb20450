import type { Knex } from "knex";
import { KEY } from "./text.ts";

/** What people order: where a workspace lives, that it stays, and times in which nothing moves. */
export const directives = {
  name: "012-directives",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table directive (
  workspace ${KEY} primary key references workspace on delete cascade,
  pin json,
  hold json
);
comment on column directive.pin is 'kind and instance or pool, with who ordered it, when and why; null where nobody did';
comment on column directive.hold is 'until when it is not moved, with who ordered it, when and why; null where nobody did';

create table freeze_window (
  name ${KEY} primary key,
  schedule text,
  duration_ms bigint not null check (duration_ms > 0),
  actor text not null,
  reason text not null,
  at timestamptz not null
);

alter table decision drop constraint decision_kind;
alter table decision add constraint decision_kind check (kind in ('placement', 'instance', 'fleet', 'directive', 'plan'));
`),
};
