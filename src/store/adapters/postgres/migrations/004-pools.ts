import type { Knex } from "knex";

/** Which pools were removed on purpose: that a document leaves one out is no request to touch its instances. */
export const pools = {
  name: "004-pools",
  up: (knex: Knex): Promise<void> => knex.raw("alter table fleet add column pruned text[] not null default '{}'"),
};
