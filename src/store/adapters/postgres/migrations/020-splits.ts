import type { Knex } from "knex";
import { KEY } from "./text.ts";

/** Workspaces that are too large for one placement unit: how many parts they have, and which part each of their buckets has. */
export const splits = {
  name: "020-splits",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table workspace_split (
  workspace ${KEY} primary key references workspace on delete cascade,
  parts integer not null check (parts > 0),
  open_part integer not null check (open_part >= 0 and open_part < parts),
  roomy_since timestamptz
);
comment on column workspace_split.open_part is 'the part of buckets that have none yet';

create table bucket_part (
  workspace ${KEY} not null references workspace_split on delete cascade,
  key ${KEY} not null,
  part integer not null check (part >= 0),
  primary key (workspace, key)
);
`),
};
