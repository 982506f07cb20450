import type { Knex } from "knex";

/** A creation may land when its application is gone: whoever finds it has to know that what it deploys is to go with it. */
export const endedApplications = {
  name: "029-ended-applications",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table ended_application (
  id text collate "C" primary key,
  argo_name text not null,
  unit text collate "C" not null references placement_unit on delete cascade,
  ended_at timestamptz not null
);
comment on table ended_application is 'applications that a cascade ended, for a day';
create index ended_application_unit on ended_application (unit);
create index ended_application_age on ended_application (ended_at, id);
`),
};
