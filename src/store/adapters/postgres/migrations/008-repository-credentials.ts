import type { Knex } from "knex";
import { KEY } from "./text.ts";

/** Credentials of users for repositories. The secret is a row of `credential`, whose owner is the workspace. */
export const repositoryCredentials = {
  name: "008-repository-credentials",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table repository_credential (
  id ${KEY} primary key,
  workspace ${KEY} not null references workspace on delete cascade,
  name ${KEY} not null,
  uid ${KEY} not null unique,
  generation bigint not null,
  resource_created_at text not null,
  url text not null,
  url_key ${KEY} not null,
  credential ${KEY} not null,
  secret_version text not null
) with (fillfactor = 90);
create index repository_credential_by_workspace on repository_credential (workspace, id);
`),
};
