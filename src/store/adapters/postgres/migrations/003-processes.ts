import type { Knex } from "knex";
import { KEY } from "./text.ts";

/** Who runs, who may ask, and secrets at rest: wrapped by keys that are never here. */
export const processes = {
  name: "003-processes",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
create table member (
  id ${KEY} primary key,
  roles text[] not null,
  expires timestamptz not null
) with (fillfactor = 50);

create table lease (
  key ${KEY} primary key,
  holder ${KEY} not null,
  fence bigint not null,
  expires timestamptz not null
) with (fillfactor = 50);

create table api_token (
  name ${KEY} primary key,
  hash ${KEY} not null unique,
  role text not null constraint token_role check (role in ('viewer', 'operator', 'approver')),
  created_at timestamptz not null
);

create table credential (
  id ${KEY} primary key,
  owner ${KEY} not null,
  purpose text not null,
  key_id ${KEY} not null,
  data_key bytea not null,
  ciphertext bytea not null,
  fingerprint text not null
);
create index credential_by_owner on credential (owner);
create index credential_by_key on credential (key_id);
`),
};
