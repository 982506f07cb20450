import type { Knex } from "knex";

/**
 * How things end, or do not: operations have a time by which they should have, and stay open until they are completed; a deletion
 * that hangs says what holds it; what ended goes by its age alone, whatever workspace it was of.
 */
export const ends = {
  name: "005-ends",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
alter table operation add column deadline timestamptz;
update operation set deadline = created_at + interval '10 minutes';
alter table operation alter column deadline set not null;
drop index operation_waiting;
create unique index operation_open on operation (subject, kind) where state <> 'Completed';
drop index operation_ended;
create index operation_ended on operation (updated_at, id) where state = 'Completed';

alter table application_status add column blockage json;
comment on column application_status.blockage is 'what is known of a deletion that does not end';
`),
};
