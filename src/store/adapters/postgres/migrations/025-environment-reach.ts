import type { Knex } from "knex";

/** Units are not handed over while a cluster they deploy to gives no answer: who asks for a move is told so at once. */
export const environmentReach = {
  name: "025-environment-reach",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
alter table environment add column unreachable_since timestamptz;
comment on column environment.unreachable_since is 'null: whoever asked its cluster last got an answer';
`),
};
