import type { Knex } from "knex";

/** The journal tells of what the watchdog found. */
export const ownership = {
  name: "023-ownership",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
alter table decision drop constraint decision_kind;
alter table decision add constraint decision_kind check
  (kind in ('placement', 'instance', 'fleet', 'directive', 'plan', 'register', 'deletion', 'ownership'));
`),
};
