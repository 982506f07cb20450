import type { Knex } from "knex";
import { KEY } from "./text.ts";

/** What is deployed is tracked by the name its Application has: one that was taken over from another Argo CD keeps it. */
export const keptNames = {
  name: "033-kept-names",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table kept_name (
  uid ${KEY} primary key,
  argo_name ${KEY} not null unique,
  kept_at timestamptz not null
);
comment on table kept_name is 'names in Argo CD of resources, by uid, that were taken over and not made here';
`),
};
