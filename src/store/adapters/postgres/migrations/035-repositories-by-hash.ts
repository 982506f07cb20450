import type { Knex } from "knex";

/** The URL of a repository may be longer, in bytes, than an index takes: one such would fail every batch that it is in. */
export const repositoriesByHash = {
  name: "035-repositories-by-hash",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
drop index application_by_repository;
create index application_by_repository on application (unit, md5(repo_url));
`),
};
