import type { Knex } from "knex";
import { KEY } from "./text.ts";

/**
 * What is declared and which instances exist. Documents are `json`, not `jsonb`: text of strangers may hold \u0000, which
 * jsonb refuses, and with it the whole batch.
 */
export const fleet = {
  name: "001-fleet",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create sequence epoch_seq;

create table setting (
  key ${KEY} primary key,
  value json not null
);

create table fleet (
  singleton boolean primary key default true check (singleton),
  spec json not null,
  revision bigint not null,
  declared_at timestamptz not null
);

create table instance (
  id ${KEY} primary key,
  name ${KEY} not null unique,
  engine_cluster ${KEY} not null,
  namespace ${KEY} not null,
  pool ${KEY} not null,
  class ${KEY} not null,
  version text not null,
  desired_version text not null,
  state text not null constraint instance_state check (state in ('REQUESTED', 'CREATING', 'WARMING', 'ACTIVE', 'CORDONED', 'DRAINING', 'RETIRED', 'FAILED')),
  state_since timestamptz not null,
  reason text not null,
  attempt integer not null,
  capacity bigint[] not null check (cardinality(capacity) = 5),
  weight integer not null,
  applied_hash text not null,
  revision bigint not null,
  unique (engine_cluster, namespace)
);
create index instance_by_class on instance (class, id);

create table decision (
  id ${KEY} primary key,
  at timestamptz not null,
  subject ${KEY} not null,
  kind text not null constraint decision_kind check (kind in ('placement', 'instance', 'fleet')),
  verdict text not null,
  rule text not null,
  details json not null
);
create index decision_by_age on decision (at, id);
create index decision_by_subject on decision (subject, at, id);
`),
};
