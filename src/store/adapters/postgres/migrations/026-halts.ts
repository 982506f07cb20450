import type { Knex } from "knex";

/** An instance that is emptied, and whose last units nothing else can fence, is stopped: its controller's pod is gone for good. */
export const halts = {
  name: "026-halts",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
alter table instance add column halt text not null default 'none' constraint instance_halt check (halt in ('none', 'wanted', 'seen'));
`),
};
