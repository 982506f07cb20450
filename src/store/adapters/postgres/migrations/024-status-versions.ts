import type { Knex } from "knex";

/** Two reports of one second are told apart by the version of the Application that made them. */
export const statusVersions = {
  name: "024-status-versions",
  up: (knex: Knex): Promise<void> => knex.raw("alter table application_status add column version bigint"),
};
