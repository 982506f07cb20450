import type { Knex } from "knex";
import { KEY } from "./text.ts";

/**
 * Where workspaces deploy to besides their own namespace. Applications name an environment; what the name means is looked up
 * when it is needed, so that an environment may come, go and come back while they stay as they are.
 */
export const environments = {
  name: "007-environments",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table environment (
  id ${KEY} primary key,
  workspace ${KEY} not null references workspace on delete cascade,
  name ${KEY} not null,
  uid ${KEY} not null unique,
  generation bigint not null default 0,
  state text not null constraint environment_state check (state in ('connected', 'withdrawn', 'leaving')),
  api_url text not null default '',
  namespaces text[] not null default '{}',
  cluster_resources boolean not null default false,
  is_insecure boolean not null default false,
  creates_account boolean not null default false,
  has_account boolean not null default false,
  fingerprint text not null default ''
);
create index environment_by_name on environment (workspace, name);

comment on column application.environment is 'name of the environment it is deployed to; null for the own namespace';
create index application_by_environment on application (workspace, environment) where environment is not null;
`),
};
