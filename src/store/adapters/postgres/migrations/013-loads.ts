import type { Knex } from "knex";
import { KEY } from "./text.ts";

/**
 * What units and instances were measured to take. A unit's load has fractions: a sample changes a mean over 24 hours by so little
 * that whole numbers would stand still. Rows are changed with every sample and have room on their page for the next version.
 */
export const loads = {
  name: "013-loads",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table unit_load (
  unit ${KEY} primary key references placement_unit on delete cascade,
  planning double precision[] not null check (cardinality(planning) = 5),
  recent double precision[] not null check (cardinality(recent) = 5),
  at timestamptz not null
) with (fillfactor = 50);

create table instance_load (
  instance ${KEY} primary key references instance on delete cascade,
  at timestamptz not null,
  total bigint[] not null check (cardinality(total) = 5),
  observation json,
  cached_objects bigint
) with (fillfactor = 50);

create table class_load (
  class ${KEY} primary key,
  state json not null
) with (fillfactor = 50);
comment on column class_load.state is 'totals last trusted, fitted weights of CPU, since when instances have been too full';
`),
};
