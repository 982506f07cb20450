import type { Knex } from "knex";

/** Who hung while a cascade ended must not make its row anew. */
export const endedUids = {
  name: "034-ended-uids",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
alter table ended_application add column uid text collate "C";
comment on column ended_application.uid is 'of the user''s resource; null: it ended before this was kept';
create index ended_application_uid on ended_application (uid);
`),
};
