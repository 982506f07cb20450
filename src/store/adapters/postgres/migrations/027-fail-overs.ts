import type { Knex } from "knex";

/** Moves away from instances that nobody reaches, one by one or as the way an instance is emptied. */
export const failOvers = {
  name: "027-fail-overs",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
alter table move add column fail_over boolean not null default false;
alter table instance add column fails_over boolean not null default false;
`),
};
