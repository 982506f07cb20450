import type { Knex } from "knex";

/** The journal tells of registers that somebody changed, and of deletions that were given up. */
export const repairs = {
  name: "015-repairs",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
alter table decision drop constraint decision_kind;
alter table decision add constraint decision_kind check (kind in ('placement', 'instance', 'fleet', 'directive', 'plan', 'register', 'deletion'));
`),
};
