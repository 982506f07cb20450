import knex from "knex";

/**
 * Builds the statements whose conditions depend on what is asked for: lists that people and services filter. It has no connection; `Database.query`
 * runs what it builds. Statements that are run for each change or at each sweep are written out instead.
 */
export const build = knex({ client: "pg" });
