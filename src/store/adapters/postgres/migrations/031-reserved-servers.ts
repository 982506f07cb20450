import type { Knex } from "knex";
import { KEY } from "./text.ts";

/** A process that starts while a cluster that hosts instances is away has to know which one that is before it goes to users' clusters. */
export const reservedServers = {
  name: "031-reserved-servers",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table reserved_server (
  server ${KEY} primary key,
  listeners text[] not null,
  certificate text
);
comment on table reserved_server is 'what API servers of clusters that host instances were given away by when somebody read that last';
comment on column reserved_server.listeners is 'host and addresses, each with the port';
comment on column reserved_server.certificate is 'SHA-256 fingerprint; null: it speaks no TLS';
`),
};
